// The place of a node for people: the app's home, and the path in it.

import Platform
public import SandboxModel

/// A place in an app's home, as text.
public struct HomePath: Hashable, Sendable {
    /// For a file in a container that several apps share, the app through whose home the file was reached first.
    public let app: ContainerIdentifier?
    /// Relative to the home; empty for the home itself, and nil for a node without a name. Bytes that are not UTF-8
    /// show as replacement characters.
    public let path: String?
}

extension NodeTable {
    /// The place of a node, or of an entry of it.
    func homePath(of node: Node, _ name: FileName? = nil) -> HomePath {
        var names = name.map { [$0] } ?? []
        // The table's lock is held for moments only: text is made of the names after it.
        let (app, isBelowHome) = withNames(of: node) { node in
            var candidate: Node? = node
            while let next = candidate {
                // In a bundle that was replaced, names do not lead to the home any more.
                if let home = next.ownHome { return (home.app as ContainerIdentifier?, next.kind == .home) }
                if let name = next.name { names.append(name) }
                candidate = next.parent
            }
            // A removed node is below no home.
            return (root.scope?.ownHome?.app, false)
        }
        guard isBelowHome else { return HomePath(app: app, path: nil) }
        return HomePath(app: app, path: names.reversed().map(\.text).joined(separator: "/"))
    }
}
