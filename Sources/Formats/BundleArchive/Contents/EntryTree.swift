// The directory tree that an archive's names describe.

import SandboxModel

/// All entries of an archive as a tree, with the directories that have no entry of their own.
///
/// There is one node for each name in each directory, so that the tree takes no more memory than the names.
struct EntryTree {
    enum Kind {
        case directory, file, symbolicLink
    }

    /// A file, directory or link. Nodes are known by their index.
    struct Node {
        let parent: Int
        let name: FileName
        let kind: Kind
    }

    /// The key of a node: its name in its parent.
    private struct Place: Hashable {
        let parent: Int
        let name: FileName
    }

    /// All nodes: the root first, every directory before its content.
    private(set) var nodes = [Node(parent: 0, name: "root", kind: .directory)]
    private var places: [Place: Int] = [:]
    private let limits: AppArchive.Limits

    init(limits: AppArchive.Limits) {
        self.limits = limits
    }

    func child(of parent: Int, named name: FileName) -> Int? { places[Place(parent: parent, name: name)] }

    /// The names from below a node's ancestor down to the node.
    func path(of node: Int, below ancestor: Int = 0) -> [FileName] {
        var names: [FileName] = []
        var node = node
        while node != ancestor, node != 0 {
            names.append(nodes[node].name)
            node = nodes[node].parent
        }
        names.reverse()
        return names
    }

    /// The path of a node, for messages.
    func shown(_ node: Int) -> String { path(of: node).map(\.bytes).joined(separator: "/".utf8).map { $0 }.shown }

    /// Inserts an entry, and the directories above it that are missing.
    /// - Parameter name: the path in the archive; that of a directory may end with a slash.
    /// - Returns: the entry's node; 0 for the root itself.
    /// - Throws: ``ArchiveFault/refused(_:)`` for an invalid path, and for two entries of one path.
    mutating func insert(_ name: [UInt8], _ kind: Kind) throws(ArchiveFault) -> Int {
        let path = try components(of: name, kind)
        var node = 0
        for (index, part) in path.enumerated() {
            let isLast = index == path.count - 1
            if let known = child(of: node, named: part) {
                let isDirectory = nodes[known].kind == .directory
                if isLast, !isDirectory || kind != .directory {
                    throw .refused("\(name.shown) is there twice")
                }
                if !isLast, !isDirectory {
                    throw .refused("\(name.shown) lies in \(shown(known)), which is not a directory")
                }
                node = known
            } else {
                guard nodes.count <= limits.entries else { throw .refused("has more than \(limits.entries) entries") }
                nodes.append(Node(parent: node, name: part, kind: isLast ? kind : .directory))
                places[Place(parent: node, name: part)] = nodes.count - 1
                node = nodes.count - 1
            }
        }
        return node
    }

    /// Splits a path. A `./` at its beginning is dropped; `..`, absolute paths and empty parts are refused.
    private func components(of name: [UInt8], _ kind: Kind) throws(ArchiveFault) -> [FileName] {
        let slash = UInt8(ascii: "/")
        guard !name.isEmpty else { throw .refused("has an entry without a name") }
        guard name.first != slash else { throw .refused("\(name.shown) has an absolute name") }
        guard !name.contains(0) else { throw .refused("\(name.shown) has a name with a NUL in it") }
        var parts = name.split(separator: slash, omittingEmptySubsequences: false)
        if parts.first?.elementsEqual([UInt8(ascii: ".")]) == true { parts.removeFirst() }
        if kind == .directory, parts.last?.isEmpty == true { parts.removeLast() }
        guard parts.count <= limits.depth else {
            throw .refused("\(name.shown) lies deeper than \(limits.depth) directories")
        }
        var path: [FileName] = []
        for part in parts {
            guard let name = FileName(part) else {
                let isUp = part.elementsEqual("..".utf8)
                let flaw =
                    part.count > FileName.maximumLength
                    ? "with a part of more than 255 bytes"
                    : isUp ? "with a \"..\" in it" : "with an empty part or a \".\" in it"
                throw .refused("\(name.shown) has a name \(flaw)")
            }
            path.append(name)
        }
        guard !path.isEmpty || kind == .directory else { throw .refused("\(name.shown) is no name for a file") }
        return path
    }
}
