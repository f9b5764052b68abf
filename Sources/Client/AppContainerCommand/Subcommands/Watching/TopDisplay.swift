// The screen that `top` draws on.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// The second screen of the terminal, from its beginning to ``end()``. It fits the terminal's size at each moment, and
/// leaves the terminal as it was while the command is stopped.
///
/// Lock: of the snapshot and of the screen, held while something is written, and while the command is stopped, so that
/// nothing is drawn on another command's screen.
final class TopDisplay: Sendable {
    private struct State: Sendable {
        var snapshot: TopSnapshot?
        /// Whether the terminal shows this screen.
        var isEntered = false
    }

    private let state: Mutex<State>
    private let keys: TerminalKeys?
    /// Of ^Z, fg(1), ^\ and another size: for ``take(_:)``.
    static let signals = [SIGTSTP, SIGCONT, SIGQUIT, SIGWINCH]

    /// - Parameter pressed: called with each key.
    init(_ pressed: @escaping @Sendable (UInt8) -> Void) {
        Terminal.waitForForeground()
        keys = TerminalKeys(pressed)
        var state = State()
        TopDisplay.enter(&state, keys)
        self.state = Mutex(state)
    }

    /// Shows a snapshot, until the next one.
    /// - Throws: an error of write(2): the terminal is gone.
    func show(_ snapshot: TopSnapshot) throws(SystemError) {
        try state.withLock { (state) throws(SystemError) in
            state.snapshot = snapshot
            try TopDisplay.draw(state)
        }
    }

    /// Leaves the terminal as it was.
    func end() { state.withLock { TopDisplay.leave(&$0, keys) } }

    /// Does what a signal wants: stops with the terminal as it was, and goes on; ends so; draws at the new size.
    func take(_ number: Int32) {
        state.withLock { state in
            switch number {
            case SIGTSTP, SIGQUIT:
                guard state.isEntered else { return }
                TopDisplay.leave(&state, keys)
                // It returns when the command goes on.
                Terminal.obey(number)
                TopDisplay.enter(&state, keys)
            case SIGCONT:
                // After SIGSTOP, which nobody is told of, the terminal may be in any state.
                guard state.isEntered else { return }
                TopDisplay.enter(&state, keys)
            default: break
            }
            // The next snapshot finds out if the terminal is gone.
            try? TopDisplay.draw(state)
        }
    }

    // MARK: Screen

    private static func enter(_ state: inout State, _ keys: TerminalKeys?) {
        keys?.begin()
        try? Terminal.writeOutput(second)
        state.isEntered = true
    }

    private static func leave(_ state: inout State, _ keys: TerminalKeys?) {
        guard state.isEntered else { return }
        state.isEntered = false
        try? Terminal.writeOutput(first)
        keys?.end()
    }

    private static func draw(_ state: State) throws(SystemError) {
        guard state.isEntered, let snapshot = state.snapshot else { return }
        let size = Terminal.size ?? (columns: 80, rows: 24)
        let lines = TopScreen(snapshot: snapshot, columns: size.columns, rows: size.rows).lines
        try Terminal.writeOutput(home + lines.joined(separator: nextLine) + clearRest)
    }

    // ECMA-48 and xterm: the second screen without a cursor and without going on in the next line at the right margin,
    // and back.
    private static let second = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let first = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    private static let home = "\u{1B}[H"
    private static let nextLine = "\u{1B}[K\r\n"
    private static let clearRest = "\u{1B}[K\u{1B}[J"
}
