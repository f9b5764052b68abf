// The sources of passcodes and passwords: a file, a terminal without echo, or standard input. Never the command line,
// which other processes can read.

import DeviceLifecycle
import Glibc
import Platform
import SandboxModel

/// The reading of secrets. A secret is one line without its line end, in UTF-8.
enum PasscodeSource {
    /// A kind of secret, by its name in messages.
    enum Secret: String {
        case passcode
        case password
        case backupPassword = "backup password"

        /// The kinds of the complaints about none, and about one that is not UTF-8.
        fileprivate var missing: Complaint.Kind { self == .passcode ? .passcodeNeeded : .passwordNeeded }
        fileprivate var invalid: Complaint.Kind { self == .password ? .wrongPassword : .invalidPasscode }
    }

    /// The first line of a file. Warns if others can read the file.
    /// - Throws: ``Complaint`` of kind `notFound`, `notAllowed` or `invalidPasscode`.
    static func read(from file: String) throws(Complaint) -> String {
        let passcode = try text(try PasscodeFile.passcode(inFile: file)[...], source: file)
        if let status = ActingUser.reaching(file, { try? HostPath.status(file) }), status.kind == .file,
            status.permissions & (S_IRGRP | S_IROTH) != 0
        {
            StandardError.warn("the passcode file \(file) can be read by others; make it yours with: chmod 600 \(file)")
        }
        return passcode
    }

    /// The password of a backup: the first line of a file. The rules of passcodes do not apply.
    /// - Throws: ``Complaint`` of kind `passwordNeeded` for a file that cannot be read or whose first line is empty,
    ///   `wrongPassword` for one that is not UTF-8.
    static func password(inFile file: String) throws(Complaint) -> String {
        let line: ArraySlice<UInt8>
        do throws(SystemError) {
            line = try ActingUser.reaching(file) { () throws(SystemError) in try HostPath.contents(file, limit: 1 << 16)
            }
            .prefix { $0 != UInt8(ascii: "\n") }
        } catch {
            throw Complaint(.passwordNeeded, "cannot read the password from \(file): \(error.message)")
        }
        return try text(line, source: file, .password)
    }

    /// Asks on a terminal without echo; otherwise reads one line of standard input.
    /// - Parameters:
    ///   - option: the option that names a file, for the error message.
    ///   - secret: the kind of secret that is asked for.
    /// - Throws: ``Complaint`` of kind `passcodeNeeded` where no line comes, `passwordNeeded` for a backup password;
    ///   `invalidPasscode` where it is not UTF-8.
    static func ask(
        _ prompt: String = "Passcode", orFile option: String = "--passcode-file", for secret: Secret = .passcode
    ) throws(Complaint) -> String {
        let terminal = Terminal.isTerminal(STDIN_FILENO)
        if terminal { StandardError.write("\(prompt): ") }
        let line: [UInt8]?
        do throws(SystemError) {
            line = try Terminal.readLine(silently: terminal)
        } catch {
            throw Complaint(secret.missing, "cannot read the \(secret.rawValue): \(error.message)")
        }
        // The user's own line end was not shown.
        if terminal { StandardError.write("\n") }
        guard let line else {
            throw Complaint(
                secret.missing,
                "no \(secret.rawValue) on standard input; give one there or name a file with \(option)")
        }
        return try text(line[...], source: "standard input", secret)
    }

    /// Asks for a new passcode; on a terminal twice, because there is no echo.
    /// - Throws: as ``ask(_:orFile:for:)``, and ``Complaint`` of kind `invalidPasscode` where the two differ.
    static func askForNew(orFile option: String, for secret: Secret = .passcode) throws(Complaint) -> String {
        let name = secret.rawValue
        let new = try ask("New \(name)", orFile: option, for: secret)
        guard Terminal.isTerminal(STDIN_FILENO) else { return new }
        guard try ask("New \(name), once more", orFile: option, for: secret) == new else {
            throw Complaint(
                .invalidPasscode, "the new \(name)s differ, so nothing was changed; give the same one twice")
        }
        return new
    }

    /// The secret of a line.
    /// - Parameter source: the place of the line, for error messages.
    private static func text(
        _ line: ArraySlice<UInt8>, source: String, _ secret: Secret = .passcode
    ) throws(Complaint) -> String {
        var line = line
        // A file that was written on Windows.
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw Complaint(
                secret.missing, "the first line of \(source) is empty; it has to be the \(secret.rawValue)")
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw Complaint(secret.invalid, "the \(secret.rawValue) in \(source) is not UTF-8")
        }
        return text
    }
}
