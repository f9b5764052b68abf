// What was purged lies here until it is removed: an entry leaves its app in one step, however much is in it.

public import Platform
public import SandboxModel
import Synchronization

extension DeviceDirectory {
    /// Removes what an earlier process has purged and not come to remove. It is counted for nothing any more.
    /// - Parameter goOn: false ends it.
    public func emptyTrash(while goOn: () -> Bool = { true }) throws(SystemError) {
        guard try root.exists(Name.trash) else { return }
        let trash = try root.openDirectory(Name.trash)
        for name in try trash.names(where: { _ in true }) {
            guard try trash.removeTree(name, progress: { _ in goOn() }) else { return }
        }
    }
}

/// The trash of a device that is being served: entries are moved into it, and then removed from the host.
///
/// Moving may be done under any lock; removing takes its time, and is done under none.
public final class Trash: Sendable {
    private let device: SharedDescriptor
    private let directory: SharedDescriptor
    private let space: SpaceLedger

    /// - Parameters:
    ///   - device: the device's directory, which gets one for the trash when it was made before there was one.
    ///   - space: what is removed is counted there for nothing any more.
    public init(in device: borrowing Descriptor, space: SpaceLedger) throws(SystemError) {
        let name = DeviceDirectory.Name.trash
        if try !device.exists(name) { try device.makePrivateDirectory(name) }
        self.device = SharedDescriptor(try device.duplicate())
        directory = SharedDescriptor(try device.openDirectory(name))
        self.space = space
    }

    /// An entry on its way out.
    public struct Item: Sendable {
        fileprivate enum Content: Sendable {
            /// A directory, by its name in the trash.
            case tree(FileName)
            /// A file that has lost its last name: the host removes it when the descriptor is closed.
            case file(HeldFile)
            /// A file that has another name.
            case name
            /// What the host had no room to move: it is gone already.
            case gone(freed: Int64)
        }

        fileprivate let content: Content
    }

    /// Takes an entry away from a directory, with all that lies in it. On a host that has no room for another name, not
    /// even in the device's reserve, it is removed at once: the end of the process may then leave a part of it.
    public func take(_ name: FileName, from place: borrowing Descriptor) throws(SystemError) -> Item {
        let node = try place.openNode(name)
        let status = try node.status()
        guard status.kind == .directory else {
            // One step as well, without a second name.
            try place.removeFile(name)
            return Item(content: status.linkCount <= 1 ? .file(HeldFile(node)) : .name)
        }
        let newName = ContainerUUID().fileName
        do throws(SystemError) {
            try RecordReserve.use(in: device.descriptor) { () throws(SystemError) in
                try move(name, status, from: place, to: newName)
            }
            return Item(content: .tree(newName))
        } catch {
            guard error.isOutOfSpace else { throw error }
            var freed: Int64 = 0
            let links = SharedLinkTally()
            try place.removeTree(name, removed: { freed += release($0, links) })
            return Item(content: .gone(freed: freed))
        }
    }

    private func move(
        _ name: FileName, _ status: FileStatus, from place: borrowing Descriptor, to newName: FileName
    ) throws(SystemError) {
        do throws(SystemError) {
            return try place.rename(name, to: newName, in: directory.descriptor, mode: .keeping)
        } catch {
            guard error == .accessDenied else { throw error }
        }
        // It gets another `..`, for which its owner has to have the right to write to it.
        try place.changeMode(of: name, to: 0o700)
        do throws(SystemError) {
            try place.rename(name, to: newName, in: directory.descriptor, mode: .keeping)
        } catch {
            try? place.changeMode(of: name, to: status.permissions)
            throw error
        }
    }

    /// Removes an entry from the host. What cannot be removed stays until the device is served the next time.
    ///
    /// - Parameters:
    ///   - links: one for all entries that are being removed at the same time.
    ///   - isShared: whether processors have nothing else to do, and may share in a directory with many files.
    /// - Returns: the bytes that came free.
    public func remove(_ item: Item, _ links: SharedLinkTally, isShared: Bool) -> Int64 {
        switch item.content {
        case .gone(let bytes): return bytes
        case .name: return 0
        case .file(let held):
            // It may have been written to since it was taken.
            guard let file = held.letGo(), let status = try? file.descriptor.status() else { return 0 }
            return release(status)
        case .tree(let name):
            let freed = FreedBytes()
            let removed: @Sendable (FileStatus) -> Void = { [self] in freed.add(release($0, links)) }
            let emptying: (SharedDescriptor) -> Void = { try? $0.removeManyFiles(removed: removed) }
            _ = try? directory.descriptor.removeTree(name, removed: removed, emptying: isShared ? emptying : nil)
            return freed.bytes
        }
    }

    /// Counts what was removed for nothing any more, unless it has another name.
    private func release(_ status: FileStatus, _ links: SharedLinkTally) -> Int64 {
        guard status.kind == .directory || links.removed(status.inode, of: status.linkCount) else { return 0 }
        return release(status)
    }

    private func release(_ status: FileStatus) -> Int64 {
        let bytes = space.weights.bytes(status)
        space.recount(status.inode, from: bytes, to: 0)
        return bytes
    }
}

/// Tells which of a file's names was the last to be removed, where several threads remove some each: two of them may have
/// seen two names, and nobody a single one.
struct LinkTally {
    private var names: [UInt64: (most: UInt64, removed: UInt64)] = [:]

    /// To be called after each removal of a name.
    /// - Parameter links: how many names the file had when it was looked at, at some time before the removal.
    /// - Returns: whether that was the last one.
    mutating func removed(_ inode: UInt64, of links: UInt64) -> Bool {
        guard links > 1 || names[inode] != nil else { return true }
        let known = names[inode] ?? (most: 0, removed: 0)
        let now = (most: max(known.most, links), removed: known.removed + 1)
        names[inode] = now.removed < now.most ? now : nil
        return now.removed == now.most
    }
}

/// A ``LinkTally`` of several threads.
public final class SharedLinkTally: Sendable {
    private let tally = Mutex(LinkTally())

    public init() {}

    func removed(_ inode: UInt64, of links: UInt64) -> Bool {
        tally.withLock { $0.removed(inode, of: links) }
    }
}

/// A file that is gone from the host when it is let go of.
private final class HeldFile: Sendable {
    private let file: Mutex<SharedDescriptor?>

    init(_ node: consuming Descriptor) {
        file = Mutex(SharedDescriptor(node))
    }

    func letGo() -> SharedDescriptor? {
        file.withLock { file in
            defer { file = nil }
            return file
        }
    }
}

/// What came free, told from several threads.
private final class FreedBytes: Sendable {
    private let sum = Atomic<Int64>(0)

    func add(_ value: Int64) { sum.add(value, ordering: .relaxed) }

    var bytes: Int64 { sum.load(ordering: .relaxed) }
}
