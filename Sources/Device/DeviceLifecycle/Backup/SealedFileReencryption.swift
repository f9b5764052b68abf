// A sealed file of another device, on its way to keys of this one: every block is opened there and sealed anew here.

import BackingStore
import DataProtection
import Glibc
import Platform
import SandboxModel

/// Encrypts a file of another device anew. Its proof has been checked, so that its bytes are those that the other
/// device wrote into the backup; its seals are checked here.
struct SealedFileReencryption {
    let name: FileName
    let parent: SharedDescriptor
    let protection: ProtectionClass
    /// Of the other device's keys.
    let source: StoreContext
    let target: StoreContext

    /// Puts an encrypted file with the same content in the place of the other device's backing file.
    /// - Parameters:
    ///   - backing: that file, under ``name``.
    ///   - goOn: called from time to time.
    /// - Returns: false when `goOn` ended it.
    /// - Throws: `corrupt` for a file that the other device's keys do not open; of the new one, `refused` where the
    ///   class is closed, and errors of the host.
    func run(_ backing: SharedDescriptor, _ goOn: () -> Bool) throws(Fault) -> Bool {
        let file: EncryptedFile
        do throws(Fault) {
            // For writing, so that an end that was not recorded can be put right. Nobody else has this copy.
            file = try EncryptedFile.open(backing, isWritable: true, context: source)
        } catch {
            // The keybag of a backup has no key of class D.
            throw error == .refused(.dataProtection) ? .corrupt : error
        }
        let new = try onHost { () throws(SystemError) in
            try parent.descriptor.removeFile(name)
            return SharedDescriptor(
                try parent.descriptor.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR))
        }
        let made = try EncryptedFile.create(new, protection: protection, context: target).file
        let buffer = PageBuffer(count: Workspace.largestTransfer)
        // Content is not to stay in memory.
        defer { buffer.wipe(0, count: buffer.count) }
        for range in try BackupFile.dataRanges(of: file) {
            var position = range.lowerBound
            while position < range.upperBound {
                let left = min(range.upperBound - position, Int64(buffer.count) - position % Int64(buffer.count))
                let count = try read(Int(left), at: position, of: file, into: buffer)
                guard count > 0 else { throw .corrupt }
                try buffer.withBytes(0, count: count) { (bytes) throws(Fault) in
                    _ = try made.write(bytes, at: position)
                }
                position += Int64(count)
                guard goOn() else { return false }
            }
        }
        if made.length < file.length { try made.truncate(to: file.length) }
        try made.commit()
        return true
    }

    private func read(
        _ count: Int, at position: Int64, of file: EncryptedFile, into buffer: PageBuffer
    ) throws(Fault) -> Int {
        var filled = 0
        try file.read(count: count, from: position) { filled = $0.copy(to: buffer) }
        return filled
    }
}
