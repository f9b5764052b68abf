// The purgeable entries of a container: those of Library/Caches and tmp, with size and last use.

public import Platform
public import SandboxModel

/// An entry of `Library/Caches` or `tmp`.
public struct PurgeableEntry: Sendable {
    public let directory: PurgeableDirectory
    public let name: FileName
    /// Inode number: tells whether the name belongs to another entry now.
    public let inode: UInt64
    /// Bytes that removing it frees: without files that have a name elsewhere.
    public let bytes: Int64
    public let lastUse: HostTime
    /// Whether it is an open file, or contains one.
    public let isOpen: Bool
}

extension StoreContext {
    /// Lists the purgeable entries of a container. Entries that change meanwhile may be missing.
    ///
    /// - Parameters:
    ///   - directories: where the container has such entries.
    ///   - open: inode numbers of the open files.
    ///   - withUse: whether to read the last uses; otherwise all are ``HostTime/unknown``.
    public func purgeableEntries(
        of container: borrowing Descriptor, in directories: [PurgeableDirectory] = PurgeableDirectory.allCases,
        open: Set<UInt64>, withUse: Bool = true
    ) throws(SystemError) -> [PurgeableEntry] {
        var found: [PurgeableEntry] = []
        for directory in directories {
            let place: Descriptor
            do throws(SystemError) {
                place = try container.openDirectory(at: directory.path)
            } catch {
                // The system may have taken `Library/Caches` away, or a group of an earlier version have none.
                if error == .noEntry || error == .notDirectory { continue }
                throw error
            }
            let reader = try place.entries()
            while let entry = try reader.next() {
                guard let status = try? place.status(of: entry.name) else { continue }
                var measure = TreeMeasure(weights: space.weights, open: open)
                measure.add(entry.name, status, in: place)
                found.append(
                    PurgeableEntry(
                        directory: directory, name: entry.name, inode: status.inode, bytes: measure.bytes,
                        lastUse: withUse ? uses.lastUse(of: entry.name, status, in: place) : .unknown,
                        isOpen: measure.isOpen))
            }
        }
        return found
    }
}

/// Adds up the bytes of a tree.
private struct TreeMeasure {
    let weights: SpaceWeights
    let open: Set<UInt64>
    private(set) var bytes: Int64 = 0
    private(set) var isOpen = false
    /// Of files with several names: the names not found in the tree yet.
    private var namesLeft: [UInt64: UInt64] = [:]

    init(weights: SpaceWeights, open: Set<UInt64>) {
        self.weights = weights
        self.open = open
    }

    mutating func add(_ name: FileName, _ status: FileStatus, in directory: borrowing Descriptor) {
        count(status)
        guard status.kind == .directory, let top = try? directory.openDirectory(name) else { return }
        let walk = TreeWalk(SharedDescriptor(top))
        while let inner = walk.next() {
            // A directory that this user may not read is measured when it is removed.
            guard let reader = try? inner.descriptor.entries() else { continue }
            while let entry = try? reader.next() {
                guard let status = try? inner.descriptor.status(of: entry.name) else { continue }
                count(status)
                if status.kind == .directory { walk.add(entry.name) }
            }
        }
    }

    private mutating func count(_ status: FileStatus) {
        if !open.isEmpty, open.contains(status.inode) { isOpen = true }
        if status.kind != .directory, status.linkCount > 1 {
            let left = (namesLeft[status.inode] ?? status.linkCount) - 1
            namesLeft[status.inode] = left
            guard left == 0 else { return }
        }
        bytes += weights.bytes(status)
    }
}
