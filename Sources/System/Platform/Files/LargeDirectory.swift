// Emptying large directories with all processors: one file after the other, each may have to wait for the host's disk.

public import SandboxModel

extension SharedDescriptor {
    /// Names that are read before any of their files is removed.
    private static let batchCount = 4096
    /// Files that one thread removes before it looks for more; fewer are not worth a thread.
    private static let shareCount = 64
    /// A host that tells its disk of what came free at once, as with the mount option `discard`, waits for it each time.
    private static let threadsPerProcessor = 4

    /// Removes the files of the directory that this descriptor names, where there are many. Directories stay, and so
    /// does what cannot be removed.
    ///
    /// - Parameter removed: told of each file, on any thread, what it was just before: of a file with several names,
    ///   perhaps before another one went.
    public func removeManyFiles(removed: @escaping @Sendable (FileStatus) -> Void) throws(SystemError) {
        let reader = try descriptor.entries()
        while true {
            let names = try SharedDescriptor.fileNames(reader)
            let shares = (names.count + SharedDescriptor.shareCount - 1) / SharedDescriptor.shareCount
            guard shares > 1 else { return }
            let remove: @Sendable (Int, WorkMeter) throws(SystemError) -> Void = { [self] (share, _) in
                for name in names.dropFirst(share * SharedDescriptor.shareCount).prefix(SharedDescriptor.shareCount) {
                    guard let status = try? descriptor.status(of: name), status.kind != .directory,
                        (try? descriptor.removeFile(name)) != nil
                    else { continue }
                    removed(status)
                }
            }
            _ = try ParallelWork.run(
                shares, threadsPerProcessor: SharedDescriptor.threadsPerProcessor, progress: { _ in true }, remove)
            guard names.count == SharedDescriptor.batchCount else { return }
        }
    }

    private static func fileNames(_ reader: DirectoryReader) throws(SystemError) -> [FileName] {
        var names: [FileName] = []
        while names.count < batchCount, let entry = try reader.next() {
            if !entry.isDirectory { names.append(entry.name) }
        }
        return names
    }
}
