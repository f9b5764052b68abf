// Bundles with their list of digests, for tests of what reads them.

public import BackingStore
import BundleSeal
import DataProtection
import Glibc
import Platform
public import SandboxModel

/// The bundle in a container of the host, with a list of digests of what it holds now.
public func sealedBundle(
    in container: String, name: FileName = "Notes.app", use: BundleUse? = nil
) throws -> SealedBundle {
    let directory = try Descriptor.open(path: container, flags: O_RDONLY | O_DIRECTORY)
    for old in [BundleDigests.fileName, BundleDigests.treesName] where try directory.exists(old) {
        try directory.removeFile(old)
    }
    let key = BundleKey(UIDKey(), container: container)
    let tree = try BundleTree(of: SharedDescriptor(try directory.openDirectory(name)))
    var verification: SealVerification?
    _ = try BundleDigests.write(HashTrees(of: tree), verifying: &verification, in: directory, key: key)
    guard let bundle = try SealedBundle(in: directory, name: name, key: key, use: use) else {
        throw SystemError.invalid
    }
    return bundle
}
