// The protection class of a file: read from the header, and changed by wrapping the key anew. No content is touched.

import DataProtection
public import Platform
public import SandboxModel
import Synchronization

extension EncryptedFile {
    /// The class in a backing file's header, without authentication: for display. Opening the file authenticates it.
    /// - Returns: nil if there is no header.
    public static func protection(of backing: borrowing Descriptor) -> ProtectionClass? {
        let header = ContentPage()
        guard let got = try? backing.read(into: header.bytes, count: ContentPage.size, from: 0),
            got == ContentPage.size, header.isWellFormed(.header), header.version == ContentPage.formatVersion
        else { return nil }
        return ProtectionClass(rawValue: header.protectionRawValue)
    }

    /// Wraps the file's key under another class's key. The file must be open for writing. A kill leaves the old header
    /// or the new one, because a page is never torn; each opens with its own class.
    ///
    /// - Throws: `refused(.dataProtection)` if the new class's key is not available; ENOSPC and other errors of the
    ///   host. The class is then unchanged.
    public func changeProtection(to protection: ProtectionClass) throws(Fault) {
        try lock.writing { () throws(Fault) in
            try requireReading()
            guard isWritable else { throw .system(.badDescriptor) }
            guard let old = header.wrappedKey else { throw corrupt(.header) }
            let wrapped: WrappedFileKey
            do throws(KeyFault) {
                wrapped = try context.keys.wrap(key, as: protection)
            } catch {
                throw Fault(error)
            }
            let file = self.file
            let before = try onHost { () throws(SystemError) in try file.descriptor.status() }
            header.setKey(wrapped)
            do throws(Fault) {
                try withWorkspace { workspace throws(Fault) in try writePage(header, workspace) }
            } catch {
                header.setKey(old)
                throw error
            }
            complete.store(protection == .complete, ordering: .relaxed)
            try restoreStatus(before, modification: before.modificationTime)
        }
    }
}
