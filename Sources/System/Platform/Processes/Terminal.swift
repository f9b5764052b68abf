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

    /// Waits until nobody can read standard output any more: the other end of a pipe was closed, or a terminal hung up.
    /// Of a file that never is.
    public static func waitUntilOutputCloses() {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        while unsafe poll(&output, 1, -1) <= 0, errno == EINTR {}
    }

    /// Reads standard input until it ends, and throws away what comes.
    public static func waitForEndOfInput() {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { return }
        }
    }

    /// Ends the process because nobody reads standard output: whoever did wants no more, and no complaint about that, as
    /// at the end of every program in a pipeline.
    public static func endUnread() {
        signal(SIGPIPE, SIG_DFL)
        // Not every thread lets signals through.
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGPIPE)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(SIGPIPE)
    }

    /// Writes to standard error; there is nobody to tell if that fails.
    public static func writeError(_ text: String) {
        try? writeAll(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Reads one line of standard input, byte by byte, so that what follows it stays for whoever reads next.
    /// - Parameter silently: the terminal does not show what is typed.
    /// - Returns: the line without its end; nil at the end of the input.
    public static func readLine(silently: Bool) throws(SystemError) -> [UInt8]? {
        let silent = unsafe silently && tcgetattr(STDIN_FILENO, &settings) == 0
        if silent { silence() }
        defer { if silent { endSilence() } }

        var line = [UInt8]()
        while true {
            var byte: UInt8 = 0
            let count = try systemCall { unsafe read(STDIN_FILENO, &byte, 1) }
            if count == 0 { return line.isEmpty ? nil : line }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
    }

    // MARK: Silence

    /// What the terminal was like before. One thread reads lines; a signal's handler reads this while it does.
    nonisolated(unsafe) private static var settings = termios()

    private static let interruptions = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private static func silence() {
        // Who gives up at the question gets the terminal back as it was. The handler makes calls only that a handler may.
        for number in interruptions {
            signal(number) { number in
                _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &Terminal.settings)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        var quiet = unsafe settings
        quiet.c_lflag &= ~tcflag_t(ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
    }

    private static func endSilence() {
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        for number in interruptions { signal(number, SIG_DFL) }
    }
}
