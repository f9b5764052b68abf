// What can be purged of one data container: each entry of Library/Caches and tmp, with what it takes and when it was used.

public import Platform
public import SandboxModel

/// An entry of `Library/Caches` or `tmp`.
public struct PurgeableEntry: Sendable {
    public let directory: PurgeableDirectory
    public let name: FileName
    /// Tells whether another has come to have its name.
    public let inode: UInt64
    /// What comes free with it: files that have names elsewhere as well do not.
    public let bytes: Int64
    public let lastUse: HostTime
    /// Whether it is or holds one of the files that were named as open.
    public let isOpen: Bool
}

extension StoreContext {
    /// Looks through a data container. What comes and goes meanwhile may be there or not.
    ///
    /// - Parameters:
    ///   - open: inode numbers of files that are open.
    ///   - withUse: whether to look when each was used last; else all are as old as can be.
    public func purgeableEntries(
        of container: borrowing Descriptor, open: Set<UInt64>, withUse: Bool = true
    ) throws(SystemError) -> [PurgeableEntry] {
        var found: [PurgeableEntry] = []
        for directory in PurgeableDirectory.allCases {
            let place: Descriptor
            do throws(SystemError) {
                place = try container.openDirectory(at: directory.path)
            } catch .noEntry {
                continue
            } catch {
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

/// Adds up what a tree takes.
private struct TreeMeasure {
    let weights: SpaceWeights
    let open: Set<UInt64>
    private(set) var bytes: Int64 = 0
    private(set) var isOpen = false
    /// Of files with several names: how many of them lie outside, as far as it has been looked.
    private var namesLeft: [UInt64: UInt64] = [:]

    init(weights: SpaceWeights, open: Set<UInt64>) {
        self.weights = weights
        self.open = open
    }

    mutating func add(_ name: FileName, _ status: FileStatus, in directory: borrowing Descriptor) {
        count(status)
        guard status.kind == .directory, let top = try? directory.openDirectory(name) else { return }
        var pending: [[FileName]] = [[]]
        while let path = pending.popLast() {
            // What its own user may not look into is measured when it goes.
            guard let inner = try? top.openDirectory(at: path), let reader = try? inner.entries() else { continue }
            while let entry = try? reader.next() {
                guard let status = try? inner.status(of: entry.name) else { continue }
                count(status)
                if status.kind == .directory { pending.append(path + [entry.name]) }
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
