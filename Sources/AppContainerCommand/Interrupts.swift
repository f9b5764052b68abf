// Signals that end a command in the foreground.

import Dispatch
import Glibc

/// Runs something, once, when the user or the system asks this process to end.
final class Interrupts {
    private let sources: [any DispatchSourceSignal]

    init(_ body: @escaping @Sendable () async -> Void) {
        let queue = DispatchQueue(label: "appcontainer.interrupts")
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { Task { await body() } }
            source.resume()
            return source
        }
    }

    func end() {
        for source in sources { source.cancel() }
    }
}
