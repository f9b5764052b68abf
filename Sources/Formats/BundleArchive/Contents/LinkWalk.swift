// The check that no symbolic link of an archive leads out of the app.

import SandboxModel

/// Resolves the symbolic links of an app by the archive's names alone. Each is resolved once, however many lead to it.
struct LinkWalk {
    /// The end of a resolved link.
    private enum End {
        /// A node, or a path that does not exist, `below` names below it.
        case place(Int, below: Int)
        /// A loop, through which no file is reached.
        case nowhere
        case outside
    }

    private let tree: EntryTree
    private let app: Int
    private let targets: [Int: [UInt8]]
    private var ends: [Int: End] = [:]

    /// The limit of links in links: the kernel's own (path_resolution(7)).
    private static let longestChain = 40

    init(_ tree: EntryTree, app: Int, targets: [Int: [UInt8]]) {
        (self.tree, self.app, self.targets) = (tree, app, targets)
    }

    /// Checks one link.
    /// - Throws: ``ArchiveFault/refused(_:)`` if any step of its path leads out of the app.
    mutating func check(_ link: Int) throws(ArchiveFault) {
        if case .outside = try follow(link, chain: 1) {
            throw .refused("\(tree.shown(link)) is a symbolic link out of the bundle")
        }
    }

    /// Resolves a link, once.
    private mutating func follow(_ link: Int, chain: Int) throws(ArchiveFault) -> End {
        if let end = ends[link] { return end }
        guard chain <= LinkWalk.longestChain else {
            throw .refused("\(tree.shown(link)) is at the end of too many symbolic links")
        }
        // The answer for a link that leads back to this one: a loop.
        ends[link] = .nowhere
        let end = try walk(link, chain)
        ends[link] = end
        return end
    }

    /// Walks along the target of a link, name by name.
    private mutating func walk(_ link: Int, _ chain: Int) throws(ArchiveFault) -> End {
        let target = targets[link] ?? []
        if target.first == UInt8(ascii: "/") { return .outside }
        var (place, below) = (tree.nodes[link].parent, 0)
        for step in target.split(separator: UInt8(ascii: "/")) where !step.elementsEqual(".".utf8) {
            if step.elementsEqual("..".utf8) {
                if below > 0 {
                    below -= 1
                } else if place == app {
                    return .outside
                } else {
                    place = tree.nodes[place].parent
                }
                continue
            }
            guard below == 0, let name = FileName(step), let next = tree.child(of: place, named: name) else {
                below += 1
                continue
            }
            place = next
            guard tree.nodes[next].kind == .symbolicLink else { continue }
            let end = try follow(next, chain: chain + 1)
            guard case .place(let reached, let missing) = end else { return end }
            (place, below) = (reached, missing)
        }
        return .place(place, below: below)
    }
}
