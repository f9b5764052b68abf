// A walk through a directory for one part of a listing. It holds about as many names as the part has entries, however
// many a directory has.

import Platform
import SandboxModel

/// A walk through a directory for one part of a listing. It keeps a lookup of each directory that it is in.
struct ContentsWalk {
    /// The facts about a directory that its entries inherit.
    struct Standing {
        let inclusion: BackupInclusion
        /// Whether its entries may be purged.
        let isPurgeable: Bool

        func inclusion(of path: [FileName], isExcluded: Bool) -> BackupInclusion {
            switch inclusion {
            case .included: isExcluded ? .excluded : .included
            case .excluded: .excludedBy(path.dropLast())
            case .excludedBy: inclusion
            }
        }
    }

    private struct Level {
        let directory: NodeID
        let path: [FileName]
        let standing: Standing
        var names: ArraySlice<ListedName>
        /// Whether the directory has names behind these.
        var isCut: Bool
    }

    private let volume: Volume
    private let order: ListingOrder
    /// The directories from the listed one down to the one that the walk is in. All but the first were looked up here.
    private var levels: [Level] = []
    /// The names of all levels.
    private var held = 0
    private var listing: Listing
    /// Bytes of the paths of the entries, about.
    private var length = 0

    /// A tree may be so deep that each path has megabytes.
    static let mostLength = 4 << 20

    /// The entries that the part may still get, and one more that tells whether it is the last part.
    private var wanted: Int { order.limit - listing.entries.count + 1 }

    private init(_ volume: Volume, _ order: ListingOrder) {
        self.volume = volume
        self.order = order
        listing = Listing(end: order.after)
    }

    /// Lists a part of a directory.
    /// - Throws: EINVAL for an order whose beginning is not in the directory; ECANCELED when nobody waits for the
    ///   listing any more; the fault of the directory itself.
    static func list(_ order: ListingOrder, at directory: NodeID, of volume: Volume) throws(Fault) -> Listing {
        guard order.beginsInside else { throw .system(.invalid) }
        var walk = ContentsWalk(volume, order)
        defer { walk.leaveAll() }
        try walk.enter(directory, at: order.directory, in: try volume.standing(of: directory))
        try walk.skip()
        try walk.run()
        return walk.listing
    }

    /// Passes over the entry behind which the part begins, and goes into the directories above it, and into it.
    private mutating func skip() throws(Fault) {
        for name in (order.after ?? []).dropFirst(order.directory.count) {
            let top = levels.count - 1
            guard let first = levels[top].names.first, first.name == name else { return }
            levels[top].names.removeFirst()
            held -= 1
            guard order.isRecursive, try visit(first) != nil, levels.count == top + 2 else { return }
        }
    }

    private mutating func run() throws(Fault) {
        while let name = next() {
            try order.requireReader()
            let place = levels[levels.count - 1].path + [name.name]
            if let entry = try visit(name) {
                listing.entries.append(entry)
                length += entry.length
            }
            listing.end = place
        }
    }

    /// Takes the next name, and leaves directories that have none left.
    /// - Returns: nil at the end of the part.
    private mutating func next() -> ListedName? {
        while true {
            let top = levels.count - 1
            if listing.entries.count < order.limit, length < ContentsWalk.mostLength,
                let name = levels[top].names.popFirst()
            {
                held -= 1
                return name
            }
            if levels[top].isCut || !levels[top].names.isEmpty {
                listing.isComplete = false
                return nil
            }
            guard top > 0 else { return nil }
            leave()
        }
    }

    /// Looks at an entry of the directory that the walk is in, and goes into it if it is a directory whose content is
    /// listed.
    /// - Returns: nil for one that went meanwhile.
    /// - Throws: ECANCELED.
    private mutating func visit(_ name: ListedName) throws(Fault) -> ListedNode? {
        let level = levels[levels.count - 1]
        let path = level.path + [name.name]
        let entry: Entry
        do throws(Fault) {
            entry = try volume.lookup(name.name, in: level.directory)
        } catch {
            return error.isAbsence ? nil : ListedNode(at: path, FileStatus(listedAs: name), level.standing, error)
        }
        do throws(Fault) {
            let (facts, standing) = try volume.facts(about: entry, at: path, in: level.standing)
            var listed = facts
            guard order.isRecursive, listed.shown.kind == .directory else {
                volume.forget(entry.node, count: 1)
                return listed
            }
            do throws(Fault) {
                try enter(entry.node, at: path, in: standing)
            } catch {
                guard !error.isAbsence, error != .system(.cancelled) else { throw error }
                volume.forget(entry.node, count: 1)
                listed.fault = listed.fault ?? error
            }
            return listed
        } catch {
            volume.forget(entry.node, count: 1)
            if error == .system(.cancelled) { throw error }
            return error.isAbsence ? nil : ListedNode(at: path, entry.status, level.standing, error)
        }
    }

    // MARK: Levels

    /// Goes into a directory: behind the place where the part begins, if that lies in it.
    /// - Throws: the fault of reading it; the walk does not go into it then.
    private mutating func enter(_ directory: NodeID, at path: [FileName], in standing: Standing) throws(Fault) {
        let first = order.after.flatMap { $0.count > path.count && $0.starts(with: path) ? $0[path.count] : nil }
        let (names, isCut) = try volume.firstNames(wanted, in: directory, from: first, order)
        levels.append(Level(directory: directory, path: path, standing: standing, names: names[...], isCut: isCut))
        held += names.count
        if held > 4 * wanted { trim() }
    }

    /// Drops the names that this part cannot come to: those of the outermost directories come last.
    private mutating func trim() {
        var left = wanted
        for index in levels.indices.reversed() {
            let names = levels[index].names
            if names.count > left {
                levels[index].isCut = true
                // A copy, so that the memory of the others is free.
                levels[index].names = Array(names.prefix(left))[...]
            }
            left -= levels[index].names.count
        }
        held = wanted - left
    }

    private mutating func leave() {
        let level = levels.removeLast()
        held -= level.names.count
        volume.forget(level.directory, count: 1)
    }

    private mutating func leaveAll() {
        while levels.count > 1 { leave() }
    }
}

extension Fault {
    /// Whether an entry was gone when it was looked at.
    fileprivate var isAbsence: Bool { self == .system(.noEntry) || self == .system(.stale) }
}
