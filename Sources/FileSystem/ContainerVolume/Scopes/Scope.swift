// The facts that a directory hands down, held by the directory itself: no call walks up for them, at any depth.

import SandboxModel

/// A part of a home whose directories have the same home, and are purged or taken away together.
///
/// A home has a scope. So have the entries of it that an update exchanges, and each entry of `Library/Caches` and
/// `tmp`.
/// Every other directory has the scope of the directory above it. A file has none: it asks its directory.
///
/// At most four lie above each other. So a directory that comes to lie in an entry of `Library/Caches` takes that
/// entry's scope, with all below it, and none of its own.
///
/// Lock rule: as for a node's `parent`.
final class Scope: @unchecked Sendable {
    /// nil for the scope of a root.
    private(set) var above: Scope?
    /// The directory that the scope begins with, for as long as it is in memory. It holds its scope.
    private(set) weak var top: Node?
    /// Whether the scope began as an entry of `Library/Caches` or `tmp`.
    let isInner: Bool
    /// Whether it is one now.
    private(set) var isPurgeable: Bool
    /// The home, in the scope of a home's own node, and of a bundle that an update has replaced.
    var ownHome: Home?
    /// Whether the directory that the scope begins with has lost its name: what is below it has no home.
    private(set) var isCutOff = false
    /// Whether it was purged: what is below it has no place, and the host may give its inode numbers to other files.
    var isPurged = false

    private init(_ top: Node, above: Scope?, isInner: Bool) {
        self.top = top
        self.above = above
        self.isInner = isInner
        isPurgeable = isInner
    }

    /// The home that everything in the scope belongs to; nil where there is none.
    var home: Home? {
        var scope: Scope? = self
        while let next = scope {
            if let home = next.ownHome { return home }
            if next.isCutOff { return nil }
            scope = next.above
        }
        return nil
    }

    /// The entry of `Library/Caches` or `tmp` that the scope is.
    var purgeableEntry: Node? { isPurgeable && !isCutOff ? top : nil }

    /// The scope of a directory that becomes known, or comes to another place without one of its own.
    static func ofDirectory(_ node: Node) -> Scope {
        guard let parent = node.parent, let above = parent.scope else { return Scope(node, above: nil, isInner: false) }
        if node.kind == .home { return Scope(node, above: above, isInner: false) }
        if parent.purgeableDirectory != nil { return Scope(node, above: above, isInner: true) }
        if parent.kind == .home, node.zone != .documents, node.zone != .containers, node.name != HomeLayout.library {
            return Scope(node, above: above, isInner: false)
        }
        return above
    }

    /// Takes the home away from a directory that has lost its name, and from all that has its scope.
    static func cutOff(_ node: Node) {
        if node.scope?.top !== node { node.scope = Scope(node, above: nil, isInner: false) }
        node.scope?.isCutOff = true
    }

    /// Keeps the scope of a directory at its new place, if it is the directory's own and stays right: then all below
    /// the directory comes along.
    /// - Returns: false if another scope is due.
    static func keep(of node: Node) -> Bool {
        guard let scope = node.scope, let parent = node.parent, let above = parent.scope else { return false }
        let isPurgeable = parent.purgeableDirectory != nil
        if scope === above { return !isPurgeable }
        guard scope.top === node, scope.isInner, !above.isInner, !scope.isCutOff else { return false }
        scope.above = above
        scope.isPurgeable = isPurgeable
        return true
    }
}
