// The record of the last use of each purgeable entry, which no application can set.

public import Platform
public import SandboxModel
import Synchronization

/// The last use of each entry of `Library/Caches` and `tmp`.
///
/// Uses are recorded in memory as files are opened, created and closed, and written from time to time to an attribute
/// of the entry that applications neither see nor set. So they move with the entry, and a copy of the device has them.
/// A crash may lose those since the last writing.
///
/// Lock: `state` is innermost, and no call on the host is made under it. `writing` is taken before it.
public final class UseRecord: Sendable {
    /// The place of an entry.
    public struct Place: Sendable {
        /// The data or group container's directory.
        let container: SharedDescriptor
        let directory: PurgeableDirectory
        let name: FileName
        /// Held exclusively while an entry's mode is changed for a moment.
        let lock: ReadWriteLock

        public init(
            container: SharedDescriptor, directory: PurgeableDirectory, name: FileName, lock: ReadWriteLock
        ) {
            self.container = container
            self.directory = directory
            self.name = name
            self.lock = lock
        }
    }

    private struct Use {
        var time: HostTime
        var place: Place
    }

    /// By inode: the uses not written yet.
    private let state = ShortLock<[UInt64: Use]>([:])
    /// One thread writes at a time.
    private let writing = Mutex(())
    private let changes = Atomic<UInt64>(0)
    /// Whether the next use is told: nothing was used since the last writing.
    private let isQuiet = Atomic<Bool>(true)
    /// Told of a use after a quiet time. A leaf.
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)
    private let clock: @Sendable () -> HostTime
    private let birth: @Sendable (HostTime) -> HostTime

    /// - Parameters:
    ///   - clock: the present time, also for ages.
    ///   - birth: a time of the host, which files have, by that clock.
    public init(
        clock: @escaping @Sendable () -> HostTime = { .now },
        birth: @escaping @Sendable (HostTime) -> HostTime = { $0 }
    ) {
        self.clock = clock
        self.birth = birth
    }

    public var now: HostTime { clock() }

    /// A number that changes with each use.
    public var serial: UInt64 { changes.load(ordering: .relaxed) }

    // MARK: Recording

    /// Records that an entry is used now. Allocates only for an entry without a recorded use.
    /// - Parameter place: called only then; nil for an entry that lies in no container any more, whose use does not
    ///   count.
    public func record(_ inode: UInt64, at place: () -> Place?) {
        changes.wrappingAdd(1, ordering: .relaxed)
        if isQuiet.load(ordering: .relaxed) { tell() }
        let now = clock()
        let isKnown = state.withLock { state in
            guard let index = state.index(forKey: inode) else { return false }
            state.values[index].time = now
            return true
        }
        if isKnown { return }
        guard let place = place() else { return }
        state.withLock { $0[inode] = Use(time: now, place: place) }
    }

    private func tell() {
        guard isQuiet.exchange(false, ordering: .relaxed) else { return }
        listener.withLock { $0 }?()
    }

    /// Calls back at the first use after each ``writeDown()``. The body is called by threads that serve requests, and
    /// must not block.
    public func whenUsed(_ body: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = body }
    }

    /// Records the new place of a moved entry.
    public func move(_ inode: UInt64, to place: () -> Place?) {
        guard state.withLock({ $0[inode] != nil }), let place = place() else { return }
        state.withLock { $0[inode]?.place = place }
    }

    /// Forgets a removed entry, whose inode number may be reused.
    public func forget(_ inode: UInt64) {
        state.withLock { _ = $0.removeValue(forKey: inode) }
    }

    // MARK: Reading

    /// The last use of an entry; without a record its birth, and without that ``HostTime/unknown``. It is never later
    /// than now. A record of more than a day from now counts as none: somebody set the clock back, or made the record
    /// up.
    ///
    /// - Parameter directory: a container's `Library/Caches` or `tmp`.
    public func lastUse(of name: FileName, _ status: FileStatus, in directory: borrowing Descriptor) -> HostTime {
        let now = clock()
        if let recorded = recordedUse(of: name, status, in: directory),
            recorded.nanoseconds <= now.nanoseconds + UseRecord.tolerance
        {
            return min(recorded, now)
        }
        // Not by optional chaining: the compiler (Swift 6.3.1) then never closes the descriptor.
        guard let node = try? directory.openNode(name), let birth = try? node.birthTime() else {
            return .unknown
        }
        // By the device's clock: nothing that is new is old after an advance.
        return min(self.birth(HostTime(birth)), now)
    }

    /// The use that was recorded, in memory or in the attribute, which may be anything.
    private func recordedUse(
        of name: FileName, _ status: FileStatus, in directory: borrowing Descriptor
    ) -> HostTime? {
        if let noted = state.withLock({ $0[status.inode]?.time }) { return noted }
        switch status.kind {
        case .file, .directory:
            let value = try? AttributeHolder(name, in: directory).value(of: UseRecord.attribute)
            return value.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }.map { HostTime(nanoseconds: $0) }
        case .symbolicLink, .fifo, .socket, .device: return nil
        }
    }

    /// Nanoseconds by which a record may be later than now: the host's clock is set now and then.
    private static let tolerance: Int64 = 86_400 * 1_000_000_000
    /// The attribute of the record: decimal nanoseconds since 1970. The mount hides attributes of this prefix.
    public static let attributeName = "user.appcontainer.used"
    private static let attribute = Array(attributeName.utf8)

    // MARK: Writing

    /// Writes each recorded use to its entry. Uses that cannot be written now are tried again at the next call.
    public func writeDown() {
        writing.withLock { _ in
            isQuiet.store(true, ordering: .relaxed)
            for (inode, use) in state.withLock({ Array($0) }) {
                let isDone = UseRecord.write(use.time, to: inode, at: use.place)
                guard isDone else { continue }
                state.withLock { state in
                    // Unless it was used meanwhile.
                    if state[inode]?.time == use.time { state[inode] = nil }
                }
            }
        }
    }

    /// - Returns: false if another try may succeed.
    private static func write(_ time: HostTime, to inode: UInt64, at place: Place) -> Bool {
        let value = Array(String(time.nanoseconds).utf8)
        do throws(SystemError) {
            let directory = try place.container.descriptor.openDirectory(at: place.directory.path)
            let entry = try directory.openNode(place.name)
            let status = try entry.status()
            // Another entry has the name now, or the kind has no attributes.
            guard status.inode == inode, status.kind == .file || status.kind == .directory else { return true }
            do throws(SystemError) {
                try AttributeHolder(file: entry).set(attribute, to: value)
            } catch {
                guard error == .accessDenied else { throw error }
                // The daemon's user owns the entry, but its mode denies writing.
                try place.lock.writing { () throws(SystemError) in
                    let mode = try entry.status().hostPermissions
                    try entry.changeModeOfNamed(mode | 0o200)
                    defer { try? entry.changeModeOfNamed(mode) }
                    try AttributeHolder(file: entry).set(attribute, to: value)
                }
            }
            return true
        } catch {
            return error == .noEntry || error == .notDirectory || error == .notSupported
        }
    }
}

extension HostTime {
    /// The last use of an entry without a record: older than all others.
    public static let unknown = HostTime(nanoseconds: .min)
}
