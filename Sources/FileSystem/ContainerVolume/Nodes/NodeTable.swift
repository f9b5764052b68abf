// The nodes that the kernel knows, by the kernel's number and by the host's inode number.

import Platform
import SandboxModel
import Synchronization

/// The table of known nodes.
///
/// Lock rule: its lock is the innermost of the volume's locks. No system call is made and no object released while it
/// is held.
final class NodeTable: Sendable {
    struct State {
        var slots: [Node?]
        var free: [UInt32] = []
        var byInode: [UInt64: UInt32] = [:]
        /// Slots of directories that several homes show, beyond the first of each.
        var furtherViews: [UInt64: [UInt32]] = [:]
        /// The number of the last node that was made: 48 bits, of which the lower 32 are the node's generation and the
        /// others the tag of its ID. It begins at random, so that a file handle of another mount, or of an earlier
        /// boot, leads to no node.
        var serial = UInt64.random(in: 0..<1 << 48)
        var epoch: UInt16 = 0
        /// Slots of files of class A or B that were opened: the kernel may hold their pages.
        var protected: Set<UInt32> = []
    }

    let root: Node
    let state: ShortLock<State>
    /// Closes the descriptors of removed files: FORGET occupies the worker for which the next request waits.
    let released = DeferredRelease(name: "release", bound: min(16_384, OpenFileLimit.current / 4))

    /// - Parameter root: the node with the fixed number 1; it is never forgotten.
    init(root: Node) {
        self.root = root
        var state = State(slots: [nil, root])
        state.byInode[root.inode] = 1
        self.state = ShortLock(state)
    }

    /// The number of nodes. (The slot 0 is never used.)
    var count: Int { state.withLock { $0.slots.count - 1 - $0.free.count } }

    func node(_ id: NodeID) -> Node? {
        let slot = Int(id.slot)
        return state.withLock { state in
            guard slot < state.slots.count, let node = state.slots[slot], node.id == id else { return nil }
            return node
        }
    }

    /// The node of an inode of the host, if the kernel knows one.
    func known(inode: UInt64) -> Node? {
        state.withLock { state in
            state.byInode[inode].flatMap { state.slots[Int($0)] }.flatMap { State.isPurged($0) ? nil : $0 }
        }
    }

    /// Counts a lookup of a directory entry, and makes its node if it is not known.
    ///
    /// - Parameter prepare: completes a node that was made, before another call can find it.
    func lookUp(_ entry: FoundEntry, prepare: (Node) -> Void = { _ in }) -> Node {
        state.withLock { state in
            if let node = state.node(of: entry.inode, entry.kind, entry.view),
                entry.kind != .file || node.id.epoch == state.epoch, !State.isPurged(node)
            {
                node.lookups += 1
                State.addName(entry.parent, entry.name, to: node)
                return node
            }
            let node = state.make(entry)
            node.lookups = 1
            prepare(node)
            return node
        }
    }

    /// Takes lookups back. A node without lookups and children leaves the table, and so may the nodes above it.
    /// - Returns: the homes that left.
    func forget(_ id: NodeID, count: UInt64) -> [ContainerIdentifier] {
        // Released after the lock.
        var gone: [Node] = []
        var homes: [ContainerIdentifier] = []
        state.withLock { state in
            guard let node = state.slots.indices.contains(Int(id.slot)) ? state.slots[Int(id.slot)] : nil,
                node.id == id
            else { return }
            node.lookups -= min(count, node.lookups)
            state.collect(node, into: &gone)
        }
        // The directory cache keeps nodes alive for longer. They must not keep the descriptors of a home.
        for node in gone {
            if node.rare?.orphan != nil { released.add(node) }
            guard let home = node.ownHome else { continue }
            if node.kind == .home { homes.append(home.app) }
            node.scope?.ownHome = nil
        }
        return homes
    }

    /// Makes the next lookup of a file give a new node, because the kernel has a wrong length of this one.
    func renew(_ node: Node) {
        state.withLock { state in
            state.releaseNumber(of: node)
        }
    }

    /// Takes the last known name of a purged node. Nodes below it have no place then.
    ///
    /// No descriptor keeps the inode: another file may get the number, and must get another node.
    func purge(_ name: FileName, in parent: Node, of node: Node) {
        removeName(name, in: parent, of: node)
        state.withLock { state in
            guard state.holds(node), node.parent == nil else { return }
            state.releaseNumber(of: node)
            if node.isDirectory { node.scope?.isPurged = true }
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

    // MARK: Files whose pages the kernel may hold

    /// Adds a file of class A or B that was opened.
    func recordProtected(_ node: Node) {
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
        state.withLock { _ in node.names }
    }

    /// Runs `body` under the table's lock, so that no name comes or goes.
    func withNames<Result>(of node: Node, _ body: (Node) -> Result) -> Result {
        state.withLock { _ in body(node) }
    }

    /// The directory and name of a node; nil for a root, and for a node that has lost its last known name or was
    /// purged.
    func location(of node: Node) -> (parent: Node, name: FileName)? {
        state.withLock { state in
            guard !State.isPurged(node), let parent = node.parent, let name = node.name else { return nil }
            return (parent, name)
        }
    }

    /// The directories in which the node has a name that is known, each once.
    func parents(of node: Node) -> [Node] {
        state.withLock { _ in node.parents }
    }

    /// The number of known names beyond the first.
    func furtherNames(of node: Node) -> Int {
        state.withLock { _ in node.rare?.furtherNames.count ?? 0 }
    }

    /// Makes the next of a node's names its first, by which the node is reached.
    /// - Parameter refused: the first one, by which it is not; nothing happens where another thread has changed it.
    func preferNextName(of node: Node, to refused: (parent: Node, name: FileName)) {
        state.withLock { _ in
            guard let rare = node.rare, let parent = node.parent, let name = node.name,
                parent === refused.parent, name == refused.name,
                let next = rare.furtherNames.exchange((parent, name))
            else { return }
            node.parent = next.parent
            node.name = next.name
        }
    }

    /// Whether this is the only name by which the node is known, in whichever homes.
    func isOnlyName(_ name: FileName, in parent: Node, of node: Node) -> Bool {
        state.withLock { _ in
            guard let first = node.parent, State.isSame(first, parent), node.name == name else { return false }
            return node.rare?.furtherNames.isOnly(name, in: parent, isSame: State.isSame) ?? true
        }
    }

    /// Adds a name that a node was given, unless it is known.
    func addName(_ name: FileName, in parent: Node, to node: Node) {
        state.withLock { state in
            if state.holds(node) { State.addName(parent, name, to: node) }
        }
    }

    /// Takes a name away, in every home that shows the directory.
    /// - Returns: the nodes, in other homes, of the directory that had the name.
    @discardableResult
    func removeName(_ name: FileName, in parent: Node, of node: Node) -> [Node] {
        var gone: [Node] = []
        return state.withLock { state in
            // A node that was forgotten meanwhile has left its directories already.
            guard state.holds(node) else { return [] }
            var others: [Node] = []
            while let directory = State.removeOne(name, in: parent, of: node) {
                if directory !== parent { others.append(directory) }
                directory.children -= 1
                state.collect(directory, into: &gone)
            }
            // A directory without lookups was kept for its children only.
            state.collect(node, into: &gone)
            return others
        }
    }
}

extension NodeTable.State {
    /// Whether a node is still in the table.
    func holds(_ node: Node) -> Bool { slots[Int(node.id.slot)] === node }

    /// Takes one name of a node away, in this directory or in the same directory's node of another home.
    /// - Returns: the directory; nil when there is no such name.
    fileprivate static func removeOne(_ name: FileName, in parent: Node, of node: Node) -> Node? {
        if let first = node.parent, node.name == name, isSame(first, parent) {
            if let next = node.rare?.furtherNames.popLast() {
                node.parent = next.parent
                node.name = next.name
            } else {
                node.parent = nil
                node.name = nil
                if node.isDirectory { Scope.cutOff(node) }
            }
            return first
        }
        return node.rare?.furtherNames.remove(name, in: parent, isSame: isSame)
    }

    fileprivate static func addName(_ parent: Node, _ name: FileName, to node: Node) {
        if node.parent === parent, node.name == name { return }
        if node.parent == nil, node.rare?.anchor == nil {
            node.parent = parent
            node.name = name
            if node.isDirectory { node.scope = Scope.ofDirectory(node) }
        } else {
            let isKnown = node.rare?.furtherNames.contains(name, in: parent) ?? false
            if isKnown || node.isDirectory { return }
            node.withRare { $0.furtherNames.append(name, in: parent) }
        }
        parent.children += 1
    }

    /// Takes a node out of the table if nothing needs it, and then each node above that was kept only for it.
    mutating func collect(_ node: Node, into gone: inout [Node]) {
        var candidate: Node? = node
        while let node = candidate, node.lookups == 0, node.children == 0, node.id != .root {
            let slot = Int(node.id.slot)
            guard slots[slot] === node else { return }
            slots[slot] = nil
            if !protected.isEmpty { protected.remove(UInt32(slot)) }
            free.append(UInt32(slot))
            releaseNumber(of: node)
            gone.append(node)
            for further in node.rare?.furtherNames.all ?? [] {
                further.parent.children -= 1
                collect(further.parent, into: &gone)
            }
            let parent = node.parent
            parent?.children -= 1
            candidate = parent
        }
    }
}
