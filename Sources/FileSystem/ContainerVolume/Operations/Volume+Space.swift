// What the device's containers take, as calls change it, and what a call meets when there is no room.

public import BackingStore
import Glibc
import Platform
import SandboxModel

extension Volume {
    /// What the device's containers take, and may take.
    public var space: SpaceLedger { context.space }

    // MARK: Room

    /// How often a call is tried again after something was purged for it; others may have been faster each time.
    private static let tries = 8

    /// Makes a call that may find no room, with no lock held, and makes it again as long as room is made.
    ///
    /// - Parameter bytes: what the call takes, roughly.
    func withRoom<Result>(
        for bytes: Int64 = 4096, _ body: () throws(Fault) -> Result
    ) throws(Fault) -> Result {
        for _ in 0..<Volume.tries {
            do throws(Fault) {
                return try body()
            } catch {
                guard error == .system(.noSpace), makeSpace(for: bytes) else { throw error }
            }
        }
        return try body()
    }

    /// - Returns: whether it is worth trying again. No lock is held.
    func makeSpace(for bytes: Int64) -> Bool {
        space.reliever?.makeSpace(for: bytes) ?? false
    }

    /// More than what describes the blocks of one write.
    private static let mostPages: Int64 = 64 << 10

    /// Writes what the kernel brings, and again as long as room is made for it; then as much of it as there is room for.
    /// A closure cannot capture a span.
    func write(_ bytes: borrowing RawSpan, to offset: Int64, of file: EncryptedFile) throws(Fault) -> EarlyWriteback? {
        for _ in 0..<Volume.tries {
            do throws(Fault) {
                return try file.write(bytes, at: offset, for: .writtenBack)
            } catch {
                guard error == .system(.noSpace) else { throw error }
                if makeSpace(for: Int64(bytes.byteCount) + Volume.mostPages) { continue }
                // The last blocks of a full host are better left to the device's own records.
                if space.capacity != nil { writeInPart(bytes, to: offset, of: file) }
                throw error
            }
        }
        return try file.write(bytes, at: offset, for: .writtenBack)
    }

    /// Fills the last room. Otherwise a device in which little is left would never be full, and whoever writes would not
    /// be told before it asks.
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

    /// What the kernel hears that asks before it takes a write(2) in. It is not to take in what has no room: of the
    /// reserve nothing is left then for what it has taken in already.
    func requireRoomToWrite(_ handle: FileHandle) throws(Fault) {
        guard space.isFull, handle.canWrite else { return }
        try withRoom { () throws(Fault) in try space.requireRoom() }
    }

    /// Has the kernel ask before each write(2) to a file that is open now. Called when ``SpaceLedger/isTight`` has come to
    /// be, with no lock held.
    public func haveWritersAsk() {
        guard let kernelCache else { return }
        for file in openFiles where file.mayBeWritten { kernelCache.forgetAttributes(of: file.node) }
    }

    // MARK: Counting

    /// To be called after something was made that holds no content yet.
    func countNew(_ status: FileStatus) {
        space.recount(status.inode, from: 0, to: space.weights.bytes(status))
    }

    /// To be called after an entry was taken away, exclusively of all that opens files.
    func countRemoved(_ removed: Kept) {
        let status = removed.status
        if status.kind != .directory, status.linkCount > 1 { return }
        // What is open takes its space until it is closed.
        if let node = removed.node, noteRemoval(of: node) { return }
        // It may have been written to, and closed, since it was looked at.
        let last = (try? removed.descriptor.descriptor.status()) ?? status
        space.recount(status.inode, from: space.weights.bytes(last), to: 0)
    }

    /// To be called when a file has lost its last name.
    /// - Returns: whether it is open: what it takes is then given back when it is closed. Otherwise nobody opens it but by
    ///   a descriptor that only names it, and what it takes is the caller's to count for nothing.
    public func noteRemoval(ofInode inode: UInt64) -> Bool {
        table.known(inode: inode).map { noteRemoval(of: $0) } ?? false
    }

    private func noteRemoval(of node: Node) -> Bool {
        openLock(of: node).writing {
            node.isNameless = true
            return node.open != nil
        }
    }

    /// To be called after an entry came to another place: a count that is under way may have passed there.
    func noteMove(_ status: FileStatus, to name: FileName, in directory: SharedDescriptor) {
        space.noteMove(status) {
            guard let moved = try? directory.descriptor.openDirectory(name) else { return nil }
            return SharedDescriptor(moved)
        }
    }

    /// Makes a change of a file's extended attributes, for which the host may take a block.
    func countingAttributes(
        of node: Node, at place: Place, _ body: () throws(SystemError) -> Void
    ) throws(SystemError) {
        guard node.kind == .file else { return try body() }
        // Nobody opens or closes it meanwhile.
        try openLock(of: node).reading { () throws(SystemError) in
            if case .encrypted(let file)? = node.open?.content {
                try body()
                file.countSpace()
                return
            }
            let before = try place.status()
            defer {
                if !node.isNameless, let after = try? place.status() {
                    space.recount(after.inode, from: space.weights.bytes(before), to: space.weights.bytes(after))
                }
            }
            try body()
        }
    }
}

extension Place {
    fileprivate func status() throws(SystemError) -> FileStatus {
        switch self {
        case .entry(let directory, let name): try directory.descriptor.status(of: name)
        case .descriptor(let node): try node.descriptor.status()
        case .none: throw .noEntry
        }
    }
}
