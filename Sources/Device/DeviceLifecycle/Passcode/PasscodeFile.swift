// Files that hold a passcode, as commands take them.

import Platform
public import SandboxModel

/// Reads passcodes from files, so that none has to be an argument, which other processes can see.
public enum PasscodeFile {
    /// The first line of a file, without its end.
    /// - Throws: ``Complaint`` of kind `notFound`, `notAllowed` or `invalidPasscode`.
    public static func passcode(inFile path: String) throws(Complaint) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try ActingUser.reaching(path) { () throws(SystemError) in
                try HostPath.contents(path, limit: 1 << 16)
            }
        } catch {
            if error == .noEntry {
                throw Complaint(
                    .notFound, "the passcode file \(path) does not exist; make it, with the passcode as its first line")
            }
            if error == .isDirectory {
                throw Complaint(
                    .invalidPasscode,
                    "the passcode file \(path) is a directory; name a file with the passcode as its first line")
            }
            throw Complaint(error, doing: "cannot read the passcode file \(path)")
        }
        var line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw Complaint(
                .invalidPasscode, "the first line of the passcode file \(path) is empty; write the passcode there")
        }
        return line
    }
}
