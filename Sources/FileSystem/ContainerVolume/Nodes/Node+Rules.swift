// Facts about a node that follow from the nodes above it: its home, the zones of its entries, and the rules of these.
// The caller holds the volume's `names`, and keeps the place of a file, or holds the table's lock.

import BackingStore
import Platform
import SandboxModel
import SandboxPolicy

extension Node {
    /// The home that the node belongs to; nil for the device's root, and for a node without a name.
    var home: Home? { (isDirectory ? scope : parent?.scope)?.home }

    /// The home that the node stands for, or of which it is the replaced bundle.
    var ownHome: Home? { scope?.top === self ? scope?.ownHome : nil }

    /// Flags for opening the node on the host: `O_NOATIME` where the mount is read-only.
    var readingFlags: Int32 { home?.isReadOnly ?? false ? Descriptor.keepingAccessTime : 0 }

    /// Whether an update has replaced the bundle that the node is in.
    var isInReplacedBundle: Bool { home?.isReplaced ?? false }

    /// The zone of an entry of this directory.
    func zone(of name: FileName) -> Zone {
        if isCacheTag(name) { return .cacheTag }
        return Zone.of(name, in: zone, isStandard: isStandard(name))
    }

    /// Whether an entry of this standard directory is one too: those of the data container's `Library`, and `Library`
    /// and `Library/Caches` of a group.
    private func isStandard(_ name: FileName) -> Bool {
        if self.name == HomeLayout.library, let above = parent, above.kind != .containers {
            if above.kind == .home { return name == HomeLayout.caches || name == HomeLayout.preferences }
            return name == HomeLayout.caches && above.isGroupRoot
        }
        return name == HomeLayout.library && isGroupRoot
    }

    /// Whether the node is a group container's own directory.
    private var isGroupRoot: Bool {
        guard kind == .directory, let above = parent, above.kind == .containers else { return false }
        return above.name == HomeLayout.groups
    }

    /// Whether a name in this directory is that of a `CACHEDIR.TAG` that the mount shows.
    func isCacheTag(_ name: FileName) -> Bool {
        // Homes that share a group may differ in what they show, and a group is one directory for all.
        guard zone == .standardDirectory, name == CacheDirectoryTag.name, purgeable?.root.kind == .home else {
            return false
        }
        return home?.showsCacheTags ?? false
    }

    /// `Library/Caches` or `tmp`, if the node is one of them.
    var purgeableDirectory: PurgeableDirectory? { purgeable?.directory }

    /// The container of which the node is `Library/Caches` or `tmp`; nil if it is neither.
    var purgeableContainer: SharedDescriptor? {
        guard let root = purgeable?.root else { return nil }
        return root.kind == .home ? root.home?.data : root.rare?.anchor
    }

    /// The node as `Library/Caches` or `tmp` of a home or a group.
    private var purgeable: (directory: PurgeableDirectory, root: Node)? {
        guard zone == .standardDirectory, let above = parent else { return nil }
        if above.kind == .home { return name == HomeLayout.temporary ? (.temporary, above) : nil }
        guard name == HomeLayout.caches, above.name == HomeLayout.library, let root = above.parent,
            root.kind == .home || root.isGroupRoot
        else { return nil }
        return (.caches, root)
    }

    /// The target of a symbolic link in the bundle, as it was installed; nil for any other node.
    var sealedTarget: [UInt8]? {
        guard let index = rare?.sealed, let home,
            case .symbolicLink(let target) = home.bundle.digests.entries[index].content
        else { return nil }
        return target
    }

    /// Asks the policy whether something may get a name in this directory.
    func permit(name: FileName, by operation: Operation) throws(Fault) {
        if isCacheTag(name) { throw .refused(.cacheTag) }
        if let rule = SandboxPolicy.refusal(ofName: name, in: zone)
            ?? SandboxPolicy.refusal(of: operation, naming: zone(of: name))
        {
            throw .refused(rule)
        }
    }
}

extension Zone {
    /// Asks the policy, on facts gathered under the lock under which the caller acts.
    func permit(_ operation: Operation) throws(Fault) {
        if let rule = SandboxPolicy.refusal(of: operation, in: self) { throw .refused(rule) }
    }
}
