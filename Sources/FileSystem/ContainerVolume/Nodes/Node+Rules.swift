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
        return Zone.of(
            name, in: zone,
            inLibrary: zone == .standardDirectory && self.name == HomeLayout.library && parent?.kind == .home)
    }

    /// Whether a name in this directory is that of a `CACHEDIR.TAG` that the mount shows.
    func isCacheTag(_ name: FileName) -> Bool {
        guard zone == .standardDirectory, name == CacheDirectoryTag.name, purgeableDirectory != nil else {
            return false
        }
        return home?.showsCacheTags ?? false
    }

    /// `Library/Caches` or `tmp`, if the node is one of them.
    var purgeableDirectory: PurgeableDirectory? {
        guard zone == .standardDirectory, let above = parent else { return nil }
        if above.kind == .home { return name == HomeLayout.temporary ? .temporary : nil }
        return name == HomeLayout.caches && above.name == HomeLayout.library && above.parent?.kind == .home
            ? .caches : nil
    }

    /// The target of a symbolic link in the bundle, as it was installed; nil for any other node.
    var sealedTarget: [UInt8]? {
        guard let index = rare?.sealed, let home,
            case .symbolicLink(let target) = home.bundle.digests.entries[index].content
        else { return nil }
        return target
    }

    /// Asks the policy whether an entry of this directory may have a name.
    func permit(name: FileName) throws(Fault) {
        if isCacheTag(name) { throw .refused(.cacheTag) }
        if let rule = SandboxPolicy.refusal(ofName: name, in: zone) { throw .refused(rule) }
    }
}

extension Zone {
    /// Asks the policy, on facts gathered under the lock under which the caller acts.
    func permit(_ operation: Operation) throws(Fault) {
        if let rule = SandboxPolicy.refusal(of: operation, in: self) { throw .refused(rule) }
    }
}
