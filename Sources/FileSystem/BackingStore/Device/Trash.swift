// The trash: a purged entry is renamed into it in one step, however large it is, and removed later.

public import Platform
public import SandboxModel
import Synchronization

extension DeviceDirectory {
    /// Removes the entries that an earlier process left. They are not counted any more.
    /// - Parameter goOn: false stops.
    public func emptyTrash(while goOn: () -> Bool = { true }) throws(SystemError) {
        guard try root.exists(Name.trash) else { return }
        let trash = try root.openDirectory(Name.trash)
        for name in try trash.names(where: { _ in true }) {
            guard try trash.removeTree(name, progress: { _ in goOn() }) else { return }
        }
    }
}

/// The trash of a device that is served.
///
/// ``take(_:from:)`` may be called under any lock. ``remove(_:_:isShared:)`` takes its time, and is called under none.
public final class Trash: Sendable {
    private let device: SharedDescriptor
    private let directory: SharedDescriptor
    private let space: SpaceLedger

    /// - Parameters:
    ///   - device: the device's directory. Devices of older versions get a trash now.
    ///   - space: the ledger from which removed files are subtracted.
    public init(in device: borrowing Descriptor, space: SpaceLedger) throws(SystemError) {
        let name = DeviceDirectory.Name.trash
        if try !device.exists(name) { try device.makePrivateDirectory(name) }
        self.device = SharedDescriptor(try device.duplicate())
        directory = SharedDescriptor(try device.openDirectory(name))
        self.space = space
    }

    /// An entry that was taken, and is to be removed.
    public struct Item: Sendable {
        fileprivate enum Content: Sendable {
            /// A directory with this name in the trash.
            case tree(FileName)
            /// A file without a name: the host removes it when the descriptor is closed.
            case file(HeldFile)
            /// A name of a file that has others.
            case name
            /// A directory that the host had no space to move: it is removed already.
            case gone(freed: Int64)
        }

        fileprivate let content: Content
    }

    /// Takes an entry from a directory, with its whole tree. If the host has no space for another name, not even with
    /// the device's reserve, the entry is removed at once; a kill may then leave a part of it.
    public func take(_ name: FileName, from place: borrowing Descriptor) throws(SystemError) -> Item {
        let node = try place.openNode(name)
        let status = try node.status()
        guard status.kind == .directory else {
            // One step too, and needs no second name.
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
        // Moving a directory changes its `..`, which needs write permission for its owner.
        try place.changeMode(of: name, to: 0o700)
        do throws(SystemError) {
            try place.rename(name, to: newName, in: directory.descriptor, mode: .keeping)
        } catch {
            try? place.changeMode(of: name, to: status.permissions)
            throw error
        }
    }

    /// Removes an entry from the host. Files that cannot be removed stay until the device is served the next time.
    ///
    /// - Parameters:
    ///   - links: one for all entries that are removed at the same time.
    ///   - isShared: whether several threads remove the files of a large directory.
    /// - Returns: the freed bytes.
    public func remove(_ item: Item, _ links: SharedLinkTally, isShared: Bool) -> Int64 {
        switch item.content {
        case .gone(let bytes): return bytes
        case .name: return 0
        case .file(let held):
            // The size now: the file may have been written to since.
            guard let file = held.take(), let status = try? file.descriptor.status() else { return 0 }
            return release(status)
        case .tree(let name):
            let freed = FreedBytes()
            let removed: @Sendable (FileStatus) -> Void = { [self] in freed.add(release($0, links)) }
            let emptying: (SharedDescriptor) -> Void = { try? $0.removeManyFiles(removed: removed) }
            _ = try? directory.descriptor.removeTree(name, removed: removed, emptying: isShared ? emptying : nil)
            return freed.bytes
        }
    }

    /// Subtracts a removed file from the ledger, unless it has another name.
    /// - Returns: the freed bytes.
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

/// A file without a name: the host removes it when its descriptor is closed.
private final class HeldFile: Sendable {
    private let file: Mutex<SharedDescriptor?>

    init(_ node: consuming Descriptor) {
        file = Mutex(SharedDescriptor(node))
    }

    /// The descriptor, for the first caller.
    func take() -> SharedDescriptor? {
        file.withLock { file in
            defer { file = nil }
            return file
        }
    }
}

/// A sum of freed bytes, from several threads.
private final class FreedBytes: Sendable {
    private let sum = Atomic<Int64>(0)

    func add(_ value: Int64) { sum.add(value, ordering: .relaxed) }

    var bytes: Int64 { sum.load(ordering: .relaxed) }
}
