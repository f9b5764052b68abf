// A file's change to another class: its key is wrapped anew, and its first page written in place. No content is touched.

import DataProtection
import Platform
public import SandboxModel
import Synchronization

extension EncryptedFile {
    /// Wraps the file's key under another class's key. The file is open for writing. A page is never torn, so whoever is
    /// killed here leaves the old header or the new one; each opens with its own class.
    ///
    /// - Throws: `refused(.dataProtection)` when the new class's key is not at hand; the host's error, such as ENOSPC.
    ///   The class is then as it was.
    public func changeProtection(to protection: ProtectionClass) throws(Fault) {
        try lock.writing { () throws(Fault) in
            try requireReading()
            guard isWritable else { throw .system(.badDescriptor) }
            guard let old = ProtectionClass(rawValue: header.protectionRawValue), let oldKey = header.wrappedKeyBytes
            else { throw corrupt(.header) }
            let wrapped: WrappedFileKey
            do throws(KeyFault) {
                wrapped = try context.keys.wrap(key, as: protection)
            } catch {
                throw Fault(error)
            }
            let file = self.file
            let before = try onHost { () throws(SystemError) in try file.descriptor.status() }
            header.setKey(protection: protection, wrapped: wrapped.blob)
            do throws(Fault) {
                try withWorkspace { workspace throws(Fault) in try writePage(header, workspace) }
            } catch {
                header.setKey(protection: old, wrapped: oldKey)
                throw error
            }
            complete.store(protection == .complete, ordering: .relaxed)
            try putBack(before, modification: before.modificationTime)
        }
    }
}

extension StoreContext {
    /// The class that a directory gives to what is made in it, from what the host stores with it. One that is none of the
    /// four is the strictest: what is made there is not less protected than somebody once wanted.
    public func classGiven(stored: [UInt8], inode: UInt64) -> ProtectionClass {
        if let protection = ProtectionClass(attributeValue: stored) { return protection }
        report(Corruption(inode: inode, place: .directoryClass))
        return .complete
    }
}
