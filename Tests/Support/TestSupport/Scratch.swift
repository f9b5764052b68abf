// A directory of the host for one test, gone when the test is over, and tools to look at what lies there.

import Foundation
public import SandboxModel
import Testing

/// A fresh directory under /var/tmp, which is on a disk and not in memory.
public final class Scratch: Sendable {
    public let path: String

    public init(under base: String = "/var/tmp") {
        path = "\(base)/appcontainer-test-\(UUID().uuidString)"
        try! FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    deinit {
        // Tests leave directories that deny their own user.
        _ = try? shell("chmod -R u+rwX '\(path)'; rm -rf '\(path)'")
    }

    public subscript(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in the directory, hidden ones too.
    public var names: [String] { try! FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

/// Runs a line of shell that must succeed.
/// - Returns: what it printed.
@discardableResult
public func shell(_ command: String) throws -> String {
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

/// The message for a person, which is one line; nil when the body succeeds.
public func complaint(_ body: () throws -> Void) -> Complaint? {
    do {
        try body()
        return nil
    } catch {
        let complaint = error as? Complaint
        #expect(complaint?.message.contains("\n") == false, "\(error)")
        return complaint
    }
}

/// The command for ``shell(_:)`` that makes another byte of one in a file, such as a random one of ciphertext. A fixed
/// byte written over it would be the same one time in 256.
/// - Parameters:
///   - file: its path, as one word of the shell.
///   - offset: the byte's place.
public func changingByte(of file: String, at offset: Int = 0) -> String {
    """
    dd if=\(file) bs=1 skip=\(offset) count=1 status=none | LC_ALL=C tr '\\000-\\377' '\\001-\\377\\000' \
    | dd of=\(file) bs=1 seek=\(offset) conv=notrunc status=none
    """
}
