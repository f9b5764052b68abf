// Signals that end a command, for commands that must clean up first.

import Dispatch
import Glibc

/// Runs a closure at SIGINT, SIGTERM and SIGHUP instead of ending the process, or at other signals. One at a time of
/// each signal: ``end()`` restores the default actions, not those of an earlier one.
final class Interrupts {
    private let numbers: [Int32]
    private let sources: [any DispatchSourceSignal]

    /// The signals of ^C, kill(1) and a closed terminal.
    private static let ending = [SIGINT, SIGTERM, SIGHUP]

    /// - Parameter body: called on a queue of its own for each signal, until ``end()``.
    convenience init(_ body: @escaping @Sendable () -> Void) {
        self.init(of: Interrupts.ending) { _ in body() }
    }

    /// - Parameters:
    ///   - numbers: of the signals.
    ///   - body: as of ``init(_:)``, with the signal's number.
    init(of numbers: [Int32], _ body: @escaping @Sendable (Int32) -> Void) {
        self.numbers = numbers
        let queue = DispatchQueue(label: "appcontainer.interrupts")
        sources = numbers.map { number in
            // A dispatch source does not replace the signal's action.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { body(number) }
            source.resume()
            return source
        }
    }

    /// Restores the signals' default actions. A body that is running goes on.
    func end() {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }
}
