// The small files of the device directory, which are read and replaced as a whole.

import Glibc
public import Platform
public import SandboxModel

/// One record file. A reader, also after a crash, finds the old content or the new, never a mixture.
public struct RecordFile: Sendable {
    /// The limit of most records, in bytes.
    public static let largest = 64 << 20

    let name: FileName
    var mode: mode_t = 0o600

    public init(name: FileName) {
        self.name = name
    }

    init(name: FileName, mode: mode_t) {
        self.name = name
        self.mode = mode
    }

    /// The new file's name until it is complete. A kill may leave it; the next replacement removes it.
    private var replacement: FileName { FileName(".\(name.text).new")! }

    /// Whether a name is that of a new version which a process that was killed has left.
    public static func isRemains(_ name: FileName) -> Bool {
        name.text.hasPrefix(".") && name.text.hasSuffix(".new")
    }

    /// - Returns: nil if there is no such file.
    /// - Throws: EFBIG beyond the limit, in bytes.
    public func read(
        in directory: borrowing Descriptor, limit: Int = RecordFile.largest
    ) throws(SystemError) -> [UInt8]? {
        let file: Descriptor
        do throws(SystemError) {
            file = try directory.openRecord(name, flags: O_RDONLY)
        } catch {
            if error == .noEntry { return nil }
            throw error
        }
        return try file.readAll(limit: limit)
    }

    /// Replaces the content: the new file is written under another name, synchronized, and renamed. Durable on return.
    /// - Throws: ENOSPC or EDQUOT if not even ``RecordReserve`` suffices; other errors of the host. The old content
    ///   stays, unless only the last synchronization failed.
    public func replace(with bytes: [UInt8], in directory: borrowing Descriptor) throws(SystemError) {
        try RecordReserve.use(in: directory) { () throws(SystemError) in try replaceNow(with: bytes, in: directory) }
    }

    private func replaceNow(with bytes: [UInt8], in directory: borrowing Descriptor) throws(SystemError) {
        if try directory.exists(replacement) { try directory.removeFile(replacement) }
        let file = try directory.open(replacement, flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        do throws(SystemError) {
            // The process's umask has no say in who may read a secret.
            try file.changeMode(mode)
            try file.giveToOwner(of: directory)
            try file.writeAll(bytes)
            try file.synchronize()
            try directory.rename(replacement, to: name, in: directory)
        } catch {
            try? directory.removeFile(replacement)
            throw error
        }
        try directory.synchronizeEntries()
    }
}

extension Descriptor {
    /// As root, gives a new file of a device to the owner of the device, who may serve it later.
    public borrowing func giveToOwner(of directory: borrowing Descriptor) throws(SystemError) {
        guard geteuid() == 0 else { return }
        let owner = try directory.status()
        try changeOwner(owner.owner, group: owner.group)
    }

    /// The whole content. Wipes its buffer, as the file may be a key.
    /// - Throws: EFBIG beyond the limit, in bytes.
    borrowing func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        let size = try status().size
        guard size <= limit else { throw .fileTooLarge }
        let buffer = PageBuffer(count: Int(size) + 1)
        defer { buffer.wipe(0, count: buffer.count) }
        return buffer.bytes(0, count: try read(into: buffer, count: buffer.count, from: 0))
    }

    borrowing func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        let buffer = PageBuffer(count: bytes.count)
        defer { buffer.wipe(0, count: buffer.count) }
        buffer.copy(bytes, to: 0)
        try write(from: buffer, count: bytes.count, to: 0)
    }
}
