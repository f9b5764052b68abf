// Creating and opening encrypted files: the header is written or verified, and the key wrapped or unwrapped.

import DataProtection
public import Platform
public import SandboxModel

/// A backing file, as it was opened for an ``EncryptedFile``.
struct BackingFile {
    let file: SharedDescriptor
    /// nil for a new file, which is not looked at before it has a header.
    let inode: UInt64?
    /// Whether `file` is open for writing too.
    let isWritable: Bool
}

extension EncryptedFile {
    /// Gives a new, empty backing file a key and a header.
    ///
    /// - Parameter file: open for reading and writing, and empty.
    /// - Returns: with the file, the host's status of the backing file, looked at once it had its header.
    /// - Throws: `refused(.dataProtection)` if the class's key is not available; ENOSPC and other errors of the host.
    public static func create(
        _ file: SharedDescriptor, protection: ProtectionClass, context: StoreContext
    ) throws(Fault) -> (file: EncryptedFile, status: FileStatus) {
        var status: FileStatus?
        let content = try create(
            BackingFile(file: file, inode: nil, isWritable: true), protection: protection, charged: 0,
            context: context, status: &status)
        return (content, status!)
    }

    /// - Parameters:
    ///   - backing: without write access the header stays in memory, until a writer joins and writes it.
    ///   - charged: bytes that the ledger counts for the backing file already.
    ///   - status: gets the host's status of a file whose inode number is not known.
    private static func create(
        _ backing: BackingFile, protection: ProtectionClass, charged: Int64, context: StoreContext,
        status: inout FileStatus?
    ) throws(Fault) -> EncryptedFile {
        let (key, wrappedKey): (FileKey, WrappedFileKey)
        do throws(KeyFault) {
            (key, wrappedKey) = try context.keys.makeFileKey(protection)
        } catch {
            throw Fault(error)
        }
        let header = ContentPage()
        header.reset(.header, number: 0)
        header.setKey(wrappedKey)
        header.identity = FileIdentity.random()
        let content = EncryptedFile(context: context, backing: backing, header: header, key: key)
        content.backingSpace.charged = charged
        try context.openFiles.add(content)
        guard backing.isWritable else { return content }
        let claim = try context.space.claim(Int64(ContentPage.size), for: .call)
        defer { context.space.release(claim) }
        try content.lock.writing { () throws(Fault) in
            try content.requireWriting()
            try context.workspaces.with { workspace throws(Fault) in
                try content.writePage(header, workspace)
            }
            if backing.inode == nil {
                let found = try onHost { () throws(SystemError) in try backing.file.descriptor.status() }
                content.setInode(found.inode)
                status = found
            }
            content.countGrowth(Int64(ContentPage.size))
        }
        return content
    }

    /// Opens a backing file that has content.
    ///
    /// - Parameters:
    ///   - isWritable: whether `file` is open for writing too.
    ///   - isCounted: whether the ledger counts its space already; if not, ``countSpace()`` has to.
    /// - Throws: `refused(.dataProtection)` if the class's key is not available; `corrupt` if the header does not
    ///   authenticate, or the length of the file contradicts it.
    public static func open(
        _ file: SharedDescriptor, isWritable: Bool, isCounted: Bool = true, context: StoreContext
    ) throws(Fault) -> EncryptedFile {
        let status = try onHost { () throws(SystemError) in try file.descriptor.status() }
        let backing = BackingFile(file: file, inode: status.inode, isWritable: isWritable)
        let charged = isCounted ? context.space.weights.bytes(status) : 0
        let header = ContentPage()
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(into: header.bytes, count: ContentPage.size, from: 0)
        }
        if isUnfinishedCreation(file, status, header, context) {
            return try finishCreation(of: backing, status, charged: charged, context)
        }
        func corruptHeader() -> Fault {
            context.report(Corruption(inode: status.inode, place: .header))
            return .corrupt
        }
        guard got == ContentPage.size, let wrapped = header.wrappedKey else { throw corruptHeader() }
        let key: FileKey
        do throws(KeyFault) {
            key = try context.keys.unwrap(wrapped)
        } catch .damaged {
            throw corruptHeader()
        } catch {
            throw Fault(error)
        }
        let content = EncryptedFile(context: context, backing: backing, header: header, key: key)
        content.backingSpace.charged = charged
        content.earlierModificationTime = status.modificationTime
        try context.openFiles.add(content)
        // No other thread uses the file yet, but a lock of the device may take its key.
        try content.lock.writing { () throws(Fault) in
            try content.requireReading()
            try content.withWorkspace { workspace throws(Fault) in
                guard content.authenticates(header, workspace) else { throw corruptHeader() }
                try content.resolveSlots(of: header, workspace)
                try content.recoverLength(backingLength: status.size, workspace)
            }
        }
        content.lengthWasRecovered = content.contentLength != ContentLayout.length(ofBacking: status.size)
        return content
    }

    // MARK: Unfinished creation

    /// Gives a file whose creation was interrupted its header.
    private static func finishCreation(
        of backing: BackingFile, _ status: FileStatus, charged: Int64, _ context: StoreContext
    ) throws(Fault) -> EncryptedFile {
        if backing.isWritable, status.size > 0 {
            // The header is missing, and with it the key of any block behind it.
            try onHost { () throws(SystemError) in try backing.file.descriptor.truncate(to: 0) }
        }
        var known: FileStatus? = status
        let content = try create(
            backing, protection: .standard, charged: charged, context: context, status: &known)
        if backing.isWritable { content.countSpace() }
        content.lengthWasRecovered = ContentLayout.length(ofBacking: status.size) != 0
        content.needsWriter = content.lengthWasRecovered && !backing.isWritable
        return content
    }

    /// Whether a killed process, or a host that lost power, left the file without its header. Any other file without a
    /// header was tampered with: even a file without content has one.
    ///
    /// A process can be killed between creating the file and writing its header, or within that write, for which the
    /// host has set the time already. Such a file was born in a session that was killed, and last changed soon after. A
    /// host that loses power may have made the name and the length durable but not the header: its page is then zeros.
    /// A header that was synchronized once is overwritten in place, and is never zeros again.
    private static func isUnfinishedCreation(
        _ file: SharedDescriptor, _ status: FileStatus, _ header: ContentPage, _ context: StoreContext
    ) -> Bool {
        guard header.isZero else { return false }
        let history = context.history
        let written = HostTime(status.modificationTime)
        let made = (try? file.descriptor.birthTime()).map { HostTime($0) }
        func wasMade(in ending: SessionHistory.Ending) -> Bool {
            if let made, history.isDuring(ending, made) { return true }
            // A copy is younger than its time of modification. But an application may have set that time.
            return made.map { $0 > written } ?? true && history.isDuring(ending, written)
        }
        if wasMade(in: .powerLost) { return true }
        guard status.size == 0, let made, wasMade(in: .killed), history.isDuring(.killed, written) else { return false }
        return written.seconds(since: made) <= longestCreation
    }

    /// The longest time between creating a file and writing its header, on a busy host, in seconds.
    private static let longestCreation = 10.0
}
