// Writing the record of events: a line an event, in two files of bounded length.

import AppContainer
import BackingStore
import ContainerMount
import ContainerVolume
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Keeps the record of a device that is served. Whoever notes an event finds it in the record afterwards; where there
/// is no room for it, it is dropped and counted, and nobody waits.
final class EventLog: Sendable {
    /// When the file would grow beyond this, it takes the place of the older one, and another is begun.
    private let largest: Int64
    /// nil when the device could not even be opened: nothing is recorded then.
    private let directory: SharedDescriptor?

    private struct State {
        var file: SharedDescriptor?
        /// The file ends in the middle of a line.
        var isTorn = false
        var dropped = 0
        var followers: [ObjectIdentifier: EventFollower] = [:]
        /// No event comes any more.
        var isOver = false
    }

    /// Held while lines are written, so that they keep their order and only one thread changes files.
    private let state = Mutex(State())

    init(device: String, largest: Int64 = 4 << 20) {
        directory =
            if let directory = try? Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY) {
                SharedDescriptor(directory)
            } else {
                nil
            }
        self.largest = largest
    }

    func record(_ event: Event) { record([event]) }

    /// Notes events that happened at one time, all of them or none.
    func record(_ events: [Event]) {
        guard let directory, let first = events.first else { return }
        var lines = events.map { EventRecord.line($0) }
        state.withLock { state in
            if state.dropped > 0 {
                var first = first
                first.dropped = state.dropped
                lines[0] = EventRecord.line(first)
            }
            do throws(SystemError) {
                try write(Array(lines.joined()), to: &state, in: directory.descriptor)
                state.dropped = 0
                for follower in state.followers.values {
                    for line in lines { follower.append(line) }
                }
            } catch {
                state.dropped += events.reduce(0) { $0 + $1.weight }
                // Looked at anew with the next event.
                state.file = nil
            }
        }
    }

    // MARK: Following

    /// Follows the record from its beginning on: each line once, however many are written meanwhile.
    func follow(limit: Int = EventFollower.largest) throws(SystemError) -> EventSubscription {
        guard let directory else { throw .noEntry }
        let follower = try state.withLock { (state) throws(SystemError) in
            let history = EventHistory(try parts(&state, in: directory.descriptor))
            let follower = EventFollower(after: history, limit: limit)
            if state.isOver { follower.end() } else { state.followers[ObjectIdentifier(follower)] = follower }
            return follower
        }
        return EventSubscription(follower) { [weak self] follower in
            self?.state.withLock { _ = $0.followers.removeValue(forKey: ObjectIdentifier(follower)) }
        }
    }

    /// How many follow at the moment.
    var followers: Int { state.withLock { $0.followers.count } }

    /// Lets go of all followers, when they have what there is.
    func end() {
        let followers = state.withLock { state in
            state.isOver = true
            defer { state.followers = [:] }
            return state.followers
        }
        for follower in followers.values { follower.end() }
    }

    /// Both files, as far as they are written, the older one first. The caller holds the lock: neither changes.
    private func parts(
        _ state: inout State, in directory: borrowing Descriptor
    ) throws(SystemError) -> [EventHistory.Part] {
        var parts: [EventHistory.Part] = []
        for name in [EventRecord.older, EventRecord.newer] {
            do throws(SystemError) {
                let file = try directory.open(name, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                let length = try file.status().size
                parts.append(EventHistory.Part(file: SharedDescriptor(file), length: length))
            } catch {
                guard error == .noEntry else { throw error }
            }
        }
        return parts
    }

    private func write(
        _ lines: [UInt8], to state: inout State, in directory: borrowing Descriptor
    ) throws(SystemError) {
        var (file, status) = try current(&state, in: directory)
        if status.size > 0, status.size + Int64(lines.count) > largest {
            try directory.rename(EventRecord.newer, to: EventRecord.older, in: directory)
            state.file = nil
            (file, status) = try current(&state, in: directory)
        }
        do throws(SystemError) {
            try file.descriptor.append(state.isTorn ? [UInt8(ascii: "\n")] + lines : lines)
            state.isTorn = false
        } catch {
            // A part of the line may have found room.
            try? file.descriptor.truncate(to: status.size)
            throw error
        }
    }

    /// The file to write to: the one before, unless somebody has removed it meanwhile.
    private func current(
        _ state: inout State, in directory: borrowing Descriptor
    ) throws(SystemError) -> (SharedDescriptor, FileStatus) {
        if let file = state.file, let status = try? file.descriptor.status(), status.linkCount == 1 {
            return (file, status)
        }
        // A device that is being removed is not to get a file that whoever removes it does not know of.
        guard try directory.exists(DeviceDirectory.recordName) else { throw .noEntry }
        let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.open(EventRecord.newer, flags: flags, mode: 0o600)
        let status = try file.status()
        // Root may serve a device whose directory is another user's, who could have it write to any file.
        guard status.kind == .file, status.linkCount == 1 else { throw .notPermitted }
        try file.giveToOwner(of: directory)
        state.isTorn = try EventLog.isTorn(file, length: status.size)
        let shared = SharedDescriptor(file)
        state.file = shared
        return (shared, status)
    }

    /// Whether a killed process has left half of a line.
    private static func isTorn(_ file: borrowing Descriptor, length: Int64) throws(SystemError) -> Bool {
        guard length > 0 else { return false }
        let last = PageBuffer(count: 1)
        _ = try file.read(into: last, count: 1, from: length - 1)
        return last.bytes(0, count: 1) != [UInt8(ascii: "\n")]
    }
}

extension Event {
    init(_ refused: RefusedCall) {
        self.init(
            .refused, app: refused.place.app?.text, path: refused.place.path, operation: refused.call.rawValue,
            pid: refused.process?.id, process: refused.process?.name, rule: refused.rule.rawValue,
            errno: refused.error.name)
        if refused.omitted > 0 { omitted = refused.omitted }
    }

    /// What was left out of a flood after which nothing came.
    init(_ omission: RefusalLimit.Omission) {
        self.init(
            .refused, pid: omission.process, process: omission.name, rule: omission.rule.rawValue,
            errno: SystemError.notPermitted.name)
        omitted = omission.count
    }

    /// How many happenings are missing where this was not written.
    var weight: Int { (isSummary ? 0 : 1) + (omitted ?? 0) }

    init(_ lost: LostRange) {
        let process = lost.writer.flatMap { HostProcess(ofThread: $0.thread, asOf: $0.time) }
        self.init(
            .refused, app: lost.place.app?.text, path: lost.place.path, operation: CallName.write.rawValue,
            pid: process?.id, process: process?.name, rule: Rule.dataProtection.rawValue, errno: "EPERM",
            range: Event.Range(offset: lost.range.lowerBound, length: Int64(lost.range.count)))
    }
}
