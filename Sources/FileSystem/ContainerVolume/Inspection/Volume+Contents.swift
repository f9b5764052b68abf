// The content of a directory, or of all directories below it, for people who look at a home: part by part.
//
// Each part is a walk of its own that begins behind the last entry of the part before. So nothing is kept between two
// parts, and a home may change meanwhile: what stays is listed once.

import Platform
public import SandboxModel

extension Volume {
    /// Lists a part of a directory's content. Entries that go meanwhile are left out; one that cannot be looked at has
    /// the fault that keeps it from that.
    /// - Parameter home: the path of the app's home from the volume's root; empty where the volume shows one home.
    /// - Throws: ENOENT, ENOTDIR, or the host's error, where the directory cannot be listed; EINVAL for an order that
    ///   begins outside of it; ECANCELED when nobody waits for the listing any more.
    public func contents(_ order: ListingOrder, ofHome home: [FileName]) throws(Fault) -> Listing {
        try reach(home + order.directory) { (directory) throws(Fault) in
            try ContentsWalk.list(order, at: directory, of: self)
        }
    }

    /// The facts about a directory that hold for what lies in it.
    func standing(of directory: NodeID) throws(Fault) -> ContentsWalk.Standing {
        try keepingPlace(of: directory) { (node) throws(Fault) in
            guard node.isDirectory else { throw .system(.notDirectory) }
            var above: Node? = node
            while let next = above, next.purgeableDirectory == nil { above = next.parent }
            return ContentsWalk.Standing(
                inclusion: node.kind == .device ? .included : try marks.inclusion(of: node), isPurgeable: above != nil)
        }
    }

    /// Entries that are read with the locks of the directory held: a huge one keeps nobody waiting.
    private static let entriesAtOnce = 4096

    /// The first names in a directory by their bytes.
    /// - Parameters:
    ///   - most: the number of names.
    ///   - first: the least name; nil for all.
    /// - Returns: with the names, whether there are more.
    func firstNames(
        _ most: Int, in directory: NodeID, from first: FileName?, _ order: ListingOrder
    ) throws(Fault) -> (names: [ListedName], isCut: Bool) {
        var names = FirstNames(most)
        var (position, isAtEnd) = (Int64(0), false)
        while !isAtEnd {
            try order.requireReader()
            var taken = 0
            isAtEnd = true
            try list(directory, from: position, withEntries: false) { entry in
                guard taken < Volume.entriesAtOnce else {
                    isAtEnd = false
                    return false
                }
                taken += 1
                position = entry.next
                if let name = FileName(terminated: entry.terminatedName), first.map({ !name.precedes($0) }) ?? true {
                    names.add(ListedName(name: name, type: entry.type))
                }
                return true
            }
        }
        return (names.sorted(), names.isCut)
    }

    /// The facts about an entry that was looked up.
    func facts(
        about entry: Entry, at path: [FileName], in standing: ContentsWalk.Standing
    ) throws(Fault) -> (ListedNode, ContentsWalk.Standing) {
        let target = entry.status.kind == .symbolicLink ? try symbolicLinkTarget(of: entry.node) : nil
        return try keepingPlace(of: entry.node) { (node) throws(Fault) in
            let isExcluded = try marks.isExcluded(node)
            let inclusion = standing.inclusion(of: path, isExcluded: isExcluded)
            var (protection, fault) = (ProtectionClass?.none, Fault?.none)
            do throws(Fault) {
                protection = try classes.protection(of: node)
            } catch {
                fault = error
            }
            let listed = ListedNode(
                path: path, shown: entry.status, protection: protection, inclusion: inclusion, isExcluded: isExcluded,
                isPurgeable: standing.isPurgeable, target: target, fault: fault)
            return (
                listed,
                ContentsWalk.Standing(
                    inclusion: inclusion, isPurgeable: standing.isPurgeable || node.purgeableDirectory != nil)
            )
        }
    }
}
