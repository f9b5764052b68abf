// The listeners that did not answer when they were asked last, so that each keeps an access waiting once.

import Platform
import SandboxModel
import Synchronization

/// A name is waited for once, and then for a moment only, until it answers. Names cost nothing: where several new ones
/// were silent within a minute, further new ones of that directory are not waited for either.
final class SilentListeners: Sendable {
    private struct Listener: Hashable {
        let name: FileName
        let directory: MeetingDirectory.Identity
    }

    /// By the time of ``MonotonicClock`` at which it was silent first.
    private let silent = Mutex<[Listener: UInt64]>([:])

    /// Seconds in which a process that runs answers.
    static let moment = 0.25
    /// Names that are remembered. The earliest gives way to a further one.
    static let most = 1024
    /// New names of one directory that an access waits for in a minute, if they are silent.
    static let mostNew = 8

    private static let minute: UInt64 = 60_000_000_000

    /// The seconds for which a listener is waited for.
    func patience(
        for name: FileName, in directory: MeetingDirectory.Identity, usually seconds: Double,
        now: UInt64 = MonotonicClock.nanoseconds
    ) -> Double {
        let isShort = silent.withLock { silent in
            silent[Listener(name: name, directory: directory)] != nil
                || silent.count { $0.key.directory == directory && now - min(now, $0.value) < SilentListeners.minute }
                    >= SilentListeners.mostNew
        }
        return isShort ? min(seconds, SilentListeners.moment) : seconds
    }

    func note(
        _ name: FileName, in directory: MeetingDirectory.Identity, hasAnswered: Bool,
        now: UInt64 = MonotonicClock.nanoseconds
    ) {
        let listener = Listener(name: name, directory: directory)
        silent.withLock { silent in
            if hasAnswered {
                silent[listener] = nil
                return
            }
            guard silent[listener] == nil else { return }
            if silent.count >= SilentListeners.most, let earliest = silent.min(by: { $0.value < $1.value }) {
                silent[earliest.key] = nil
            }
            silent[listener] = now
        }
    }

    var count: Int { silent.withLock { $0.count } }
}
