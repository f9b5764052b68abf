// read and write. Neither takes a lock of the volume: the handle holds the content, and the open asked the policy.

public import BackingStore
public import Platform
public import SandboxModel

extension Volume {
    /// Lends the bytes that were read to `body`, with no lock held.
    ///
    /// - Parameter memory: takes plaintext where that saves a copy. Its bytes are meaningless after an error.
    /// - Throws: `refused` when the device's state has closed the content; `corrupt`; EIO after a restart.
    public func read(
        _ handle: FileHandle, count: Int, from offset: Int64, into memory: BufferRange? = nil,
        _ body: (ReadResult) -> Void
    ) throws(Fault) {
        switch handle.content {
        case .encrypted(let file): try file.read(count: count, from: offset, into: memory, body)
        case .sealed(let file):
            if places.epochs.isPast(handle.node) { throw .system(.inputOutput) }
            try file.read(count: count, from: offset, body)
        case .synthetic(let file): file.read(count: count, from: offset, context: context, body)
        }
    }

    /// Writes all of the bytes, or throws. Where there is no space, the write is made again as long as a purge releases
    /// some; then as much of it is written as there is space for.
    ///
    /// - Parameter fromCache: whether they are pages of the kernel's cache, for no call that waits for them.
    /// - Returns: write-back that the caller begins once it has answered the write.
    /// - Throws: `refused` when the device's state has closed the content; EBADF without the right to write; ENOSPC;
    ///   EIO if pages of other requests are lost.
    @discardableResult
    public func write(
        _ handle: FileHandle, bytes: borrowing RawSpan, to offset: Int64, fromCache: Bool = false
    ) throws(Fault) -> EarlyWriteback? {
        guard handle.canWrite, case .encrypted(let file) = handle.content else { throw .system(.badDescriptor) }
        // A loop of its own and not `SpaceLedger.retrying`: a closure cannot capture a span.
        for _ in 0..<SpaceLedger.tries {
            do throws(Fault) {
                return try file.write(bytes, at: offset, for: .writtenBack, fromCache: fromCache)
            } catch {
                guard error == .system(.noSpace) else { throw error }
                if space.purge(for: Int64(bytes.byteCount) + Volume.mostPages) { continue }
                // The last blocks of a full host are better left to the device's own records.
                if space.capacity != nil { writeInPart(bytes, to: offset, of: file) }
                throw error
            }
        }
        return try file.write(bytes, at: offset, for: .writtenBack, fromCache: fromCache)
    }

    /// Bytes. More than the pages that describe the blocks of one write.
    private static let mostPages: Int64 = 64 << 10

    /// Fills the last space. Otherwise a device with little space left would never be full, and a writer would not
    /// learn of it before the next write(2).
    private func writeInPart(_ bytes: borrowing RawSpan, to offset: Int64, of file: EncryptedFile) {
        let block = Int64(ContentLayout.blockSize)
        let middle = (offset + Int64(bytes.byteCount) / 2) / block * block
        guard middle > offset else { return }
        let count = Int(middle - offset)
        for (part, start) in [(0..<count, offset), (count..<bytes.byteCount, middle)] {
            let piece = bytes.extracting(part)
            do throws(Fault) {
                _ = try file.write(piece, at: start, for: .writtenBack)
            } catch {
                if error == .system(.noSpace) { writeInPart(piece, to: start, of: file) }
            }
        }
    }

    // MARK: The kernel's question before each write(2)

    /// The kernel asks for a file's attributes before it accepts a write(2). It must accept none that finds no space:
    /// otherwise the reserve is used up, which is kept for what the kernel has accepted already.
    func requireSpaceToWrite(_ handle: FileHandle) throws(Fault) {
        guard space.isFull, handle.canWrite else { return }
        try space.retrying { () throws(Fault) in try space.requireSpace() }
    }

    /// Has the kernel ask before each write(2) to a file that is open now. Called when ``SpaceLedger/isTight`` has
    /// become true, with no lock held.
    public func haveWritersAsk() {
        guard let kernelCache else { return }
        for file in openFiles.openFiles where file.mayBeWritten { kernelCache.forgetStatus(of: file.node) }
    }
}
