// When each purgeable entry was used last: the driver's own record, which no application can set.
// Lock: `state` is innermost. Nothing is looked for on the host while it is held.

public import Platform
public import SandboxModel
import Synchronization

/// The record of use of what lies in `Library/Caches` and `tmp`, an entry at a time.
///
/// It is kept in memory as files are opened, created and closed, and from time to time written down with the entry
/// itself, as an attribute that applications neither see nor set. So it moves with the entry, and a copy of the device
/// has it. A crash may lose what came since it was last written down.
public final class UseRecord: Sendable {
    /// Where an entry lies.
    public struct Place: Sendable {
        /// The data container's directory.
        let container: SharedDescriptor
        let directory: PurgeableDirectory
        let name: FileName
        /// Held exclusively while an entry's mode has to be another for a moment.
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

    /// By inode: what is not written down yet.
    private let state = Mutex<[UInt64: Use]>([:])
    /// One writing at a time.
    private let writing = Mutex(())
    private let changes = Atomic<UInt64>(0)
    private let clock: @Sendable () -> HostTime

    /// - Parameter clock: the present time; ages are measured by it as well.
    public init(clock: @escaping @Sendable () -> HostTime = { .now }) {
        self.clock = clock
    }

    public var now: HostTime { clock() }

    /// Another number after each use.
    public var serial: UInt64 { changes.load(ordering: .relaxed) }

    // MARK: Noting

    /// Notes that an entry is used now. In the steady state nothing is allocated.
    public func record(_ inode: UInt64, at place: () -> Place) {
        changes.wrappingAdd(1, ordering: .relaxed)
        let now = clock()
        let isKnown = state.withLock { state in
            guard let index = state.index(forKey: inode) else { return false }
            state.values[index].time = now
            return true
        }
        if isKnown { return }
        let use = Use(time: now, place: place())
        state.withLock { $0[inode] = use }
    }

    /// Follows an entry to another place.
    public func move(_ inode: UInt64, to place: () -> Place) {
        guard state.withLock({ $0[inode] != nil }) else { return }
        let place = place()
        state.withLock { $0[inode]?.place = place }
    }

    /// Forgets an entry that is no more: its inode number may be given to another.
    public func forget(_ inode: UInt64) {
        state.withLock { _ = $0.removeValue(forKey: inode) }
    }

    // MARK: Looking

    /// When an entry was used last. One that nobody has used since the record is kept counts from its birth, and one
    /// that bears neither as older than all others.
    ///
    /// - Parameter name: in a directory that a container's `Library/Caches` or `tmp` is.
    public func lastUse(of name: FileName, _ status: FileStatus, in directory: borrowing Descriptor) -> HostTime {
        if let noted = state.withLock({ $0[status.inode]?.time }) { return noted }
        switch status.kind {
        case .file, .directory:
            if let value = try? AttributeHolder(name, in: directory).value(of: UseRecord.attribute),
                let written = Int64(String(decoding: value, as: UTF8.self))
            {
                return HostTime(nanoseconds: written)
            }
        case .symbolicLink, .fifo, .socket, .device: break
        }
        // Not by optional chaining: the compiler (Swift 6.3.1) then never closes the descriptor.
        guard let node = try? directory.openNode(name), let birth = try? node.birthTime() else {
            return .unknown
        }
        return HostTime(birth)
    }

    /// What the host keeps the record in: decimal nanoseconds since 1970. It is in the name space that the mount keeps
    /// to itself.
    public static let attributeName = "user.appcontainer.used"
    private static let attribute = Array(attributeName.utf8)

    // MARK: Writing down

    /// Writes down with each entry when it was used last. What cannot be written now is tried again at the next call.
    public func writeDown() {
        writing.withLock { _ in
            for (inode, use) in state.withLock({ Array($0) }) {
                let isDone = UseRecord.write(use.time, to: inode, at: use.place)
                guard isDone else { continue }
                state.withLock { state in
                    // It may have been used meanwhile.
                    if state[inode]?.time == use.time { state[inode] = nil }
                }
            }
        }
    }

    /// - Returns: false when it is worth another try.
    private static func write(_ time: HostTime, to inode: UInt64, at place: Place) -> Bool {
        let value = Array(String(time.nanoseconds).utf8)
        do throws(SystemError) {
            let directory = try place.container.descriptor.openDirectory(at: place.directory.path)
            let entry = try directory.openNode(place.name)
            let status = try entry.status()
            // Another has its name now, or it is of a kind that bears no attributes.
            guard status.inode == inode, status.kind == .file || status.kind == .directory else { return true }
            do throws(SystemError) {
                try AttributeHolder(file: entry).set(attribute, to: value)
            } catch {
                guard error == .accessDenied else { throw error }
                // An entry of the daemon's own ordinary user, whose mode denies it.
                try place.lock.writing { () throws(SystemError) in
                    let mode = try entry.status().permissions
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
    /// When an entry was used of which nothing is known.
    public static let unknown = HostTime(nanoseconds: .min)
}
