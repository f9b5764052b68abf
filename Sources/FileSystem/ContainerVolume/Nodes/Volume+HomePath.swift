// Where a node lies, for people: in whose home, and by which path.

import Platform
public import SandboxModel
import SandboxPolicy

/// A place in an app's home, as text.
public struct HomePath: Hashable, Sendable {
    /// Of a file in a container that several apps share, the one through whose home it was reached first.
    public let app: ContainerIdentifier?
    /// Relative to the home; empty for the home itself, and nil for what has no name any more. Bytes that are not
    /// UTF-8 show as replacement characters.
    public let path: String?
}

extension Volume {
    /// - Parameter name: an entry of the node, where that is meant.
    public func homePath(of node: NodeID, _ name: FileName? = nil) -> HomePath {
        guard let node = table.node(node) else { return HomePath(app: nil, path: nil) }
        return homePath(of: node, name)
    }

    /// - Returns: nil when the node of this inode of the host is not known.
    public func homePath(ofInode inode: UInt64) -> HomePath? {
        table.known(inode: inode).map { homePath(of: $0, nil) }
    }

    private func homePath(of node: Node, _ name: FileName?) -> HomePath {
        var names = name.map { [$0] } ?? []
        // The table's lock is held for moments only: text is made of the names after it.
        let (app, isBelowHome) = table.withNames(of: node) { node in
            var candidate: Node? = node
            while let next = candidate {
                // In a bundle that was replaced there are no names of the home any more.
                if let home = next.rare?.home { return (home.app as ContainerIdentifier?, next.kind == .home) }
                if let name = next.name { names.append(name) }
                candidate = next.parent
            }
            // Removed, it is below no home any more.
            return (root.rare?.home?.app, false)
        }
        guard isBelowHome else { return HomePath(app: app, path: nil) }
        return HomePath(app: app, path: names.reversed().map(\.text).joined(separator: "/"))
    }

    // MARK: Which side of a call was refused

    /// Whether a rule refuses this of a node.
    public func refuses(_ operation: Operation, _ node: NodeID, by rule: Rule) -> Bool {
        names.reading {
            table.node(node).map { SandboxPolicy.refusal(of: operation, in: $0.zone) == rule } ?? false
        }
    }

    /// Whether a rule refuses this of an entry, or, for an operation that gives a name, of its directory.
    public func refuses(_ operation: Operation, _ name: FileName, in parent: NodeID, by rule: Rule) -> Bool {
        names.reading {
            guard let parent = table.node(parent) else { return false }
            let zone = operation.givesName ? parent.zone : zone(of: name, in: parent)
            return SandboxPolicy.refusal(of: operation, in: zone) == rule
        }
    }
}
