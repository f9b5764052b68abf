// The processes that have a file open or mapped, found by /proc.

import Foundation
import Glibc
import Platform
import SandboxModel
import Testing

@Suite("The processes that have a file")
struct FileHolderTests {
    private let directory = FileManager.default.temporaryDirectory.path + "/holders-\(UUID().uuidString)"
    private let name: FileName = "file (deleted)"

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("text".utf8).write(to: URL(filePath: "\(directory)/\(name.text)"))
    }

    private func inode() throws -> UInt64 { try HostPath.status("\(directory)/\(name.text)").inode }

    /// Runs a line of shell that reads its input at the end, and `body` while it waits for that.
    private func holding(_ line: String, _ body: (pid_t) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "cd '\(directory)'; \(line); echo ready; read line"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
        defer {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        try body(process.processIdentifier)
    }

    @Test func `one that reads is told from one that writes`() throws {
        for (line, writes) in [("exec 3<'\(name.text)'", false), ("exec 3>>'\(name.text)'", true)] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data("text".utf8).write(to: URL(filePath: "\(directory)/\(name.text)"))
            let inode = try inode()
            try holding(line) { process in
                let holders = FileHolder.all(ofInode: inode, named: name)
                #expect(holders.map(\.process.id) == [process])
                #expect(holders.map(\.writes) == [writes])
                #expect(holders.first?.process.name == "sh")
            }
        }
    }

    @Test func `one that has removed the file has it still`() throws {
        let inode = try inode()
        try holding("exec 3<'\(name.text)'; rm '\(name.text)'") { process in
            #expect(FileHolder.all(ofInode: inode, named: name).map(\.process.id) == [process])
        }
    }

    @Test func `a file of the same number and another name is another file`() throws {
        let inode = try inode()
        try holding("exec 3<'\(name.text)'") { _ in
            #expect(FileHolder.all(ofInode: inode, named: "other").isEmpty)
            #expect(FileHolder.all(ofInode: inode + 1, named: name).isEmpty)
        }
    }
}
