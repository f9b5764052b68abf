// Files that wait for their delivery: nothing of them stays, whatever ended the server, and nothing of others goes.

import Foundation
import Platform
import SandboxModel
import Testing

@testable import DevicePage

@Suite("The directory of files that were dropped on a page")
struct UploadDirectoryTests {
    private let base = FileManager.default.temporaryDirectory.path + "/uploads-\(UUID().uuidString)"
    private let files = FileManager.default

    private func inBase(_ body: () throws -> Void) throws {
        try files.createDirectory(atPath: base, withIntermediateDirectories: false)
        defer { try? files.removeItem(atPath: base) }
        try body()
    }

    private var left: [String] { (try? files.contentsOfDirectory(atPath: base)) ?? [] }

    /// As a server leaves it that was killed: with a file, and without its lock.
    private func abandon() throws {
        let directory = base + "/appcontainer-page-\(UUID().uuidString)/one"
        try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("text".utf8).write(to: URL(filePath: directory + "/file"))
    }

    @Test func `those of killed servers go, and those of servers that run stay`() throws {
        try inBase {
            let running = UploadDirectory(in: base)
            let file = try running.makeFile("file")
            let path = try running.place(file)
            try abandon()
            try abandon()
            UploadDirectory(in: base).removeAbandoned()
            #expect(left.count == 1)
            #expect(files.fileExists(atPath: path))
            file.remove()
            running.remove()
            #expect(left == [])
        }
    }

    @Test(arguments: [true, false])
    func `a file has its name and its content for its delivery, and nothing stays`(hasUnnamed: Bool) throws {
        try inBase {
            let directory = UploadDirectory(in: base, hasUnnamed: hasUnnamed)
            let file = try directory.makeFile("große datei")
            // Without a name the kernel removes it with the process, however that ends.
            #expect(left.isEmpty == hasUnnamed)
            try Array("text".utf8).withSpan { try file.descriptor.descriptor.write($0, to: 0) }
            let path = try directory.place(file)
            #expect(path.hasSuffix("/große datei") && files.contents(atPath: path) == Data("text".utf8))
            #expect(try directory.place(file) == path)
            file.remove()
            #expect(!files.fileExists(atPath: path))
            directory.remove()
            #expect(left == [])
        }
    }

    @Test func `no link is followed, and no other name is touched`() throws {
        try inBase {
            try files.createDirectory(atPath: base + "/mine", withIntermediateDirectories: false)
            try Data("text".utf8).write(to: URL(filePath: base + "/mine/file"))
            try files.createSymbolicLink(atPath: base + "/appcontainer-page-link", withDestinationPath: base + "/mine")
            try Data("text".utf8).write(to: URL(filePath: base + "/appcontainer-page-file"))
            try abandon()
            try files.createSymbolicLink(
                atPath: base + "/" + left.first { $0.count > 40 }! + "/one/link", withDestinationPath: base + "/mine")
            UploadDirectory(in: base).removeAbandoned()
            #expect(Set(left) == ["mine", "appcontainer-page-link", "appcontainer-page-file"])
            #expect(files.fileExists(atPath: base + "/mine/file"))
        }
    }
}
