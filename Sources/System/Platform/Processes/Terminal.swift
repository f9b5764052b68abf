// Standard streams and terminal of a command.

import Glibc
public import SandboxModel

public enum Terminal {
    /// `isatty(3)`.
    public static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// `ioctl(2)` TIOCGWINSZ: the size of the terminal of standard output.
    /// - Returns: nil where it is none, or does not tell.
    public static var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// `fcntl(2)` with `F_DUPFD_CLOEXEC`: standard input, for a reader of bytes.
    public static func input() throws(SystemError) -> Descriptor {
        Descriptor(owning: try systemCall { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) })
    }

    /// `fcntl(2)` with `F_DUPFD_CLOEXEC`: standard output, for a writer of bytes.
    public static func output() throws(SystemError) -> Descriptor {
        Descriptor(owning: try systemCall { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) })
    }

    /// `write(2)` to standard output.
    public static func writeOutput(_ text: String) throws(SystemError) {
        try writeOutput(Array(text.utf8))
    }

    /// `write(2)` to standard output.
    public static func writeOutput(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes, to: STDOUT_FILENO)
    }

    /// `poll(2)`: waits until the reader of standard output is gone, that is, a pipe was closed or a terminal hung up.
    /// Never returns for a file.
    public static func waitUntilOutputCloses() {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        while unsafe poll(&output, 1, -1) <= 0, errno == EINTR {}
    }

    /// `read(2)` of standard input until its end; the bytes are discarded.
    public static func waitForEndOfInput() {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { return }
        }
    }

    /// `raise(3)`: ends the process by SIGPIPE, silently, as other programs end whose reader in a pipeline is gone.
    public static func endUnread() { obey(SIGPIPE) }

    /// `raise(3)` with the signal's default action: ends the process, or stops it. Returns when the process goes on;
    /// the signal has the action then that it had before.
    public static func obey(_ number: Int32) {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        signal(number, SIG_DFL)
        // The calling thread may block signals.
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, &before)
        raise(number)
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        unsafe sigaction(number, &action, nil)
    }

    /// Stops the process until its job has the terminal of standard output, as the terminal itself does with a job of
    /// the background that sets it. A job that nobody can bring to the foreground goes on.
    public static func waitForForeground() {
        let foreground = tcgetpgrp(STDOUT_FILENO)
        if foreground >= 0, foreground != getpgrp() { obey(SIGTTOU) }
    }

    /// `write(2)` to standard error. Errors are ignored: there is no one left to tell.
    public static func writeError(_ text: String) {
        try? writeAll(Array(text.utf8), to: STDERR_FILENO)
    }

    /// `read(2)` of one line of standard input byte by byte, so that the next reader gets what follows.
    /// - Parameter silently: turn echo off meanwhile (`tcsetattr(3)`).
    /// - Returns: the line without its newline; nil at the end of the input.
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

    /// The settings to restore. Written by the one thread that reads lines, read by signal handlers meanwhile.
    nonisolated(unsafe) private static var settings = termios()

    private static let interruptions = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private static func silence() {
        // Restores the terminal if a signal ends the prompt. Calls only async-signal-safe functions (signal-safety(7)).
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
