// An open encrypted file: its state, and the lock that guards it. Each operation is an extension in a file of its own.

import DataProtection
import Glibc
public import Platform
public import SandboxModel
import Synchronization

/// The content of one backing file, shared by all its open descriptors and mappings.
///
/// Lock: ``lock``, shared for reads, exclusive for every change. It is below the locks of the volume, and above those
/// of the page caches and the workspace pool. A function that takes a ``Workspace`` expects it to be held.
///
/// `+Opening` creates and opens, `+Read`, `+Write` and
/// `+SealedWrite` move content, `+Truncation` and `+Holes` change length and holes,
/// `+Commit` closes and synchronizes, `+Recovery` repairs after a crash, `+Access` follows the device's lock.
public final class EncryptedFile: @unchecked Sendable {
    let context: StoreContext
    /// Every seal is bound to it.
    let identity: FileIdentity
    /// Inode number of the backing file; 0 until a new file has its header.
    public var inode: UInt64 { inodeNumber.load(ordering: .relaxed) }
    private let inodeNumber: Atomic<UInt64>
    let lock = ReadWriteLock()
    /// Verified tag pages.
    let cache = ContentPageCache()
    /// Verified map pages.
    let maps = ContentPageCache()

    /// Whether opening found another length than `stat` reported: the kernel then needs a new node.
    public internal(set) var lengthWasRecovered = false

    /// Whether opening found unfinished changes and could not write the repair: the file must be opened for writing
    /// before anything is changed.
    public internal(set) var needsWriter = false

    /// Whether the class is A. Atomic: the data path reads it without the lock.
    let complete: Atomic<Bool>

    /// ``heldKey``, for writes that are sealed before they hold the lock. Its lock is a leaf.
    let sealingKey: Mutex<FileKey?>
    /// Writes that are sealed, and wait for a holder of the lock.
    let sealedRuns = SealedRunQueue()
    /// The content's length when it was last written, 0 if it had holes: what lies below can probably be overwritten.
    let denseLength = Atomic<Int64>(0)

    // MARK: Guarded by `lock`

    /// The access that the device's state permits, whatever the descriptors' modes.
    var access = Access.full
    /// nil after a lock took it away.
    var heldKey: FileKey? {
        didSet { sealingKey.withLock { $0 = heldKey } }
    }
    /// The runs that the holder of the lock writes.
    var takenRuns: [SealedRun] = []
    /// Whether acknowledged runs were lost since the holder of the lock began to write.
    var hasLostRuns = false
    var losses = LostRanges()
    /// The backing file.
    var file: SharedDescriptor
    var isWritable: Bool
    /// The first page: header, and tags of group 0. As on disk, except during a change.
    let header: ContentPage
    /// Length of the content. The header's is older while the header ``ContentPage/isOpen``.
    var contentLength: Int64
    var uncommitted = UncommittedStructure()
    var syncHabit = SyncHabit()
    var backingSpace = BackingSpace()
    /// The time of the last write, while the host does not have it: see ``keep(modificationTime:)``.
    var keptModificationTime: timespec?
    /// The time that the host had before the content was changed; nil once an application has set another. The kernel,
    /// which has the time of each write, sends none for a write within the tick of that one.
    var earlierModificationTime: timespec?
    /// Whether the content was changed since the host got that time: it has one of its own then.
    var isChanged = false

    /// - Parameter header: complete; of a new file not written yet.
    init(context: StoreContext, backing: BackingFile, header: ContentPage, key: FileKey) {
        self.context = context
        heldKey = key
        sealingKey = Mutex(key)
        complete = Atomic(header.protectionRawValue == ProtectionClass.complete.rawValue)
        identity = header.identity
        inodeNumber = Atomic(backing.inode ?? 0)
        file = backing.file
        isWritable = backing.isWritable
        self.header = header
        contentLength = header.length
    }

    deinit {
        context.openFiles.remove(ObjectIdentifier(self))
    }

    /// Sets the inode number of a new file.
    func setInode(_ inode: UInt64) { inodeNumber.store(inode, ordering: .relaxed) }

    public var length: Int64 { lock.reading { contentLength } }

    public var protection: ProtectionClass {
        lock.reading { ProtectionClass(rawValue: header.protectionRawValue) ?? .standard }
    }

    /// The descriptor of the backing file, for its attributes. Its content is ciphertext.
    public var backing: SharedDescriptor { lock.reading { file } }

    /// Replaces the descriptor when a writer joins readers.
    ///
    /// - Parameter file: the same backing file, open for reading and writing.
    public func adopt(writable file: SharedDescriptor) {
        lock.writing {
            guard !isWritable else { return }
            self.file = file
            isWritable = true
        }
    }

    /// Whether the backing file is open for writing.
    public var canWrite: Bool { lock.reading { isWritable } }

    /// Reports bytes that do not authenticate, and gives the error for them.
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
