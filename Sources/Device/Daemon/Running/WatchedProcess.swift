// A process of a client that the daemon ends, and whose end it hears of: by a descriptor, so that its number cannot come
// to mean another one.

import Dispatch
import Glibc
import Platform
import SandboxModel

final class WatchedProcess: Sendable {
    let identifier: pid_t
    private let handle: ProcessHandle

    /// - Returns: nil when there is no such process.
    init?(_ identifier: pid_t) {
        guard let handle = ProcessHandle(identifier) else { return nil }
        self.identifier = identifier
        self.handle = handle
    }

    /// Calls back once, on a queue of the system's, when the process has ended.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: handle.eventDescriptor, queue: .global())
        source.setEventHandler { [self] in
            // The descriptor has to outlive the source.
            withExtendedLifetime(self) { source.cancel() }
            body()
        }
        source.resume()
    }

    /// - Returns: false when it did not end in time.
    func waitForEnd(until deadline: ContinuousClock.Instant) -> Bool {
        let left = deadline - ContinuousClock.now
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
        return handle.waitForEnd(milliseconds: Int32(clamping: max(0, milliseconds)))
    }

    /// - Returns: false where it is another user's.
    @discardableResult
    func send(_ signal: Int32) -> Bool {
        do throws(SystemError) {
            try handle.send(signal)
        } catch {
            return error != .notPermitted
        }
        return true
    }

    /// The process with all that runs because of it, each held by a descriptor. This one is never among them.
    var family: [WatchedProcess] {
        let found = ProcessFamily.members(of: identifier).filter { $0 != identifier && $0 != getpid() }
            .compactMap(WatchedProcess.init)
        // Those whose numbers did not pass to others while they were being opened.
        let still = Set(ProcessFamily.members(of: identifier))
        return [self] + found.filter { still.contains($0.identifier) }
    }
}
