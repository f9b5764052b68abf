// Nodes by inode number: one node for each inode, but one for each home of a directory that several homes show.

import Platform
import SandboxModel
import Synchronization

extension NodeTable {
    /// Every node of an inode: more than one only for a directory.
    func nodes(inode: UInt64) -> [Node] {
        state.withLock { state in state.nodes(inode).filter { !State.isPurged($0) } }
    }

    /// Whether other homes see the entries of a directory too.
    func isShared(_ id: NodeID) -> Bool {
        state.withLock { state in
            let slot = Int(id.slot)
            guard slot < state.slots.count, let node = state.slots[slot], node.id == id else { return false }
            return node.view?.isShared ?? false || node.isDirectory && state.furtherViews[node.inode] != nil
        }
    }

    /// The nodes of a directory in other homes. Nearly always there are none.
    func otherViews(of directory: Node) -> [Node] {
        state.withLock { state in
            guard state.furtherViews[directory.inode] != nil else { return [] }
            return state.nodes(directory.inode).filter { $0 !== directory }
        }
    }

    /// Moves a directory's node in the home in which it was renamed. The caller holds the volume's `names` exclusively.
    func move(_ directory: Node, to parent: Node, name: FileName) {
        var gone: [Node] = []
        state.withLock { state in state.move(directory, to: parent, name: name, into: &gone) }
    }

    /// Moves a directory's node in another home than the one in which it was renamed. The caller holds `names`
    /// exclusively.
    ///
    /// - Parameters:
    ///   - directory: its node in the other home, `app`.
    ///   - parent: the node of its new directory, in the home in which it was renamed.
    /// - Returns: false when the other home does not show the new directory.
    func move(_ directory: Node, of app: ContainerIdentifier, along parent: Node, name: FileName) -> Bool {
        var gone: [Node] = []
        return state.withLock { state in
            guard let parent = state.counterpart(of: parent, for: app) else { return false }
            state.move(directory, to: parent, name: name, into: &gone)
            return true
        }
    }

    /// Takes the name of a directory away that was moved to a place which its home does not show.
    /// - Returns: its place before; nil when it had no name.
    func setApart(_ directory: Node, of app: ContainerIdentifier) -> (parent: Node, name: FileName)? {
        var gone: [Node] = []
        return state.withLock { state in
            guard state.holds(directory), let parent = directory.parent, let name = directory.name else { return nil }
            directory.parent = nil
            directory.name = nil
            Scope.cutOff(directory)
            state.set(directory.scope, .apart(app), of: directory)
            parent.children -= 1
            state.collect(parent, into: &gone)
            return (parent, name)
        }
    }
}

extension NodeTable.State {
    /// The node of an inode, whatever its epoch; for a directory, the node in this view.
    func node(of inode: UInt64, _ kind: Node.Kind, _ view: ContainerView?) -> Node? {
        guard let slot = byInode[inode], let first = slots[Int(slot)], first.kind == kind else { return nil }
        if first.view === view { return first }
        return furtherViews[inode]?.lazy.compactMap { slots[Int($0)] }.first { $0.view === view }
    }

    func nodes(_ inode: UInt64) -> [Node] {
        guard let first = byInode[inode] else { return [] }
        return ([first] + (furtherViews[inode] ?? [])).compactMap { slots[Int($0)] }
    }

    /// Makes a node without lookups.
    mutating func make(_ entry: FoundEntry) -> Node {
        let (inode, kind) = (entry.inode, entry.kind)
        let slot: UInt32
        if let free = free.popLast() {
            slot = free
        } else {
            slot = UInt32(slots.count)
            slots.append(nil)
        }
        serial &+= 1
        let node = Node(
            id: NodeID(slot: slot, epoch: epoch, tag: UInt16(truncatingIfNeeded: serial >> 32)),
            generation: UInt32(truncatingIfNeeded: serial), kind: kind, inode: inode, zone: entry.zone,
            parent: entry.parent, name: entry.name, view: entry.view)
        entry.parent.children += 1
        slots[Int(slot)] = node
        if kind == .directory, let known = byInode[inode], let first = slots[Int(known)], first.kind == kind,
            first.view !== entry.view
        {
            furtherViews[inode, default: []].append(slot)
        } else {
            // The node that had the number before is not found by it any more.
            byInode[inode] = slot
            if !furtherViews.isEmpty { furtherViews[inode] = nil }
        }
        return node
    }

    /// Makes a node impossible to find by its inode.
    mutating func releaseNumber(of node: Node) {
        let slot = UInt32(truncatingIfNeeded: node.id.slot)
        let further = furtherViews.isEmpty ? nil : furtherViews[node.inode]
        if byInode[node.inode] == slot {
            byInode[node.inode] = further?.last
            if let further { furtherViews[node.inode] = further.count > 1 ? further.dropLast() : nil }
        } else if let further {
            let rest = further.filter { $0 != slot }
            furtherViews[node.inode] = rest.isEmpty ? nil : rest
        }
    }

    /// Whether two nodes are one directory, in two homes perhaps.
    static func isSame(_ one: Node, _ other: Node) -> Bool {
        one === other || one.inode == other.inode && (one.view != nil || other.view != nil)
    }

    mutating func move(_ directory: Node, to parent: Node, name: FileName, into gone: inout [Node]) {
        guard holds(directory) else { return }
        let old = directory.parent
        directory.parent = parent
        directory.name = name
        parent.children += 1
        follow(directory)
        if let old {
            old.children -= 1
            collect(old, into: &gone)
        }
    }

    /// The node of a container's directory in another home, made if it is not known.
    /// - Returns: nil when the home does not know the container's own directory.
    fileprivate mutating func counterpart(of directory: Node, for app: ContainerIdentifier) -> Node? {
        // Up to the first directory that the other home knows, and down again.
        var way: [(directory: Node, name: FileName)] = []
        var next = directory
        var reached: Node
        while true {
            guard next.kind == .directory else { return nil }
            if let known = nodes(next.inode).first(where: { NodeTable.State.app(of: $0) == app }) {
                reached = known
                break
            }
            guard next.rare?.anchor == nil, let above = next.parent, let name = next.name else { return nil }
            way.append((next, name))
            next = above
        }
        for (directory, name) in way.reversed() {
            reached = make(
                FoundEntry(inode: directory.inode, kind: .directory, zone: directory.zone, parent: reached, name: name))
        }
        return reached
    }

    /// The home that a directory's node belongs to.
    static func app(of directory: Node) -> ContainerIdentifier? { directory.view?.app ?? directory.home?.app }
}
