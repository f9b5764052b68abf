// Changes of a directory that all known nodes below it follow: each looks at every known node once.

import Platform
import SandboxModel
import Synchronization

/// The known nodes below a directory, by their first names. Each node is looked at once, at any depth.
struct NodesBelow {
    private enum Side: UInt8 {
        case unknown, below, elsewhere
    }

    private let directory: Node
    /// By slot.
    private var sides: [Side]

    init(_ directory: Node, in state: borrowing NodeTable.State) {
        self.directory = directory
        sides = Array(repeating: .unknown, count: state.slots.count)
    }

    /// - Parameter node: in the table. The directory itself is not below itself.
    mutating func contains(_ node: Node) -> Bool {
        var side = Side.elsewhere
        var above: Node? = node
        while let next = above {
            let known = sides[Int(next.id.slot)]
            if known != .unknown {
                side = known
                break
            }
            if next.parent === directory {
                side = .below
                break
            }
            above = next.parent
        }
        // Everything on the way is on the same side.
        let end = above
        above = node
        while let next = above {
            sides[Int(next.id.slot)] = side
            if next === end { break }
            above = next.parent
        }
        return side == .below
    }

    /// Whether a node is the directory, or below it.
    mutating func isReached(_ node: Node) -> Bool { node === directory || contains(node) }
}

extension NodeTable {
    /// Sets the zone of every node below a directory that was moved to another zone.
    func rezone(below directory: Node, to zone: Zone) {
        state.withLock { state in
            if directory.children == 0 { return }
            var below = NodesBelow(directory, in: state)
            for case let node? in state.slots where below.contains(node) { node.zone = zone }
        }
    }

    /// A known node and some of its names.
    typealias NamedNode = (node: Node, names: [(parent: Node, name: FileName)])

    /// Every node that has names below a directory, and those names.
    func nodes(named directory: Node) -> [NamedNode] {
        state.withLock { state in
            var below = NodesBelow(directory, in: state)
            return state.slots.compactMap { node -> NamedNode? in
                guard let node else { return nil }
                let names = node.names.filter { below.isReached($0.parent) }
                return names.isEmpty ? nil : (node, names)
            }
        }
    }
}

extension NodeTable.State {
    /// Whether a node is or lies below a purged directory, by its first name.
    static func isPurged(_ node: Node) -> Bool {
        (node.isDirectory ? node.scope : node.parent?.scope)?.isPurged ?? false
    }

    /// Gives a directory that has another place the scope and the view that are due there, with all below it.
    func follow(_ directory: Node) {
        let view = directory.parent?.view
        var scope: Scope?
        if !Scope.keep(of: directory) { scope = Scope.ofDirectory(directory) }
        if scope != nil || directory.view !== view { set(scope, view, of: directory) }
    }

    /// Sets the view of a directory and of those below it, and their scope if one is given.
    func set(_ scope: Scope?, _ view: ContainerView?, of directory: Node) {
        func set(_ node: Node) {
            if let scope { node.scope = scope }
            node.view = view
        }
        set(directory)
        if directory.children == 0 { return }
        var below = NodesBelow(directory, in: self)
        for case let node? in slots where node.kind == .directory && below.contains(node) { set(node) }
    }
}
