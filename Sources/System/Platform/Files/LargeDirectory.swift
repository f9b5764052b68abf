// Emptying large directories with several threads: unlink(2) may wait for the host's disk.

public import SandboxModel

extension SharedDescriptor {
    /// Names read before the first of their files is removed.
    private static let batchCount = 4096
    /// Files that a thread removes in one go. Fewer are not worth a thread.
    private static let shareCount = 64
    /// With the mount option `discard` the host waits for its disk at each removal.
    private static let threadsPerProcessor = 4

    /// `unlinkat(2)` of the files of a directory that has many. Directories stay, and so do files that cannot be
    /// removed. The last files stay too, at most 64: the caller removes them without further threads.
    ///
    /// - Parameter removed: gets, on any thread, the status that each file had before its removal. Of a file with
    ///   several names it may predate the removal of another name.
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
