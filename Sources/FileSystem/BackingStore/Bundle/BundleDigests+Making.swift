// The making of a bundle's list of digests, at the installation.

public import BundleSeal
public import DataProtection
import Glibc
public import Platform
public import SandboxModel

extension BundleDigests {
    /// Computes the hash trees of a bundle, and writes trees and list beside it.
    ///
    /// - Parameters:
    ///   - container: the bundle's container, which has neither yet.
    ///   - verification: of the same bundle's seal, in the same pass; nil if the seal is known to be valid. The list is
    ///     written whatever it finds: the caller checks the result, and discards the container.
    ///   - progress: called with the bytes hashed since the last call; false cancels.
    /// - Returns: false when cancelled.
    /// - Throws: EEXIST if the container has trees already; EINVAL for an entry that no bundle has; errors of the host.
    public static func write(
        _ trees: HashTrees, verifying verification: inout SealVerification?, in container: borrowing Descriptor,
        key: BundleKey, progress: (Int64) -> Bool = { _ in true }
    ) throws(SystemError) -> Bool {
        let file = SharedDescriptor(
            try container.open(treesName, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR))
        guard let digests = try trees.build(into: file, verifying: &verification, progress: progress) else {
            return false
        }
        let list = BundleDigests(entries: try entries(of: trees, digests))
        try RecordFile(name: fileName).replace(with: list.encoded(key), in: container)
        return true
    }

    /// - Parameter digests: of the regular files, in the order of the tree's entries.
    private static func entries(of trees: HashTrees, _ digests: [[UInt8]]) throws(SystemError) -> [Entry] {
        let root = try trees.tree.root.descriptor.status()
        var entries = [
            Entry(
                path: [], permissions: root.permissions, modified: HostTime(root.modificationTime),
                content: .directory)
        ]
        var file = 0
        for entry in trees.tree.entries {
            let content: Content
            switch entry.status.kind {
            case .directory: content = .directory
            case .symbolicLink: content = .symbolicLink(target: entry.target)
            case .fifo, .socket, .device: throw .invalid
            case .file:
                content = .file(
                    File(
                        size: entry.status.size, treeOffset: trees.files[file].offset, digest: digests[file],
                        trace: Trace(entry.status)))
                file += 1
            }
            entries.append(
                Entry(
                    path: entry.path, permissions: entry.status.permissions,
                    modified: HostTime(entry.status.modificationTime), content: content))
        }
        return entries
    }
}
