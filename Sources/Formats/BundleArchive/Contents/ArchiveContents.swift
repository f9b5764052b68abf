// The check of an archive's entries, before anything is written.

import Glibc
import Platform
import SandboxModel

/// The entries of an archive that passed the check: they make up one app, within the limits.
struct ArchiveContents {
    /// An entry with its node in the tree.
    struct Entry {
        let record: ZipRecord
        let kind: EntryTree.Kind
        let node: Int
        /// The permission bits that the file or directory gets.
        let permissions: mode_t
    }

    /// In the order in which libarchive gives them.
    let entries: [Entry]
    let tree: EntryTree
    /// The node of `Payload/NAME.app`.
    let app: Int
    /// For each node, whether it is the app or lies in it. Other nodes are skipped.
    let isInApp: [Bool]

    /// Reads the central directory of an archive, and checks names, kinds and sizes.
    /// - Throws: ``ArchiveFault``.
    init(of file: borrowing Descriptor, limits: AppArchive.Limits) throws(ArchiveFault) {
        let length = try onHost { () throws(SystemError) in try file.status().size }
        let records = try CentralDirectory(of: file, length: length, limits: limits).records
        var tree = EntryTree(limits: limits)
        var entries: [Entry] = []
        var (total, links): (Int64, Int) = (0, 0)
        for record in records {
            let kind = try ArchiveContents.kind(of: record)
            let node = try tree.insert(record.name, kind)
            entries.append(
                Entry(
                    record: record, kind: kind, node: node, permissions: ArchiveContents.permissions(record.mode, kind))
            )
            let (sum, overflow) = total.addingReportingOverflow(record.size)
            total = overflow ? .max : sum
            if kind == .symbolicLink { links += 1 }
        }
        guard links <= limits.links else { throw .refused("has more than \(limits.links) symbolic links") }
        guard total <= limits.bytes else { throw .refused("unpacks to more than \(limits.bytes) bytes") }
        // Divided rather than multiplied, which could overflow.
        guard total <= limits.bytesOfAnyRatio || total / limits.ratio <= length else {
            throw .refused("unpacks to more than \(limits.ratio) times its own size")
        }
        app = try ArchiveContents.findApp(tree)
        var isInApp = [Bool](repeating: false, count: tree.nodes.count)
        for node in tree.nodes.indices { isInApp[node] = node == app || isInApp[tree.nodes[node].parent] }
        (self.entries, self.tree, self.isInApp) = (entries, tree, isInApp)
    }

    /// The kind of an entry, by its mode, its DOS attributes and the slash at the end of its name.
    private static func kind(of record: ZipRecord) throws(ArchiveFault) -> EntryTree.Kind {
        let type = record.mode & S_IFMT
        let kind: EntryTree.Kind
        switch type {
        case S_IFDIR: kind = .directory
        case S_IFLNK where record.name.last != UInt8(ascii: "/"): kind = .symbolicLink
        // A slash at the end counts more than the type of a file: some writers give every entry that type.
        case S_IFREG, 0:
            kind = record.name.last == UInt8(ascii: "/") || record.isMarkedDirectory ? .directory : .file
        default:
            throw .refused("\(record.name.shown) is neither a file, a directory nor a symbolic link")
        }
        if kind == .directory, record.size > 0 {
            throw .refused("\(record.name.shown) is a directory with content of its own")
        }
        if kind == .symbolicLink {
            guard record.size > 0 else { throw .refused("\(record.name.shown) is a symbolic link without a target") }
            guard record.size <= AppArchive.longestTarget else {
                throw .refused("\(record.name.shown) is a symbolic link with too long a target")
            }
        }
        return kind
    }

    /// Permission bits without set-user-ID and its like. The owner can always read: an ordinary user's bundle could
    /// otherwise neither be shown nor removed.
    private static func permissions(_ mode: mode_t, _ kind: EntryTree.Kind) -> mode_t {
        let isDirectory = kind == .directory
        let bits = mode == 0 ? (isDirectory ? 0o755 : 0o644) : mode & 0o777
        return bits | (isDirectory ? S_IRUSR | S_IXUSR : S_IRUSR)
    }

    /// Finds the one directory that `Payload` has to hold.
    private static func findApp(_ tree: EntryTree) throws(ArchiveFault) -> Int {
        guard let payload = tree.child(of: 0, named: "Payload"), tree.nodes[payload].kind == .directory else {
            throw .refused("has no directory Payload: it is not an app's archive")
        }
        var app: Int?
        for (index, node) in tree.nodes.enumerated() where index != 0 && node.parent == payload {
            // Files that macOS leaves in directories that were opened in Finder or copied.
            if node.kind == .file, node.name == ".DS_Store" || node.name.bytes.starts(with: "._".utf8) { continue }
            guard node.kind == .directory, isAppName(node.name) else {
                throw .refused("has \(tree.shown(index)); Payload holds one directory named like NAME.app")
            }
            if let app { throw .refused("has more than one app: \(tree.shown(app)) and \(tree.shown(index))") }
            app = index
        }
        guard let app else { throw .refused("has no app in its directory Payload") }
        return app
    }

    /// The rule of `AppDirectory.isAppName` in `BundleSeal`, plus UTF-8, so that the name can be printed.
    private static func isAppName(_ name: FileName) -> Bool {
        name.bytes.count > 4 && name.bytes.suffix(4).elementsEqual(".app".utf8)
            && !name.bytes.contains { $0 < 0x20 || $0 == 0x7F }
            && String(validating: name.bytes, as: UTF8.self) != nil
    }
}
