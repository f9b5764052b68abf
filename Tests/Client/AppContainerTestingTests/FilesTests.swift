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

    @Test func `a listing begins at a place of its own alone`() async throws {
        try await withFiles { device, _ in
            let first = try await device.send(FilesRequest(app: app, path: "Documents", limit: 1))
            for (path, isRecursive) in [("Library", false), ("Documents/inside", true)] {
                await expect(kind: .badRequest) {
                    _ = try await device.send(
                        FilesRequest(app: app, path: path, recursive: isRecursive, after: first.next))
                }
            }
            let inside = try await device.send(FilesRequest(app: app, path: "Documents", after: first.next))
            #expect(inside.files.count == 2 && inside.next == nil)
        }
    }

    /// JSON has no such name: the path's bytes go beside it.
    @Test(.timeLimit(.minutes(1))) func `a name that is no text is listed, marked and told`() async throws {
        try await withFiles { device, home in
            let made = Process()
            made.executableURL = URL(filePath: "/usr/bin/python3")
            made.arguments = [
                "-c", "import sys, os; open(os.fsencode(sys.argv[1]) + b'/Documents/inside/\\xff\\n', 'w')", home,
            ]
            try made.run()
            made.waitUntilExit()
            let listing = try await device.send(FilesRequest(app: app, path: "Documents/inside"))
            let file = try #require(listing.files.first { $0.path != "Documents/inside/c" })
            let bytes = try #require(file.pathBytes)
            #expect(Data(base64Encoded: bytes) == Data("Documents/inside/".utf8) + [0xff, 0x0a])
            let told = Task {
                for try await change in device.changes where change.pathBytes == bytes { return true }
                return false
            }
            let work = Task {
                while !Task.isCancelled {
                    _ = try await device.send(ExcludeRequest(app: app, path: file.path, pathBytes: bytes))
                    _ = try await device.send(IncludeRequest(app: app, path: file.path, pathBytes: bytes))
                }
            }
            #expect(try await told.value)
            work.cancel()
            _ = await work.result
            _ = try await device.send(
                ProtectRequest(app: app, path: file.path, pathBytes: bytes, protection: .complete))
            _ = try await device.send(ExcludeRequest(app: app, path: file.path, pathBytes: bytes))
            let found = try await device.send(InspectRequest(app: app, path: file.path, pathBytes: bytes))
            #expect(found.excluded && found.protection == "NSFileProtectionComplete")
            await expect(kind: .notFound) { _ = try await device.send(ExcludeRequest(app: app, path: file.path)) }
            for other in ["!", "Li4=", "L2E="] {
                await expect(kind: .badRequest) {
                    _ = try await device.send(ExcludeRequest(app: app, path: "Documents", pathBytes: other))
                }
            }
        }
    }

    @Test func `the bundle is not excluded by its path`() async throws {
        try await withFiles { device, _ in
            for path in ["Notes.app", "Notes.app/Info.plist"] {
                await expect(kind: .notAllowed) { _ = try await device.send(ExcludeRequest(app: app, path: path)) }
            }
        }
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "exclude", "include", "protect", "write", "open", "truncate", "allocate", "copy", "map", "attribute",
        ])
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
                    case "write": try Data("more".utf8).write(to: URL(filePath: "\(home)/Documents/a"))
                    default: try change("\(home)/Documents/a", by: action)
                    }
                    try? await Task.sleep(for: .milliseconds(5))
                }
            }
            let told = try await found.value
            work.cancel()
            _ = await work.result
            #expect(told == app)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a change of a file with two names may be anywhere in its app`() async throws {
        try await withFiles { device, home in
            try FileManager.default.linkItem(
                atPath: home + "/Documents/a", toPath: home + "/Documents/inside/second")
            let told = Task {
                for try await change in device.changes where change.path == nil { return change.app }
                return nil
            }
            let work = Task {
                while !Task.isCancelled {
                    try Data("more".utf8).write(to: URL(filePath: home + "/Documents/inside/second"))
                    try? await Task.sleep(for: .milliseconds(5))
                }
            }
            #expect(try await told.value == app)
            work.cancel()
            _ = await work.result
        }
    }

    /// Changes a file of four bytes by one kind of call.
    private func change(_ path: String, by action: String) throws {
        let script =
            switch action {
            case "open": "import os; os.close(os.open(p, os.O_WRONLY | os.O_TRUNC))"
            case "truncate": "import os; os.truncate(p, 9)"
            case "allocate": "import os; os.posix_fallocate(os.open(p, os.O_RDWR), 0, 9000)"
            case "copy": "import os; os.copy_file_range(os.open(p[:-1] + 'b', 0), os.open(p, os.O_WRONLY), 4)"
            case "map":
                "import mmap; f = open(p, 'r+b'); m = mmap.mmap(f.fileno(), 4); m[0] = m[0] ^ 1; m.flush()"
            default: "import os, random; os.setxattr(p, 'user.x', b'%d' % random.randrange(1 << 30))"
            }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", "import sys; p = sys.argv[1]; " + script, path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
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
