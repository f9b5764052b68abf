// The content of a directory, or of all directories below it, for people who look at a home: part by part.
//
// Each part is a walk of its own that begins behind the last entry of the part before. So nothing is kept between two
// parts, and a home may change meanwhile: what stays is listed once.

import Platform
public import SandboxModel

extension Volume {
    /// Lists a part of a directory's content. Entries that go meanwhile are left out.
    /// - Parameter home: the path of the app's home from the volume's root; empty where the volume shows one home.
    /// - Throws: ENOENT, ENOTDIR, or the host's error, where the directory cannot be listed.
    public func contents(_ order: ListingOrder, ofHome home: [FileName]) throws(Fault) -> Listing {
        try reach(home + order.directory) { (directory) throws(Fault) in
            var walk = try ContentsWalk(self, order, at: directory)
            return walk.run()
        }
    }

    /// The facts about a directory that hold for what lies in it.
    fileprivate func standing(of directory: NodeID) throws(Fault) -> ContentsWalk.Standing {
        try keepingPlace(of: directory) { (node) throws(Fault) in
            guard node.isDirectory else { throw .system(.notDirectory) }
            var above: Node? = node
            while let next = above, next.purgeableDirectory == nil { above = next.parent }
            return ContentsWalk.Standing(
                inclusion: node.kind == .device ? .included : try marks.inclusion(of: node), isPurgeable: above != nil)
        }
    }

    /// The names in a directory, by their bytes.
    fileprivate func sortedNames(in directory: NodeID) throws(Fault) -> [FileName] {
        var names: [FileName] = []
        try list(directory, from: 0, withEntries: false) { entry in
            if let name = FileName(terminated: entry.terminatedName) { names.append(name) }
            return true
        }
        names.sort { $0.precedes($1) }
        return names
    }

    /// The facts about an entry that was looked up.
    fileprivate func facts(
        about entry: Entry, at path: [FileName], in standing: ContentsWalk.Standing
    ) throws(Fault) -> (ListedNode, ContentsWalk.Standing) {
        let target = entry.status.kind == .symbolicLink ? try? symbolicLinkTarget(of: entry.node) : nil
        return try keepingPlace(of: entry.node) { (node) throws(Fault) in
            let isExcluded = try marks.isExcluded(node)
            let inclusion = standing.inclusion(of: path, isExcluded: isExcluded)
            let listed = ListedNode(
                path: path, shown: entry.status, protection: (try? classes.protection(of: node)) ?? nil,
                inclusion: inclusion, isExcluded: isExcluded, isPurgeable: standing.isPurgeable,
                target: target)
            return (
                listed,
                ContentsWalk.Standing(
                    inclusion: inclusion, isPurgeable: standing.isPurgeable || node.purgeableDirectory != nil)
            )
        }
    }
}

/// A walk through a directory for one part of a listing. It keeps a lookup of each directory that it is in.
private struct ContentsWalk {
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
        var names: ArraySlice<FileName>
    }

    private let volume: Volume
    private let order: ListingOrder
    /// The directories from the listed one down to the one that the walk is in. All but the first were looked up here.
    private var levels: [Level] = []

    /// Begins a walk behind the entry that the order names.
    init(_ volume: Volume, _ order: ListingOrder, at directory: NodeID) throws(Fault) {
        self.volume = volume
        self.order = order
        let standing = try volume.standing(of: directory)
        levels.append(
            Level(
                directory: directory, path: order.directory, standing: standing,
                names: try volume.sortedNames(in: directory)[...]))
        if let after = order.after, after.starts(with: order.directory) {
            skip(through: after.dropFirst(order.directory.count))
        }
    }

    /// Passes over the entries up to one, and goes into that if it is a directory.
    private mutating func skip(through entry: ArraySlice<FileName>) {
        for name in entry {
            let top = levels.count - 1
            levels[top].names = levels[top].names.drop { $0.precedes(name) }
            guard levels[top].names.first == name else { return }
            levels[top].names.removeFirst()
            guard order.isRecursive, visit(name) != nil, levels.count == top + 2 else { return }
        }
    }

    mutating func run() -> Listing {
        defer { while levels.count > 1 { leave() } }
        var listing = Listing()
        while let name = next() {
            guard listing.entries.count < order.limit else {
                listing.isComplete = false
                break
            }
            if let entry = visit(name) { listing.entries.append(entry) }
        }
        return listing
    }

    /// Takes the next name, and leaves directories that have none left.
    private mutating func next() -> FileName? {
        while true {
            if let name = levels[levels.count - 1].names.popFirst() { return name }
            guard levels.count > 1 else { return nil }
            leave()
        }
    }

    private mutating func leave() {
        volume.forget(levels.removeLast().directory, count: 1)
    }

    /// Looks at an entry of the directory that the walk is in, and goes into it if it is a directory whose content is
    /// listed.
    /// - Returns: nil for one that went meanwhile.
    private mutating func visit(_ name: FileName) -> ListedNode? {
        let level = levels[levels.count - 1]
        guard let entry = try? volume.lookup(name, in: level.directory) else { return nil }
        let found = try? volume.facts(about: entry, at: level.path + [name], in: level.standing)
        guard let (listed, standing) = found, order.isRecursive, listed.shown.kind == .directory else {
            volume.forget(entry.node, count: 1)
            return found?.0
        }
        let names = (try? volume.sortedNames(in: entry.node)) ?? []
        levels.append(Level(directory: entry.node, path: listed.path, standing: standing, names: names[...]))
        return listed
    }
}

extension FileName {
    /// Whether this name comes first in a listing.
    fileprivate func precedes(_ other: FileName) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }
}
