// An installed bundle by its list of digests: the mount shows the list's entries, whatever the backing copy has.

public import DataProtection
import Glibc
public import Platform
public import SandboxModel

/// A bundle's backing copy, with the list that it is verified with.
public final class SealedBundle: Sendable {
    /// The `.app` directory.
    public let root: SharedDescriptor
    public let digests: BundleDigests
    let trees: SharedDescriptor
    private let use: BundleUse?
    private let children: [Child: Int]

    private struct Child: Hashable {
        let directory: Int
        let name: FileName
    }

    /// The index of the bundle's own directory in the list.
    public static let top = 0

    /// Opens an installed bundle.
    /// - Parameters:
    ///   - container: the bundle's container.
    ///   - name: the `.app` directory's name.
    ///   - use: a reference to hold.
    /// - Returns: nil if the list of digests is missing, or is not this device's for this bundle.
    public init?(
        in container: borrowing Descriptor, name: FileName, key: BundleKey, use: BundleUse? = nil
    ) throws(SystemError) {
        root = SharedDescriptor(try container.openDirectory(name))
        for name in [BundleDigests.fileName, BundleDigests.treesName] {
            guard try container.exists(name), try container.status(of: name).kind == .file else { return nil }
        }
        guard let bytes = try RecordFile(name: BundleDigests.fileName).read(in: container, limit: 1 << 30),
            let digests = BundleDigests(decoding: bytes, key)
        else { return nil }
        // O_NONBLOCK: a fifo may have taken the file's place.
        trees = SharedDescriptor(try container.open(BundleDigests.treesName, flags: O_RDONLY | O_NONBLOCK))
        self.digests = digests
        self.use = use
        var places: [[FileName]: Int] = [:]
        var children: [Child: Int] = [:]
        for (index, entry) in digests.entries.enumerated() {
            if entry.content == .directory { places[entry.path] = index }
            guard let name = entry.path.last, let directory = places[Array(entry.path.dropLast())] else { continue }
            children[Child(directory: directory, name: name)] = index
        }
        self.children = children
    }

    /// The index of an entry in the list.
    /// - Parameter directory: the index of its directory.
    /// - Returns: nil if the verified bundle has no such entry.
    public func child(_ name: FileName, of directory: Int) -> Int? {
        children[Child(directory: directory, name: name)]
    }

    /// Opens the backing copy of a file of the list.
    /// - Parameter index: the file's index in the list.
    /// - Throws: EISDIR for the bundle's own directory; ENFILE if only the reserve of descriptors is left; errors of
    ///   the host, such as ELOOP for a copy that was replaced by a link.
    public func open(_ index: Int, context: StoreContext) throws(Fault) -> SealedFile {
        let path = digests.entries[index].path
        guard let name = path.last else { throw .system(.isDirectory) }
        let backing = try onHost { () throws(SystemError) in
            // O_NONBLOCK: a fifo may have taken the file's place.
            let file = try root.descriptor.openDirectory(at: path.dropLast()).open(name, flags: O_RDONLY | O_NONBLOCK)
            try file.requireNotOfReserve()
            return SharedDescriptor(file)
        }
        return try SealedFile(backing, index, of: self, context: context)
    }

    /// Reports an entry of the backing copy that is not what was installed.
    public func reportForeign(_ status: FileStatus, to context: StoreContext) {
        context.report(Corruption(inode: status.inode, place: .entry))
    }

    /// The status of an entry with the mode, time and size that were installed.
    public func present(_ index: Int, _ status: FileStatus) -> FileStatus {
        let entry = digests.entries[index]
        var shown = status.raw
        shown.st_mode = shown.st_mode & S_IFMT | entry.permissions
        shown.st_mtim = entry.modified.raw
        if case .file(let file) = entry.content { shown.st_size = off_t(file.size) }
        return FileStatus(shown)
    }
}
