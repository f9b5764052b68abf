// Where a passcode comes from: a file, a terminal that does not show it, or standard input. Never the command line.

import DeviceLifecycle
import Glibc
import Platform
import SandboxModel

enum Passcode {
    /// The first line of a file.
    static func read(from file: String) throws(Complaint) -> String {
        try text(try Device.passcode(inFile: file)[...], source: file)
    }

    /// Asks on a terminal, without showing what is typed; else takes one line of standard input.
    static func ask() throws(Complaint) -> String {
        let terminal = Terminal.isTerminal(STDIN_FILENO)
        if terminal { StandardError.write("Passcode: ") }
        let line: [UInt8]?
        do throws(SystemError) {
            line = try Terminal.readLine(silently: terminal)
        } catch {
            throw Complaint(.passcodeNeeded, "cannot read the passcode: \(error.message)")
        }
        if terminal { StandardError.write("\n") }
        guard let line else {
            throw Complaint(
                .passcodeNeeded, "no passcode on standard input; give one there or name a file with --passcode-file")
        }
        return try text(line[...], source: "standard input")
    }

    private static func text(_ line: ArraySlice<UInt8>, source: String) throws(Complaint) -> String {
        var line = line
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw Complaint(.passcodeNeeded, "the first line of \(source) is empty; it has to be the passcode")
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw Complaint(.badRequest, "the passcode in \(source) is not UTF-8")
        }
        return text
    }
}
