// Keys of a terminal as they are pressed, for commands that draw on it.

import Glibc
import SandboxModel

/// Has the terminal of standard input hand over each key at once, and not show it, until ``end()``.
public final class TerminalKeys: Sendable {
    private let before: termios
    private let pressing: termios

    /// - Parameter pressed: called on a thread of its own with each byte.
    /// - Returns: nil where standard input is no terminal, or one that another job has.
    public init?(_ pressed: @escaping @Sendable (UInt8) -> Void) {
        var settings = termios()
        // Of a job in the background tcsetattr(3) would stop the process.
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0, TerminalKeys.isForeground else { return nil }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        pressing = settings
        guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
        let thread = try? HostThread(name: "keys") {
            var byte: UInt8 = 0
            while let count = try? systemCall({ unsafe read(STDIN_FILENO, &byte, 1) }), count > 0 { pressed(byte) }
        }
        thread?.detach()
    }

    /// Goes on after ``end()``, or after another command had the terminal.
    public func begin() { set(pressing) }

    /// Leaves the terminal as it was.
    public func end() { set(before) }

    private func set(_ settings: termios) {
        guard TerminalKeys.isForeground else { return }
        var settings = settings
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    private static var isForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }
}
