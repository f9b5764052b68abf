// A client's process that the daemon watches and ends.

import Glibc
import Platform
import SandboxModel

/// A process held by a descriptor (pidfd_open(2)): signals and waits never reach another process of the same number.
final class WatchedProcess: Sendable {
    let identifier: pid_t
    private let handle: ProcessHandle

    /// - Returns: nil when there is no such process.
    init?(_ identifier: pid_t) {
        guard let handle = ProcessHandle(identifier) else { return nil }
        self.identifier = identifier
        self.handle = handle
    }

    /// Its end, to wait for without a thread.
    /// - Throws: as ``ReadinessWatch/init(of:ownedBy:for:)``.
    func endWatch() throws(SystemError) -> ReadinessWatch {
        try ReadinessWatch(of: handle.eventDescriptor, ownedBy: self, for: .reading)
    }

    /// Blocks until the process has ended, or time is up.
    /// - Returns: whether it has ended.
    func waitForEnd(until deadline: ContinuousClock.Instant) -> Bool {
        let left = deadline - ContinuousClock.now
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
        return handle.waitForEnd(milliseconds: Int32(clamping: max(0, milliseconds)))
    }

    /// Sends a signal; 0 only asks whether it could be sent.
    /// - Returns: false where the process is another user's.
    @discardableResult
    func send(_ signal: Int32) -> Bool {
        do throws(SystemError) {
            try handle.send(signal)
        } catch {
            return error != .notPermitted
        }
        return true
    }

    /// The process with its descendants, each held by a descriptor. The daemon itself is never among them.
    var family: [WatchedProcess] {
        let found = ProcessFamily.members(of: identifier).filter { $0 != identifier && $0 != getpid() }
            .compactMap(WatchedProcess.init)
        // A number may have passed to another process while its descriptor was opened.
        let still = Set(ProcessFamily.members(of: identifier))
        return [self] + found.filter { still.contains($0.identifier) }
    }
}
