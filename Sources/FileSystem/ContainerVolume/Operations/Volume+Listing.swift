// readdir, and readdirplus, which looks each entry up as well.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// One entry of a directory as it is listed.
    public struct ListedEntry: Sendable {
        /// The name with a NUL behind it: a ``FileName``'s, or `.` or `..`.
        public let terminatedName: [UInt8]
        public let inode: UInt64
        /// DT_DIR and its siblings.
        public let type: UInt8
        /// The position behind this entry.
        public let next: Int64
        /// The entry as a lookup gives it; nil for `.` and `..`, or when it was not asked for.
        public let entry: Entry?
    }

    /// Lists a directory from a position that an earlier listing gave; 0 is its beginning.
    ///
    /// - Parameters:
    ///   - withEntries: look each entry up as well; what `emit` takes counts as looked up.
    ///   - emit: returns false when the entry does not fit, which ends the listing.
    public func list(
        _ node: NodeID, from position: Int64, withEntries: Bool, _ emit: (ListedEntry) -> Bool
    ) throws(Fault) {
        try names.reading { () throws(Fault) in
            let parent = try self.parent(node)
            try entryLocks.keepingEntries(of: parent) { () throws(Fault) in
                if parent.kind == .directory {
                    try listHost(parent, from: position, withEntries: withEntries, emit)
                } else {
                    try listSynthetic(parent, from: position, withEntries: withEntries, emit)
                }
            }
        }
    }

    /// Lists a directory of the host. The caller holds `names` and the lock of the directory's entries.
    private func listHost(
        _ parent: Node, from position: Int64, withEntries: Bool, _ emit: (ListedEntry) -> Bool
    ) throws(Fault) {
        let directory = try places.directory(parent)
        let withEntries = withEntries && !(parent.zone == .bundle && parent.isInReplacedBundle)
        let showsCacheTag = parent.isCacheTag(CacheDirectoryTag.name)
        if showsCacheTag, position == 0, !cacheTags.emit(of: parent, withEntry: withEntries, emit) { return }
        let reader = try onHost { () throws(SystemError) in
            let reader = DirectoryReader(
                try directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY | parent.readingFlags))
            if position > 0, position != CacheTags.behindTag { try reader.seek(position) }
            return reader
        }
        while let item = try onHost({ () throws(SystemError) in try reader.nextOfAny() }) {
            // The tag hides an app's file of the same name.
            if showsCacheTag, item.name == CacheDirectoryTag.name { continue }
            var found: Entry?
            if parent.zone == .bundle, let name = item.name {
                // A file that was put into the backing copy is not part of the bundle.
                guard let sealed = try? bundles.find(name, in: parent) else { continue }
                if withEntries { found = sealed } else { forget(sealed.node, count: 1) }
            } else if withEntries, let name = item.name {
                do throws(SystemError) {
                    found = entry(try directory.descriptor.status(of: name), name, parent)
                } catch {
                    // An entry may go from the host while the directory is listed: it is then not listed. One that may
                    // not be looked up, in a directory without search permission, is.
                    if error == .noEntry { continue }
                }
            }
            let isTaken = emit(
                ListedEntry(
                    terminatedName: item.terminatedName, inode: item.inode, type: item.type, next: item.next,
                    entry: found))
            if !isTaken {
                if let found { forget(found.node, count: 1) }
                return
            }
        }
    }

    /// Lists the device's root, a home's top level, `Groups` or `iCloud`. The caller holds `names` and the lock of the
    /// directory's entries.
    private func listSynthetic(
        _ parent: Node, from position: Int64, withEntries: Bool, _ emit: (ListedEntry) -> Bool
    ) throws(Fault) {
        var listed: [FileName] = []
        switch parent.kind {
        case .device:
            listed = homes.all.map { $0.app.fileName }
        case .home:
            if let home = parent.home {
                listed = home.bundleEntries + home.dataEntries + home.containerDirectories
            }
        default:
            listed = (parent.home?.containers(named: parent.name!).keys.sorted() ?? []).map(\.fileName)
        }
        let dots: [[UInt8]] = [[UInt8(ascii: "."), 0], [UInt8(ascii: "."), UInt8(ascii: "."), 0]]
        for index in Int(position)..<max(Int(position), listed.count + dots.count) {
            if index < dots.count {
                let above = index == 0 ? parent : parent.parent ?? parent
                let item = ListedEntry(
                    terminatedName: dots[index], inode: above.inode, type: UInt8(DT_DIR), next: Int64(index + 1),
                    entry: nil)
                if !emit(item) { return }
                continue
            }
            let name = listed[index - dots.count]
            guard let found = try? find(name, in: parent) else { continue }
            let item = ListedEntry(
                terminatedName: name.terminated, inode: found.status.inode,
                type: UInt8(found.status.kind == .directory ? DT_DIR : DT_REG), next: Int64(index + 1),
                entry: withEntries ? found : nil)
            let isTaken = emit(item)
            if !isTaken || !withEntries { forget(found.node, count: 1) }
            if !isTaken { return }
        }
    }
}
