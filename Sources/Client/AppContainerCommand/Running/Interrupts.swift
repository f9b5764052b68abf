// Signals that end a command which has something to put in order first.

import Dispatch
import Glibc

/// Runs something when the user or the system asks this process to end; without it the process would be killed.
final class Interrupts {
    private let sources: [any DispatchSourceSignal]

    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    init(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "appcontainer.interrupts")
        sources = Interrupts.numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler(handler: body)
            source.resume()
            return source
        }
    }

    func end() {
        for source in sources { source.cancel() }
        for number in Interrupts.numbers { signal(number, SIG_DFL) }
    }
}
