// A directory of the host for one test, gone when the test is over, and tools to look at what lies there.

import Foundation
import Platform
import SandboxModel
import Testing

@testable import BackingStore

/// A fresh directory under /var/tmp, which is on a disk and not in memory.
final class Scratch: Sendable {
    let path: String

    init(under base: String = "/var/tmp") {
        path = "\(base)/appcontainer-test-\(ContainerUUID().text)"
        try! FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    deinit {
        // Tests leave directories that deny their own user.
        _ = try? shell("chmod -R u+rwX '\(path)'; rm -rf '\(path)'")
    }

    subscript(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in the directory, hidden ones too.
    var names: [String] { try! FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    func makeDevice(_ name: String = "device") throws -> DeviceDirectory {
        try DeviceDirectory.create(at: self[name]) { (_) throws(Complaint) in [1, 2, 3] }
        return try DeviceDirectory.open(at: self[name])
    }
}

@discardableResult
func shell(_ command: String) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(command): \(text)")
    return text
}

/// Every name below a directory with what a faithful copy keeps: type, mode, owner, size, allocated blocks within
/// reason, modification time to the nanosecond, link count, link target.
func listing(_ path: String) throws -> String {
    // A directory's link count and size are the host's own affair.
    let format = "-printf '%P %y %m %U %G %T@ %l' \\( -type f -printf ' %n %s' -o -true \\) -printf '\\n'"
    return try shell("cd '\(path)' && find . \(format) | LC_ALL=C sort")
}

func complaint(_ body: () throws -> Void) -> Complaint? {
    do {
        try body()
        return nil
    } catch {
        return error as? Complaint
    }
}

let isRoot = geteuid() == 0
