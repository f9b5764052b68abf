// Signals that end a command, for commands that must clean up first.

import Dispatch
import Glibc

/// Runs a closure at SIGINT, SIGTERM and SIGHUP instead of ending the process. One at a time: ``end()`` restores the
/// default actions, not those of an earlier one.
final class Interrupts {
    private let sources: [any DispatchSourceSignal]

    /// The signals of ^C, kill(1) and a closed terminal.
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// - Parameter body: called on a queue of its own for each signal, until ``end()``.
    init(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "appcontainer.interrupts")
        sources = Interrupts.numbers.map { number in
            // A dispatch source does not replace the signal's action.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler(handler: body)
            source.resume()
            return source
        }
    }

    /// Restores the signals' default actions. A body that is running goes on.
    func end() {
        for source in sources { source.cancel() }
        for number in Interrupts.numbers { signal(number, SIG_DFL) }
    }
}
