// The files of a simulated host: a value that changes are applied to one by one, each of them or not.

import Glibc
import SandboxModel
import TestSupport

/// One page of a file, as it was after some write. A host writes pages whole.
struct HostPage {
    static let size = 4096
    static let zeros = [UInt8](repeating: 0, count: size)

    let bytes: [UInt8]
    /// The same for the same bytes.
    let digest: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        digest = bytes.hashValue
    }
}

/// A file, directory or symbolic link.
struct HostNode {
    var mode: UInt32
    var length = 0
    /// A missing page is zeros.
    var pages: [Int: HostPage] = [:]
    var attributes: [String: [UInt8]] = [:]
    /// Of a directory: the numbers of nodes.
    var entries: [String: Int] = [:]
    /// Of a symbolic link.
    var target: [UInt8] = []

    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }

    var content: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        for (index, page) in pages where index * HostPage.size < length {
            let start = index * HostPage.size
            let count = min(HostPage.size, length - start)
            bytes.overwrite(from: start, with: page.bytes, 0..<count)
        }
        return bytes
    }
}

/// One thing that a host keeps or loses as a whole.
enum HostChange {
    case make(Int, in: Int, String, HostNode)
    /// The page as it is from then on; nil for zeros.
    case page(Int, Int, HostPage?)
    /// The length is at least that.
    case grow(Int, Int)
    case cut(Int, Int)
    case attribute(Int, String, [UInt8]?)
    case mode(Int, UInt32)
    case link(Int, in: Int, String)
    case remove(Int, in: Int, String)
    case rename(Int, in: Int, String, to: Int, String, mayReplace: Bool)
    case exchange(Int, in: Int, String, with: Int, at: Int, String)

    /// The nodes whose fsync(2) makes the change durable: the file, or one of the directories.
    var nodes: [Int] {
        switch self {
        case .page(let node, _, _), .grow(let node, _), .cut(let node, _), .attribute(let node, _, _),
            .mode(let node, _):
            [node]
        case .make(_, let directory, _, _), .link(_, let directory, _), .remove(_, let directory, _): [directory]
        case .rename(_, let from, _, let to, _, _), .exchange(_, let from, _, _, let to, _): [from, to]
        }
    }

    /// Whether fdatasync(2) leaves the change out.
    var isOfStatus: Bool {
        switch self {
        case .attribute, .mode: true
        default: false
        }
    }
}

struct HostTree {
    static let root = 0
    var nodes: [Int: HostNode] = [:]

    /// A change that lacks an earlier one, on which it is built, does nothing.
    mutating func apply(_ change: HostChange) {
        switch change {
        case .make(let node, let directory, let name, let new):
            guard nodes[directory] != nil, nodes[directory]!.entries[name] == nil else { return }
            nodes[directory]!.entries[name] = node
            nodes[node] = new
        case .page(let node, let index, let page): nodes[node]?.pages[index] = page
        case .grow(let node, let length):
            guard let present = nodes[node]?.length else { return }
            nodes[node]!.length = max(present, length)
        case .cut(let node, let length): nodes[node]?.cut(to: length)
        case .attribute(let node, let name, let value): nodes[node]?.attributes[name] = value
        case .mode(let node, let mode): nodes[node]?.mode = mode
        case .link(let node, let directory, let name):
            guard nodes[node] != nil, nodes[directory] != nil, nodes[directory]!.entries[name] == nil else { return }
            nodes[directory]!.entries[name] = node
        case .remove(let node, let directory, let name):
            guard nodes[directory]?.entries[name] == node, nodes[node]!.entries.isEmpty else { return }
            nodes[directory]!.entries[name] = nil
        case .rename(let node, let from, let name, let to, let newName, let mayReplace):
            guard nodes[from]?.entries[name] == node, nodes[to] != nil else { return }
            if let present = nodes[to]!.entries[newName] {
                guard mayReplace, nodes[present]!.entries.isEmpty else { return }
            }
            nodes[from]!.entries[name] = nil
            nodes[to]!.entries[newName] = node
        case .exchange(let first, let from, let name, let second, let to, let newName):
            guard nodes[from]?.entries[name] == first, nodes[to]?.entries[newName] == second else { return }
            nodes[from]!.entries[name] = second
            nodes[to]!.entries[newName] = first
        }
    }

    /// The same for trees that look the same.
    var digest: Int {
        var hasher = Hasher()
        // Directories by name; a node with two names gives the same twice, and two nodes with equal content likewise.
        var pending = [HostTree.root]
        while let number = pending.popLast(), let node = nodes[number] {
            hasher.combine(node.mode)
            hasher.combine(node.length)
            hasher.combine(node.target)
            hasher.combine(node.pages.reduce(0) { $0 &+ ($1.key &* 31 &+ 1) &* $1.value.digest })
            hasher.combine(node.attributes)
            for (name, child) in node.entries.sorted(by: { $0.key < $1.key }) {
                hasher.combine(name)
                pending.append(child)
            }
        }
        return hasher.finalize()
    }

    /// The first paths at which two trees differ.
    func differences(from other: HostTree) -> [String] {
        var found: [String] = []
        var pending = [("", HostTree.root, HostTree.root)]
        while let (path, mine, its) = pending.popLast(), found.count < 10 {
            let (node, twin) = (nodes[mine]!, other.nodes[its]!)
            if node.mode != twin.mode { found.append("\(path): mode \(node.mode), \(twin.mode)") }
            if node.attributes != twin.attributes { found.append("\(path): attributes") }
            if node.target != twin.target { found.append("\(path): target") }
            if node.length != twin.length { found.append("\(path): length \(node.length), \(twin.length)") }
            if node.content != twin.content { found.append("\(path): content") }
            for name in Set(node.entries.keys).union(twin.entries.keys) {
                if let child = node.entries[name], let childTwin = twin.entries[name] {
                    pending.append(("\(path)/\(name)", child, childTwin))
                } else {
                    found.append("\(path)/\(name): in one of them")
                }
            }
        }
        return found
    }
}

extension HostNode {
    fileprivate mutating func cut(to length: Int) {
        self.length = length
        let last = length / HostPage.size
        pages = pages.filter { $0.key <= last }
        guard let page = pages[last] else { return }
        var bytes = page.bytes
        bytes.clear(length % HostPage.size..<HostPage.size)
        pages[last] = HostPage(bytes)
    }
}
