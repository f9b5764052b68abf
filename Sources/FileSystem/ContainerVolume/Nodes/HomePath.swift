// The place of a node for people: the app's home, and the path in it, which is bounded.

import Platform
public import SandboxModel

/// A place in an app's home, as text.
public struct HomePath: Hashable, Sendable {
    /// For a file in a container that several apps share, the app through whose home the file was reached first.
    public let app: ContainerIdentifier?
    /// Relative to the home; empty for the home itself, and nil for a node without a name. Bytes that are not UTF-8
    /// show as replacement characters. A path of more than ``longest`` bytes is its end, after ``mark``.
    public let path: String?
    /// Bytes that ``path`` leaves out at its head. 0 for a path that is complete.
    public let cut: Int
    /// The bytes of ``path`` where they are not UTF-8.
    public let bytes: [UInt8]?

    init(app: ContainerIdentifier?, path: String?, cut: Int, bytes: [UInt8]? = nil) {
        self.app = app
        self.path = path
        self.cut = cut
        self.bytes = bytes
    }

    /// Anything in a home: a path of which all is left out.
    static func anything(of app: ContainerIdentifier?) -> HomePath { HomePath(app: app, path: mark, cut: 1) }

    /// Bytes of names and slashes that a path has at most.
    public static let longest = 1024
    /// Stands for the head that is left out.
    public static let mark = "…/"
    /// Directories that are looked at on the way to the home: a caller pays for so many steps, however deep it goes.
    static let deepest = 4096
}

extension NodeTable {
    /// The place of a node, or of an entry of it. The cost is bounded by ``HomePath/longest`` and ``HomePath/deepest``,
    /// because an app may nest directories as deep as it likes.
    func homePath(of node: Node, _ name: FileName? = nil) -> HomePath {
        var end = PathEnd()
        if let name { end.add(name) }
        // The table's lock is held for moments only: text is made of the names after it.
        let (app, isBelowHome) = withNames(of: node) { node in
            var candidate: Node? = node
            var (steps, app) = (0, ContainerIdentifier?.none)
            while let next = candidate {
                // In a bundle that was replaced, names do not lead to the home any more.
                if let home = next.ownHome { return (home.app as ContainerIdentifier?, next.kind == .home) }
                if let name = next.name { end.add(name) }
                app = app ?? next.view?.app
                steps += 1
                if steps == HomePath.deepest { return (app ?? root.scope?.ownHome?.app, true) }
                candidate = next.parent
            }
            // A removed node is below no home.
            return (root.scope?.ownHome?.app, false)
        }
        guard isBelowHome else { return HomePath(app: app, path: nil, cut: 0) }
        return HomePath(app: app, path: end.text, cut: end.cut, bytes: end.bytes)
    }
}

/// The last names of a path, gathered from its end.
private struct PathEnd {
    private var names: [FileName] = []
    private var length = 0
    /// Bytes of the names that found no space, with their slashes.
    private(set) var cut = 0

    mutating func add(_ name: FileName) {
        // The terminator counts for the slash.
        let size = name.terminated.count
        if cut == 0, length + size <= HomePath.longest {
            names.append(name)
            length += size
        } else {
            cut += size
        }
    }

    /// nil where text has all of them.
    var bytes: [UInt8]? {
        let bytes = names.reversed().joined
        return String(validating: bytes, as: UTF8.self) == nil ? bytes : nil
    }

    var text: String { (cut > 0 ? HomePath.mark : "") + names.reversed().text }
}
