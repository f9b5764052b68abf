// An app's files in a program's hands: listed part by part, and followed as they change.

import AppContainer
import Foundation
import Testing

@Suite struct FilesTests {
    private let app = "com.example.Notes"

    private func withFiles(_ body: (Device, _ home: String) async throws -> Void) async throws {
        try await Device.withTemporary { device in
            try await device.install(notes)
            let home = try await device.mount(app).mountPoint
            try FileManager.default.createDirectory(
                atPath: home + "/Documents/inside", withIntermediateDirectories: false)
            for name in ["b", "a", "inside/c"] {
                try Data("text".utf8).write(to: URL(filePath: "\(home)/Documents/\(name)"))
            }
            try await body(device, home)
        }
    }

    @Test func `a directory's content is listed with its rules`() async throws {
        try await withFiles { device, _ in
            try await device.exclude("Documents/inside", of: app)
            var listed: [String: FileListing.File] = [:]
            for try await file in device.files(of: app, in: "Documents", recursively: true) { listed[file.path] = file }
            #expect(listed.keys.sorted() == ["a", "b", "inside", "inside/c"].map { "Documents/" + $0 })
            #expect(listed["Documents/a"]?.size == 4 && listed["Documents/a"]?.backup == "included")
            #expect(listed["Documents/inside/c"]?.backup == "excluded-by:Documents/inside")
            #expect(listed["Documents/inside"]?.kind == "directory")
        }
    }

    @Test func `only the directory itself is listed unless more is asked for`() async throws {
        try await withFiles { device, _ in
            var paths: [String] = []
            for try await file in device.files(of: app, in: "Documents") { paths.append(file.path) }
            #expect(paths.sorted() == ["Documents/a", "Documents/b", "Documents/inside"])
        }
    }

    @Test func `a directory that is not there cannot be listed`() async throws {
        try await withFiles { device, _ in
            await expect(kind: .notFound) {
                for try await _ in device.files(of: app, in: "Documents/none") {}
            }
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["exclude", "include", "protect", "write"])
    func `changes are told, whoever makes them`(action: String) async throws {
        try await withFiles { device, home in
            let found = Task {
                for try await change in device.changes where change.path == "Documents/a" { return change.app }
                return nil
            }
            // Nothing tells that it follows; what is done before is not told.
            let work = Task {
                while !Task.isCancelled {
                    switch action {
                    case "exclude": try await device.exclude("Documents/a", of: app)
                    case "include": try await device.include("Documents/a", of: app)
                    case "protect": try await device.setProtection(.complete, of: "Documents/a", in: app)
                    default: try Data("more".utf8).write(to: URL(filePath: "\(home)/Documents/a"))
                    }
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            let told = try await found.value
            work.cancel()
            #expect(told == app)
        }
    }

    @Test func `following ends with the device`() async throws {
        let device = try await Device.temporary()
        let followed = Task {
            var count = 0
            for try await _ in device.changes { count += 1 }
            return count
        }
        await device.end()
        _ = await followed.result
    }

    @Test func `requests are counted by kind`() async throws {
        try await withFiles { device, home in
            let before = try await device.activity().requests["mkdir", default: 0]
            try FileManager.default.createDirectory(
                atPath: home + "/Documents/another", withIntermediateDirectories: false)
            #expect(try await device.activity().requests["mkdir"] == before + 1)
        }
    }

    @Test func `a refusal's rule has words and an alternative`() async throws {
        try await withFiles { device, home in
            #expect(throws: CocoaError.self) {
                try FileManager.default.createDirectory(atPath: home + "/top", withIntermediateDirectories: false)
            }
            let refusal = try #require(try await device.recordedEvents().last { $0.event == .refused })
            let rule = try #require(try await device.rules().first { $0.rule == refusal.rule })
            #expect(!rule.words.isEmpty && !rule.instead.isEmpty)
        }
    }
}
