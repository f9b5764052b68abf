// One file of a data container: its key, its length, and the pages that say what is true of its blocks.

import DataProtection
public import Glibc
public import Platform
public import SandboxModel
import Synchronization

/// The content of one backing file, open. All descriptors and mappings of the file share one of these.
///
/// Reading takes ``lock`` shared, everything that changes content takes it exclusively. The lock is below the
/// volume's locks and above those of the page cache and the workspace pool.
public final class EncryptedFile: @unchecked Sendable {
    let context: StoreContext
    let identity: FileIdentity
    public let inode: UInt64
    let lock = ReadWriteLock()
    let cache = ContentPageCache()
    let maps = ContentPageCache()

    /// Whether opening found another length than `stat` had told: the kernel must then learn of a new node.
    public private(set) var lengthWasRecovered = false

    /// Whether opening found what a session that ended badly left, and could not write it down: to be opened for writing
    /// before anything is changed.
    public internal(set) var needsWriter = false

    /// Whether the content is of class A: what the paths of reading and writing look at.
    let complete: Atomic<Bool>

    // MARK: Guarded by `lock`

    /// What may be done with the content now, whatever the descriptors' modes.
    var access = Access.full
    /// nil once it was taken away.
    var heldKey: FileKey?
    /// What was written and did not get here, because the key had gone; see ``recordLoss(_:)``.
    var lost = RangeSet<Int64>()
    /// What of it found no room; see ``markRefusals()``.
    var refused = RangeSet<Int64>()
    /// What nobody was told of yet.
    var untoldLoss = RangeSet<Int64>()
    /// The backing file.
    var file: SharedDescriptor
    var isWritable: Bool
    /// The first page: header, and tags of group 0. As it is on disk, except in the middle of a change.
    let header: ContentPage
    /// Length of the content. The header's is older while the header ``ContentPage/isOpen``.
    var contentLength: Int64
    /// Groups that came into being since the header was opened; the header's maps do not name them yet.
    var addedGroups: Set<Int> = []
    /// Whether holes may have come into being since the header was opened.
    var hasGap = false
    /// Whether the content may have come to end where no seal does since the header was opened.
    var wasExtended = false
    var syncHabit = SyncHabit()
    /// What the backing file counts for in ``StoreContext/space``.
    var charged: Int64 = 0
    /// Ranges of the backing file for which space was reserved since it was opened, written since or not.
    var reserved = RangeSet<Int64>()
    /// See ``keep(modificationTime:)``.
    private(set) var keptModificationTime: timespec?

    init(
        context: StoreContext, key: FileKey, identity: FileIdentity, inode: UInt64, file: SharedDescriptor,
        isWritable: Bool, header: ContentPage
    ) {
        self.context = context
        heldKey = key
        complete = Atomic(header.protectionRawValue == ProtectionClass.complete.rawValue)
        self.identity = identity
        self.inode = inode
        self.file = file
        self.isWritable = isWritable
        self.header = header
        contentLength = header.length
    }

    deinit {
        context.openFiles.remove(ObjectIdentifier(self))
    }

    public var length: Int64 { lock.reading { contentLength } }

    public var protection: ProtectionClass {
        lock.reading { ProtectionClass(rawValue: header.protectionRawValue) ?? .standard }
    }

    /// The descriptor of the backing file, for what concerns its attributes and not its content.
    public var backing: SharedDescriptor { lock.reading { file } }

    // MARK: Creating and opening

    /// Gives a new, empty backing file a key and a header.
    ///
    /// - Parameter file: open for reading and writing, and empty.
    /// - Throws: `refused(.dataProtection)` when the class's key is not at hand, or the host's error.
    public static func create(
        _ file: SharedDescriptor, inode: UInt64, protection: ProtectionClass, context: StoreContext
    ) throws(Fault) -> EncryptedFile {
        try create(file, inode: inode, protection: protection, isWritable: true, charged: 0, context: context)
    }

    /// - Parameters:
    ///   - isWritable: when not, the header is only in memory, until a writer joins and brings it along.
    ///   - charged: what the backing file has been counted for.
    private static func create(
        _ file: SharedDescriptor, inode: UInt64, protection: ProtectionClass, isWritable: Bool, charged: Int64,
        context: StoreContext
    ) throws(Fault) -> EncryptedFile {
        let made: (FileKey, WrappedFileKey)
        do throws(KeyFault) {
            made = try context.keys.makeFileKey(protection)
        } catch {
            throw Fault(error)
        }
        let header = ContentPage()
        header.reset(.header, number: 0)
        header.setKey(protection: protection, wrapped: made.1.blob)
        let random = PageBuffer(count: 16)
        Entropy.fill(random, at: 0, count: 16)
        header.identity = FileIdentity(high: random.load(UInt64.self, at: 0), low: random.load(UInt64.self, at: 8))
        let content = EncryptedFile(
            context: context, key: made.0, identity: header.identity, inode: inode, file: file,
            isWritable: isWritable, header: header)
        content.charged = charged
        try context.openFiles.add(content)
        guard isWritable else { return content }
        let claim = try context.space.claim(Int64(ContentPage.size), for: .call)
        defer { context.space.release(claim) }
        try content.lock.writing { () throws(Fault) in
            try content.requireWriting()
            try context.workspaces.with { workspace throws(Fault) in
                try content.writePage(header, workspace)
            }
            content.countGrowth(Int64(ContentPage.size))
        }
        return content
    }

    /// Opens a backing file that has content.
    ///
    /// - Parameters:
    ///   - isWritable: whether `file` is open for writing too.
    ///   - isCounted: whether what it takes is counted already; else that is left to ``countSpace()``.
    /// - Throws: `refused(.dataProtection)` when the class's key is not at hand; `corrupt` when the header does not
    ///   authenticate or the file is not as long as the header says.
    public static func open(
        _ file: SharedDescriptor, isWritable: Bool, isCounted: Bool = true, context: StoreContext
    ) throws(Fault) -> EncryptedFile {
        let status = try onHost { () throws(SystemError) in try file.descriptor.status() }
        func corrupt(_ place: Corruption.Place) -> Fault {
            context.report(Corruption(inode: status.inode, place: place))
            return .corrupt
        }
        let header = ContentPage()
        let got = try onHost { () throws(SystemError) in
            try file.descriptor.read(into: header.bytes, count: ContentPage.size, from: 0)
        }
        if isUnfinishedCreation(file, status, header, context) {
            if isWritable, status.size > 0 {
                // What lies behind the header that never came was sealed with a key that never came either.
                try onHost { () throws(SystemError) in try file.descriptor.truncate(to: 0) }
            }
            let content = try create(
                file, inode: status.inode, protection: .standard, isWritable: isWritable,
                charged: isCounted ? context.space.weights.bytes(status) : 0, context: context)
            if isWritable { content.countSpace() }
            content.lengthWasRecovered = ContentLayout.length(ofBacking: status.size) != 0
            content.needsWriter = content.lengthWasRecovered && !isWritable
            return content
        }
        guard got == ContentPage.size, header.isWellFormed(.header), header.version == ContentPage.formatVersion,
            let protection = ProtectionClass(rawValue: header.protectionRawValue), let wrapped = header.wrappedKeyBytes
        else { throw corrupt(.header) }
        let key: FileKey
        do throws(KeyFault) {
            key = try context.keys.unwrap(WrappedFileKey(protection: protection, blob: wrapped))
        } catch .damaged {
            throw corrupt(.header)
        } catch {
            throw Fault(error)
        }
        let content = EncryptedFile(
            context: context, key: key, identity: header.identity, inode: status.inode, file: file,
            isWritable: isWritable, header: header)
        content.charged = isCounted ? context.space.weights.bytes(status) : 0
        try context.openFiles.add(content)
        // Nobody else uses the file yet. Only its key may be taken away meanwhile, hence the lock.
        try content.lock.writing { () throws(Fault) in
            try content.requireReading()
            try content.withWorkspace { workspace throws(Fault) in
                guard content.authenticates(header, workspace) else { throw corrupt(.header) }
                try content.resolveSlots(of: header, workspace)
                try content.recoverLength(backingLength: status.size, workspace)
            }
        }
        content.lengthWasRecovered = content.contentLength != ContentLayout.length(ofBacking: status.size)
        return content
    }

    /// Whether a backing file is one whose creation a killed process, or a host that lost power, did not finish.
    /// Otherwise one that is empty was cut to nothing: a file without content has a header.
    ///
    /// A process is killed between creating the file and writing its header, or within that write, for which the host
    /// has set the time already: nothing has changed it since shortly after it came into being, in a session that was
    /// killed. A host that loses power may have made the name durable, and the length with it, and not the header: then
    /// its page is zeros. A header that was synchronized once is written over in place, and is never zeros again.
    private static func isUnfinishedCreation(
        _ file: SharedDescriptor, _ status: FileStatus, _ header: ContentPage, _ context: StoreContext
    ) -> Bool {
        guard header.isZero else { return false }
        let history = context.history
        let written = HostTime(status.modificationTime)
        let made = (try? file.descriptor.birthTime()).map { HostTime($0) }
        func wasMade(in ending: SessionHistory.Ending) -> Bool {
            if let made, history.isDuring(ending, made) { return true }
            // A copy came into being after the last write, whose time it bears. An application may have set that time.
            return made.map { $0 > written } ?? true && history.isDuring(ending, written)
        }
        if wasMade(in: .powerLost) { return true }
        guard status.size == 0, let made, wasMade(in: .killed), history.isDuring(.killed, written) else { return false }
        return written.seconds(since: made) <= longestCreation
    }

    /// Seconds between creating a file and writing its header, on a host that is busy.
    private static let longestCreation = 10.0

    /// Makes the descriptor one that can write, when a writer joins readers.
    ///
    /// - Parameter file: the same backing file, open for reading and writing.
    public func adopt(writable file: SharedDescriptor) {
        lock.writing {
            guard !isWritable else { return }
            self.file = file
            isWritable = true
        }
    }

    public var canWrite: Bool { lock.reading { isWritable } }

    // MARK: Durability

    /// Makes everything durable that is needed to read what was written and, unless `dataOnly`, the time of the last
    /// write with it.
    public func synchronize(dataOnly: Bool) throws(Fault) {
        try announceUnsealedEnd()
        let file = lock.writing {
            syncHabit.synchronized()
            return self.file
        }
        if !dataOnly { try lock.reading { () throws(Fault) in try writeModificationTime() } }
        try onHost { () throws(SystemError) in try file.descriptor.synchronize(dataOnly: dataOnly) }
    }

    /// Writes down what the header left open, and the time that was kept. To be called when the last descriptor that
    /// could write is closed.
    public func commit() throws(Fault) {
        try lock.writing { () throws(Fault) in
            // A host that allocates late tells of other blocks while it does, and when it has.
            defer { recountSpace() }
            // Without its key the header stays open, and is settled when the file is opened next.
            if header.isOpen, heldKey != nil {
                try withWorkspace { workspace throws(Fault) in try commitStructure(workspace) }
            } else {
                try writeModificationTime()
            }
            keptModificationTime = nil
        }
    }

    /// Gives the host the time that was kept. The caller holds the lock: a later time must not reach the host first.
    func writeModificationTime() throws(Fault) {
        guard let time = keptModificationTime else { return }
        let file = self.file
        try onHost { () throws(SystemError) in
            try file.descriptor.changeTimes(access: .unchanged, modification: time)
        }
    }

    /// Keeps the time of the last write until the file is closed or wholly synchronized; nil for one that the host has.
    ///
    /// The kernel sends the time before each fdatasync. Given to the host then, it makes ext4 commit its journal for
    /// it, which takes a third longer than the data alone.
    public func keep(modificationTime: timespec?) {
        lock.writing {
            // After a restart the time belongs to those who have opened the file since.
            if access != .retired { keptModificationTime = modificationTime }
        }
    }

    /// The caller holds the lock.
    func forgetModificationTime() { keptModificationTime = nil }

    /// The time of the last write, where the host does not know it yet.
    public var modificationTime: timespec? { lock.reading { keptModificationTime } }

    // MARK: Pages

    func binding(_ page: ContentPage) -> BlockCipher.Binding {
        BlockCipher.Binding(
            domain: Domain.page, fileID: (identity.high, identity.low), index: UInt64(page.number),
            length: UInt32(ContentPage.size))
    }

    func binding(block: Int64, length: Int) -> BlockCipher.Binding {
        BlockCipher.Binding(
            domain: Domain.block, fileID: (identity.high, identity.low), index: UInt64(block), length: UInt32(length))
    }

    /// What a seal is for, so that no seal can stand in for one of another kind. A page's own kind is part of what
    /// its seal covers.
    private enum Domain {
        static let block: UInt8 = 1
        static let page: UInt8 = 2
    }

    func authenticates(_ page: ContentPage, _ workspace: Workspace) -> Bool {
        workspace.cipher.verify(
            page.bytes, ranges: ContentPage.sealedRanges, key: key, binding: binding(page),
            tagAt: ContentPage.sealOffset)
    }

    /// Stamps a page and authenticates it; it is then ready to be written.
    func seal(_ page: ContentPage, _ workspace: Workspace) {
        page.session = context.history.current
        workspace.cipher.authenticate(
            page.bytes, ranges: ContentPage.sealedRanges, key: key, binding: binding(page),
            tagAt: ContentPage.sealOffset)
    }

    /// Seals the first page or a tag page and writes it to its place.
    func writePage(_ page: ContentPage, _ workspace: Workspace) throws(Fault) {
        seal(page, workspace)
        let offset = ContentLayout.tagPageOffset(group: page.number)
        try onHost { () throws(SystemError) in
            try file.descriptor.write(from: page.bytes, count: ContentPage.size, to: offset)
        }
    }

    func corrupt(_ place: Corruption.Place) -> Fault {
        context.report(Corruption(inode: inode, place: place))
        return .corrupt
    }
}

extension Fault {
    init(_ fault: KeyFault) {
        switch fault {
        case .unavailable: self = .refused(.dataProtection)
        case .damaged: self = .corrupt
        }
    }
}
