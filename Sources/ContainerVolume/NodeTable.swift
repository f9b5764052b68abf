// Which nodes the kernel knows, by its number for them and by the host's.

import SandboxModel
import Synchronization

/// The table of known nodes.
///
/// Its lock is the innermost of the volume's locks: no system call is made and no object released while it is held.
final class NodeTable: Sendable {
    fileprivate struct State {
        var slots: [Node?]
        var free: [UInt32] = []
        var byInode: [UInt64: UInt32] = [:]
        var generation: UInt32 = 0
        var epoch: UInt16 = 0
        /// Slots of files of class A or B that were opened: the kernel may hold pages of them.
        var protected: Set<UInt32> = []
        /// Slots of directories that were purged, for as long as they are known. What lies below them is nowhere, and
        /// the host may give its inode numbers to others.
        var purged: Set<UInt32> = []
    }

    private let state: Mutex<State>

    /// - Parameter root: the node with the fixed number 1; it is never forgotten.
    init(root: Node) {
        var state = State(slots: [nil, root])
        state.byInode[root.inode] = 1
        self.state = Mutex(state)
    }

    /// The slot 0 is never used.
    var count: Int { state.withLock { $0.slots.count - 1 - $0.free.count } }

    func node(_ id: NodeID) -> Node? {
        let slot = Int(id.slot)
        return state.withLock { state in
            guard slot < state.slots.count, let node = state.slots[slot], node.id == id else { return nil }
            return node
        }
    }

    func known(inode: UInt64) -> Node? {
        state.withLock { state in
            state.byInode[inode].flatMap { state.slots[Int($0)] }.flatMap { state.isPurged($0) ? nil : $0 }
        }
    }

    /// The node of a directory entry that the host has, made if it is not known; looked up once more.
    func lookUp(
        inode: UInt64, kind: Node.Kind, zone: Zone, parent: Node, name: FileName, prepare: (Node) -> Void = { _ in }
    ) -> Node {
        state.withLock { state in
            if let slot = state.byInode[inode], let node = state.slots[Int(slot)], node.kind == kind,
                kind != .file || node.id.epoch == state.epoch, !state.isPurged(node)
            {
                node.lookups += 1
                State.addName(parent, name, to: node)
                return node
            }
            let slot: UInt32
            if let free = state.free.popLast() {
                slot = free
            } else {
                slot = UInt32(state.slots.count)
                state.slots.append(nil)
            }
            state.generation &+= 1
            let node = Node(
                id: NodeID(slot: UInt64(slot), epoch: state.epoch), generation: state.generation, kind: kind,
                inode: inode, zone: zone, parent: parent, name: name)
            node.lookups = 1
            parent.children += 1
            prepare(node)
            state.slots[Int(slot)] = node
            state.byInode[inode] = slot
            return node
        }
    }

    /// Takes lookups back; a node that nothing knows any more is let go, and so may be those above it.
    func forget(_ id: NodeID, count: UInt64) {
        // Released after the lock: the last reference to a removed file frees its blocks on the host.
        var gone: [Node] = []
        state.withLock { state in
            guard let node = state.slots.indices.contains(Int(id.slot)) ? state.slots[Int(id.slot)] : nil,
                node.id == id
            else { return }
            node.lookups -= min(count, node.lookups)
            state.collect(node, into: &gone)
        }
        // Descriptors of directories are kept for longer than their nodes, and are not to keep what a home has open.
        for node in gone where node.rare?.home != nil { node.rare?.home = nil }
    }

    /// Makes the next lookup of a file give a new node: the kernel has a wrong idea of this one's length.
    func renew(_ node: Node) {
        state.withLock { state in
            if state.byInode[node.inode] == UInt32(truncatingIfNeeded: node.id.slot) {
                state.byInode[node.inode] = nil
            }
        }
    }

    /// Takes the last known name of a node that was purged, and with it all that is known to lie below.
    ///
    /// No descriptor keeps its inode: another may come to have the number, and is to get another node.
    func purge(_ name: FileName, in parent: Node, of node: Node) {
        removeName(name, in: parent, of: node)
        state.withLock { state in
            guard state.holds(node), node.parent == nil else { return }
            let slot = UInt32(truncatingIfNeeded: node.id.slot)
            if state.byInode[node.inode] == slot { state.byInode[node.inode] = nil }
            if node.isDirectory { state.purged.insert(slot) }
        }
    }

    /// Looks a known node up once more.
    /// - Returns: nil when it is not known any more.
    func lookUpAgain(_ id: NodeID) -> Node? {
        state.withLock { state in
            guard state.slots.indices.contains(Int(id.slot)), let node = state.slots[Int(id.slot)], node.id == id else {
                return nil
            }
            node.lookups += 1
            return node
        }
    }

    // MARK: What the kernel may hold pages of

    func noteProtected(_ node: Node) {
        state.withLock { _ = $0.protected.insert(UInt32(truncatingIfNeeded: node.id.slot)) }
    }

    /// The files of class A or B that were opened since the kernel knows them.
    var protectedFiles: [Node] {
        state.withLock { state in state.protected.compactMap { state.slots[Int($0)] } }
    }

    /// Every regular file that is known.
    var files: [Node] {
        state.withLock { state in state.slots.compactMap { $0?.kind == .file ? $0 : nil } }
    }

    /// Gives every regular file that is looked up from now on a new node.
    /// - Returns: the epoch that has begun.
    func beginEpoch() -> UInt16 {
        state.withLock { state in
            state.epoch &+= 1
            return state.epoch
        }
    }

    // MARK: Names

    /// Every directory and name by which a node is known.
    func names(of node: Node) -> [(parent: Node, name: FileName)] {
        state.withLock { _ in
            guard let parent = node.parent, let name = node.name else { return [] }
            return [(parent, name)] + (node.rare?.furtherNames ?? [])
        }
    }

    func withNames<Result>(of node: Node, _ body: (Node) -> Result) -> Result {
        state.withLock { _ in body(node) }
    }

    /// Where the node lies: a directory and a name; nil for a root, and after its last known name went, or was purged.
    func location(of node: Node) -> (parent: Node, name: FileName)? {
        state.withLock { state in
            guard !state.isPurged(node), let parent = node.parent, let name = node.name else { return nil }
            return (parent, name)
        }
    }

    /// The directories in which the node has a name that is known.
    func parents(of node: Node) -> [Node] {
        state.withLock { _ in
            guard let first = node.parent else { return [] }
            return [first] + (node.rare?.furtherNames.map(\.parent) ?? [])
        }
    }

    /// How many names beyond the first a node is known by.
    func furtherNames(of node: Node) -> Int {
        state.withLock { _ in node.rare?.furtherNames.count ?? 0 }
    }

    /// Makes another of a node's names the one that it is found by.
    func preferNextName(of node: Node) {
        state.withLock { _ in
            guard let rare = node.rare, !rare.furtherNames.isEmpty, let parent = node.parent, let name = node.name
            else { return }
            let next = rare.furtherNames.removeFirst()
            rare.furtherNames.append((parent, name))
            node.parent = next.parent
            node.name = next.name
        }
    }

    /// Whether this is the only name by which the node is known.
    func isOnlyName(_ name: FileName, in parent: Node, of node: Node) -> Bool {
        state.withLock { _ in
            guard node.parent === parent, node.name == name else { return false }
            return node.rare?.furtherNames.isEmpty ?? true
        }
    }

    func addName(_ name: FileName, in parent: Node, to node: Node) {
        state.withLock { state in
            if state.holds(node) { State.addName(parent, name, to: node) }
        }
    }

    func removeName(_ name: FileName, in parent: Node, of node: Node) {
        var gone: [Node] = []
        state.withLock { state in
            // One that was forgotten meanwhile has been taken from its directories already.
            guard state.holds(node) else { return }
            if node.parent === parent, node.name == name {
                if let next = node.rare?.furtherNames.popLast() {
                    node.parent = next.parent
                    node.name = next.name
                } else {
                    node.parent = nil
                    node.name = nil
                }
            } else if let index = node.rare?.furtherNames.firstIndex(where: { $0.parent === parent && $0.name == name })
            {
                node.rare?.furtherNames.remove(at: index)
            } else {
                return
            }
            parent.children -= 1
            state.collect(parent, into: &gone)
        }
    }

    /// Tells every node below a directory that was moved to another zone which zone it is in now.
    func rezone(below directory: Node, to zone: Zone) {
        state.withLock { state in
            for case let node? in state.slots where State.isBelow(node, directory) { node.zone = zone }
        }
    }

    /// A known node and some of its names.
    typealias NamedNode = (node: Node, names: [(parent: Node, name: FileName)])

    /// Every node that has names below a directory, and those names.
    func nodes(named directory: Node) -> [NamedNode] {
        state.withLock { state in
            state.slots.compactMap { node -> NamedNode? in
                guard let node, let parent = node.parent, let name = node.name else { return nil }
                let names = [(parent: parent, name: name)] + (node.rare?.furtherNames ?? [])
                let below = names.filter { $0.parent === directory || State.isBelow($0.parent, directory) }
                return below.isEmpty ? nil : (node, below)
            }
        }
    }

    /// Gives a directory, which has one name only, another.
    func move(_ directory: Node, to parent: Node, name: FileName) {
        var gone: [Node] = []
        state.withLock { state in
            guard state.holds(directory) else { return }
            let old = directory.parent
            directory.parent = parent
            directory.name = name
            parent.children += 1
            if let old {
                old.children -= 1
                state.collect(old, into: &gone)
            }
        }
    }
}

extension NodeTable.State {
    /// Whether a node is or lies below a directory that was purged, by the name that it is found by. Nearly always there
    /// is none.
    fileprivate func isPurged(_ node: Node) -> Bool {
        if purged.isEmpty { return false }
        var candidate: Node? = node
        while let next = candidate {
            if purged.contains(UInt32(truncatingIfNeeded: next.id.slot)) { return true }
            candidate = next.parent
        }
        return false
    }

    fileprivate func holds(_ node: Node) -> Bool { slots[Int(node.id.slot)] === node }

    fileprivate static func addName(_ parent: Node, _ name: FileName, to node: Node) {
        if node.parent === parent, node.name == name { return }
        if node.parent == nil, node.rare?.anchor == nil {
            node.parent = parent
            node.name = name
        } else {
            let isKnown = node.rare?.furtherNames.contains { $0.parent === parent && $0.name == name } ?? false
            if isKnown || node.isDirectory { return }
            node.withRare { $0.furtherNames.append((parent, name)) }
        }
        parent.children += 1
    }

    fileprivate static func isBelow(_ node: Node, _ directory: Node) -> Bool {
        var above = node.parent
        while let next = above {
            if next === directory { return true }
            above = next.parent
        }
        return false
    }

    /// Takes a node out of the table if nothing needs it, and then what was kept for its sake only.
    fileprivate mutating func collect(_ node: Node, into gone: inout [Node]) {
        var candidate: Node? = node
        while let node = candidate, node.lookups == 0, node.children == 0, node.id != .root {
            let slot = Int(node.id.slot)
            guard slots[slot] === node else { return }
            slots[slot] = nil
            if !protected.isEmpty { protected.remove(UInt32(slot)) }
            if !purged.isEmpty { purged.remove(UInt32(slot)) }
            free.append(UInt32(slot))
            if byInode[node.inode] == UInt32(slot) { byInode[node.inode] = nil }
            gone.append(node)
            for further in node.rare?.furtherNames ?? [] {
                further.parent.children -= 1
                collect(further.parent, into: &gone)
            }
            let parent = node.parent
            parent?.children -= 1
            candidate = parent
        }
    }
}
