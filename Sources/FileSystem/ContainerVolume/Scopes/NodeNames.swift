// The names of a file beyond its first, found in constant time however many there are.

import SandboxModel

/// Further known names of a hard-linked file, without order.
struct NodeNames {
    typealias Name = (parent: Node, name: FileName)

    /// A name in a directory, whichever home shows the directory.
    private struct Key: Hashable {
        let directory: UInt64
        let name: FileName

        init(_ name: Name) {
            directory = name.parent.inode
            self.name = name.name
        }
    }

    private(set) var all: [Name] = []
    /// The places of each name in `all`: several only where several homes show the directory.
    private var places: [Key: [Int]] = [:]
    /// How many of the names each directory has, and one that it had.
    private var counts: [ObjectIdentifier: (directory: Node, name: FileName, names: Int)] = [:]
    /// The place of the name that is preferred next.
    private var turn = 0

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }

    /// The directories that have the names, each once.
    var directories: [Node] { counts.values.map(\.directory) }

    /// Each directory that has names, with one that it has or had.
    var inEachDirectory: [Name] { counts.values.map { ($0.directory, $0.name) } }

    func contains(_ name: FileName, in parent: Node) -> Bool {
        places[Key((parent, name))]?.contains { all[$0].parent === parent } ?? false
    }

    /// Whether all are one name in one directory, in whichever homes.
    func isOnly(_ name: FileName, in parent: Node, isSame: (Node, Node) -> Bool) -> Bool {
        all.allSatisfy { isSame($0.parent, parent) && $0.name == name }
    }

    mutating func append(_ name: FileName, in parent: Node) {
        places[Key((parent, name)), default: []].append(all.count)
        all.append((parent, name))
        counts[ObjectIdentifier(parent), default: (parent, name, 0)].names += 1
    }

    /// Removes a name.
    /// - Parameter isSame: whether two nodes are one directory.
    /// - Returns: the directory that had it; nil when there is no such name.
    mutating func remove(_ name: FileName, in parent: Node, isSame: (Node, Node) -> Bool) -> Node? {
        let found = places[Key((parent, name))]?.first { isSame(all[$0].parent, parent) }
        return found.map { remove(at: $0).parent }
    }

    mutating func popLast() -> Name? { all.isEmpty ? nil : remove(at: all.count - 1) }

    /// Gives another name for this one: each in its turn.
    mutating func exchange(_ name: Name) -> Name? {
        guard !all.isEmpty else { return nil }
        let other = remove(at: turn % all.count)
        append(name.name, in: name.parent)
        turn += 1
        return other
    }

    private mutating func remove(at place: Int) -> Name {
        let removed = all[place]
        dropPlace(place, of: removed)
        let last = all.removeLast()
        if place < all.count {
            all[place] = last
            dropPlace(all.count, of: last)
            places[Key(last), default: []].append(place)
        }
        let directory = ObjectIdentifier(removed.parent)
        counts[directory]!.names -= 1
        if counts[directory]!.names == 0 { counts[directory] = nil }
        return removed
    }

    private mutating func dropPlace(_ place: Int, of name: Name) {
        let key = Key(name)
        places[key]!.removeAll { $0 == place }
        if places[key]!.isEmpty { places[key] = nil }
    }
}

extension Node {
    /// Every name by which the node is known. The caller holds the table's lock.
    var names: [NodeNames.Name] {
        guard let parent, let name else { return [] }
        return [(parent, name)] + (rare?.furtherNames.all ?? [])
    }

    /// The directories in which the node has names, each once. The caller holds the table's lock.
    var parents: [Node] {
        guard let parent else { return [] }
        let further = rare?.furtherNames.directories ?? []
        return [parent] + further.filter { $0 !== parent }
    }
}
