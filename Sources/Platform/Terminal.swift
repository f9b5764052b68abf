// What a command asks of the terminal it was typed at.

import Glibc
public import SandboxModel

public enum Terminal {
    public static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Writes to standard output.
    public static func writeOutput(_ text: String) throws(SystemError) {
        try writeAll(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Writes to standard error; there is nobody to tell if that fails.
    public static func writeError(_ text: String) {
        try? writeAll(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Reads one line of standard input, byte by byte, so that what follows it stays for whoever reads next.
    /// - Parameter silently: the terminal does not show what is typed.
    /// - Returns: the line without its end; nil at the end of the input.
    public static func readLine(silently: Bool) throws(SystemError) -> [UInt8]? {
        var settings = termios()
        let known = unsafe tcgetattr(STDIN_FILENO, &settings) == 0
        let silent = silently && known
        if silent {
            var quiet = settings
            quiet.c_lflag &= ~tcflag_t(ECHO)
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
        }
        defer { if silent { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) } }

        var line = [UInt8]()
        while true {
            var byte: UInt8 = 0
            let count = try systemCall { unsafe read(STDIN_FILENO, &byte, 1) }
            if count == 0 { return line.isEmpty ? nil : line }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
    }
}
