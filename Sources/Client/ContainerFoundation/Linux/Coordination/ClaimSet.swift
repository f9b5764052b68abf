// The claims of one access, in each container that it concerns, and the waiting for them.

import Foundation
import Platform
import SandboxModel

/// Why an access was not granted.
enum CoordinationFailure: Error {
    case cancelled
    /// A process that does not run holds an item.
    case stopped
    /// Somebody holds an item for longer than anybody waits.
    case late
    case system(SystemError)
    case presenter(NSError)
}

struct ClaimSet {
    private let claims: [Claim]

    /// Makes a claim in each container, at one moment: of two accesses that concern the same containers, one is earlier
    /// in all of them, so that they cannot wait for each other.
    init(
        on accesses: [[FileAccess]], for purpose: String, at listeners: [Listener], _ caller: some Cancellable
    ) throws(CoordinationFailure) {
        var claims: [Claim] = []
        do {
            var locks: [SharedDescriptor] = []
            var locked: Set<MeetingDirectory.Identity> = []
            for listener in try listeners.sorted(by: { try $0.meeting.identity < $1.meeting.identity })
            // A group may be shown in two homes.
            where locked.insert(try listener.meeting.identity).inserted {
                locks.append(try ClaimSet.lock(listener.meeting, caller))
            }
            for (accesses, listener) in zip(accesses, listeners) {
                claims.append(try Claim(on: accesses, for: purpose, at: listener))
            }
            for lock in locks { try lock.descriptor.unlock() }
        } catch {
            for claim in claims { claim.end() }
            throw (error as? SystemError).map { .system($0) } ?? error as? CoordinationFailure ?? .cancelled
        }
        self.claims = claims
    }

    /// The directory's lock, which is held for a moment: a process that keeps it is stopped.
    private static func lock(
        _ meeting: MeetingDirectory, _ caller: some Cancellable
    ) throws -> SharedDescriptor {
        let deadline = UInt64.nanoseconds(in: CoordinationLimits.current.stopped)
        while true {
            if let lock = try meeting.tryLock() { return lock }
            guard !caller.isCancelled else { throw CoordinationFailure.cancelled }
            guard MonotonicClock.nanoseconds < deadline else { throw CoordinationFailure.stopped }
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// Waits until all claims hold their items.
    func wait(_ caller: some Cancellable) throws(CoordinationFailure) {
        let limits = CoordinationLimits.current
        let deadline = UInt64.nanoseconds(in: limits.longest)
        var delay = 0.001
        var lastSign = MonotonicClock.nanoseconds
        var nextLook = UInt64.nanoseconds(in: 0.5)
        while let (claim, blocker) = try blocker() {
            guard !caller.isCancelled else { throw .cancelled }
            let now = MonotonicClock.nanoseconds
            guard now < deadline else { throw .late }
            if now >= nextLook {
                if ClaimSet.runs(blocker, claim.listener) { lastSign = MonotonicClock.nanoseconds }
                guard Double(MonotonicClock.nanoseconds - lastSign) < limits.stopped * 1e9 else { throw .stopped }
                nextLook = UInt64.nanoseconds(in: 0.5)
            }
            Thread.sleep(forTimeInterval: delay)
            delay = min(delay * 1.5, 0.02)
        }
        guard !caller.isCancelled else { throw .cancelled }
    }

    private func blocker() throws(CoordinationFailure) -> (Claim, FileName)? {
        for claim in claims {
            do throws(SystemError) {
                if let blocker = try claim.blocker() { return (claim, blocker) }
            } catch {
                throw .system(error)
            }
        }
        return nil
    }

    /// Whether the process of a claim takes a connection. This one does.
    private static func runs(_ claim: FileName, _ listener: Listener) -> Bool {
        let identifier = Claim.process(of: claim)
        return identifier == listener.identifier
            || [Listener.claiming, Listener.presenting].contains { ending in
                let name = FileName(identifier + ending)
                return name.map { RemotePresenters.runs($0, in: listener.meeting) } ?? false
            }
    }

    /// Moves that others have told, in the container of each claim.
    func moves() -> [[ItemMove]] { claims.map { $0.moves() } }

    func tell(_ move: ItemMove, in place: CoordinationPlace) {
        for claim in claims where claim.listener.place == place { claim.tell(move) }
    }

    func end() {
        for claim in claims { claim.end() }
    }
}
