// How much of the host a device takes, counted as it changes, and how much it may take.
// Whoever counts may hold the lock of a file: all that is touched here then is atomic, but for the lock of a count that
// is under way, which is innermost.

public import Platform
public import SandboxModel
import Synchronization

/// What a device's containers hold on the host, in bytes of allocated blocks, and the bound that it must not go beyond.
///
/// A device has a capacity of its own, or that of the host's filesystem. In the first case everything that allocates
/// claims its space before, and is refused with ENOSPC; a part of the capacity is kept back for pages that the kernel
/// has taken from an application already (see ``Purpose/writtenBack``).
public final class SpaceLedger: Sendable {
    /// What statfs(2) tells, in bytes.
    public struct Figures: Hashable, Sendable {
        public let total: Int64
        /// What is not allocated, the reserve included.
        public let free: Int64
        /// What an application can have.
        public let available: Int64

        public init(total: Int64, free: Int64, available: Int64) {
            self.total = total
            self.free = free
            self.available = available
        }
    }

    /// What space is claimed for.
    public enum Purpose: Sendable {
        /// A call that can be refused.
        case call
        /// What write(2) or a mapping has left in the page cache: the application believes it written.
        case writtenBack
    }

    /// How many bytes of the host an inode counts for.
    public let weights: SpaceWeights
    private let host: @Sendable () -> Figures
    private let usedBytes: Atomic<Int64>
    /// Claimed by writes that are under way, and not in ``usedBytes`` yet.
    private let claimedBytes = Atomic<Int64>(0)
    private let capacityBytes: Atomic<Int64>
    private let reserveBytes = Atomic<Int64>(0)
    private let dirtyBound = Atomic<Int64>(0)
    private let lowWaterBytes = Atomic<Int64>(0)
    /// Whether somebody was told that space is low, and none has come free since.
    private let hasToldLow = Atomic<Bool>(false)
    private let hasToldTight = Atomic<Bool>(false)
    private let marks: Mutex<SpaceMarks>
    private let relief = Mutex<(any SpaceRelief)?>(nil)
    private let tightness = Mutex<(@Sendable () -> Void)?>(nil)
    let count = SpaceCount()
    /// Held shared while entries are on their way out.
    let removals = ReadWriteLock()

    /// - Parameters:
    ///   - used: what was counted when the device was last shut down.
    ///   - capacity: nil for that of the host's filesystem.
    ///   - host: what the host's filesystem has now.
    public init(
        used: Int64 = 0, capacity: Int64? = nil, marks: SpaceMarks = SpaceMarks(),
        weights: SpaceWeights = SpaceWeights(),
        host: @escaping @Sendable () -> Figures = { Figures(total: .max, free: .max, available: .max) }
    ) {
        usedBytes = Atomic(used)
        capacityBytes = Atomic(capacity ?? .max)
        self.marks = Mutex(marks)
        self.weights = weights
        self.host = host
        bound(capacity: capacity, marks: marks)
    }

    // MARK: Bounds

    /// The device's own capacity; nil for that of the host's filesystem.
    public var capacity: Int64? {
        let capacity = capacityBytes.load(ordering: .relaxed)
        return capacity == .max ? nil : capacity
    }

    public var waterMarks: SpaceMarks { marks.withLock { $0 } }

    /// Gives the device another capacity and other marks. What is there stays, though it be more.
    public func bound(capacity: Int64?, marks: SpaceMarks) {
        self.marks.withLock { $0 = marks }
        capacityBytes.store(capacity ?? .max, ordering: .relaxed)
        setReserve()
        lowWaterBytes.store(lowWater, ordering: .relaxed)
        hasToldLow.store(false, ordering: .relaxed)
    }

    /// Says how much the kernel holds at most that is not written out yet, while there is room enough.
    public func bound(dirty: Int64) {
        dirtyBound.store(dirty, ordering: .relaxed)
        setReserve()
        look()
    }

    /// Twice what the kernel holds, for it stops writers late; never more than a sixty-fourth of the capacity.
    private func setReserve() {
        let dirty = dirtyBound.load(ordering: .relaxed)
        let most = (capacity ?? 0) / 64
        reserveBytes.store(dirty > 0 && dirty < most / 2 ? dirty * 2 : most, ordering: .relaxed)
    }

    /// What is kept back of a capacity for what the kernel has yet to write out.
    public var reserve: Int64 { reserveBytes.load(ordering: .relaxed) }

    /// Bytes available below which space is low: something is to be purged.
    public var lowWater: Int64 { mark(marks.withLock { $0.low }) }

    /// Bytes available up to which is then purged.
    public var highWater: Int64 { mark(marks.withLock { $0.high }) }

    private func mark(_ percent: Double) -> Int64 {
        Int64(Double(capacity ?? host().total) * percent / 100)
    }

    // MARK: Figures

    /// Taken by the containers, as far as it has been counted.
    public var used: Int64 { max(usedBytes.load(ordering: .relaxed), 0) }

    private var unclaimed: Int64 {
        let capacity = capacityBytes.load(ordering: .relaxed)
        // What is used may be less than nothing, until it has been counted after a bad ending.
        guard capacity != .max else { return .max }
        return capacity - usedBytes.load(ordering: .relaxed) - claimedBytes.load(ordering: .relaxed)
    }

    public var figures: Figures {
        let host = self.host()
        guard let capacity else { return host }
        let free = max(unclaimed, 0)
        return Figures(
            total: capacity, free: min(free, host.free),
            available: min(max(free - reserve, 0), host.available))
    }

    /// Whether nothing new is taken from applications: what is left of the capacity is the reserve.
    @inline(__always)
    public var isFull: Bool { unclaimed < reserveBytes.load(ordering: .relaxed) }

    /// Whether it soon may be full: who writes is to ask before, and the kernel to hold less. It begins early enough for
    /// what the kernel holds already.
    @inline(__always)
    public var isTight: Bool {
        unclaimed < 3 * reserveBytes.load(ordering: .relaxed) + dirtyBound.load(ordering: .relaxed)
    }

    // MARK: Counting

    /// Counts what was allocated, or with a negative number given back.
    public func add(_ bytes: Int64) {
        guard bytes != 0 else { return }
        usedBytes.add(bytes, ordering: .relaxed)
        if bytes < 0 { hasRoom() } else { look() }
    }

    /// Counts an inode for another number of bytes than before.
    public func recount(_ inode: UInt64, from old: Int64, to new: Int64) {
        count.note(inode, new)
        add(new - old)
    }

    /// Says that an entry came to lie elsewhere.
    /// - Parameter directory: its descriptor, for a directory.
    public func noteMove(_ status: FileStatus, _ directory: () -> SharedDescriptor?) {
        // What an open file holds is known to itself alone, and told when it changes.
        if status.kind == .directory {
            count.noteMove(directory)
        } else {
            count.visit(status.inode) { weights.bytes(status) }
        }
    }

    /// Takes the result of a count for what was known until now.
    func take(counted: Int64) {
        usedBytes.store(counted, ordering: .relaxed)
        look()
    }

    /// Keeps space for what is about to be allocated, until the claim is settled.
    /// - Returns: what is to be settled; 0 where the host alone sets the bound.
    /// - Throws: ENOSPC.
    public func claim(_ bytes: Int64, for purpose: Purpose) throws(Fault) -> Int64 {
        guard bytes > 0, capacityBytes.load(ordering: .relaxed) != .max else { return 0 }
        claimedBytes.add(bytes, ordering: .relaxed)
        let kept = purpose == .call ? reserveBytes.load(ordering: .relaxed) : 0
        guard unclaimed >= kept else {
            claimedBytes.subtract(bytes, ordering: .relaxed)
            look()
            throw .system(.noSpace)
        }
        return bytes
    }

    /// Gives a claim back, whatever became of it: what was allocated is counted besides.
    public func settle(_ claimed: Int64) {
        if claimed > 0 { claimedBytes.subtract(claimed, ordering: .relaxed) }
    }

    /// - Throws: ENOSPC when the device is full.
    public func requireRoom() throws(Fault) {
        if isFull { throw .system(.noSpace) }
    }

    private func hasRoom() {
        hasToldLow.store(false, ordering: .relaxed)
        tellTightness()
    }

    private func look() {
        // Without what is claimed, which is more than will be used: who is told is to find it so.
        let claimed = claimedBytes.load(ordering: .relaxed)
        let left = unclaimed
        let available = left == .max ? left : left + claimed - reserveBytes.load(ordering: .relaxed)
        if available < lowWaterBytes.load(ordering: .relaxed), !hasToldLow.exchange(true, ordering: .relaxed) {
            reliever?.spaceIsLow()
        }
        tellTightness()
    }

    private func tellTightness() {
        let isTight = self.isTight
        guard hasToldTight.load(ordering: .relaxed) != isTight,
            hasToldTight.exchange(isTight, ordering: .relaxed) != isTight
        else { return }
        tightness.withLock { $0 }?()
    }

    // MARK: Whom to tell

    /// Whom to tell that space is low, and to ask for room; none before the device is served.
    public var reliever: (any SpaceRelief)? {
        get { relief.withLock { $0 } }
        set { relief.withLock { $0 = newValue } }
    }

    /// Called when ``isTight`` has changed, at once and with locks held.
    public func whenTightnessChanges(_ body: @escaping @Sendable () -> Void) {
        tightness.withLock { $0 = body }
    }
}

/// Whoever can free space.
public protocol SpaceRelief: AnyObject, Sendable {
    /// Less is available than the low-water mark. Returns at once; called with locks held.
    func spaceIsLow()
    /// Frees what may go until so many bytes are available, or nothing may go any more. Called with no lock held, by
    /// a request: it waits for space only, never for what the kernel is told of it.
    /// - Returns: whether anything was freed since the call began, or so much is available, so that it is worth trying
    ///   again.
    func makeSpace(for bytes: Int64) -> Bool
    /// Bytes that would come free if everything went that may. May be some seconds old. Called with no lock held.
    var purgeable: Int64 { get }
}

/// When something is purged, in percent of a device's capacity.
public struct SpaceMarks: Hashable, Sendable {
    /// Less available than this is low.
    public let low: Double
    /// So much is then made available.
    public let high: Double

    public static let usual = SpaceMarks(low: 5, high: 10)!

    public init() { self = .usual }

    /// - Returns: nil unless 0 <= low <= high <= 100.
    public init?(low: Double, high: Double) {
        guard low >= 0, low <= high, high <= 100 else { return nil }
        self.low = low
        self.high = high
    }
}

/// How many bytes of the host an inode counts for: the same whenever it is asked, so that what was counted can be taken
/// back.
public struct SpaceWeights: Sendable {
    /// Directories grow and never shrink, and nobody tells when: each counts for what an empty one takes.
    public let directory: Int64
    /// Whether the host allocates ahead of a growing file, and takes that back some time after it was closed.
    private let allocatesAhead: Bool
    private static let block: Int64 = 4096

    public init(directory: Int64 = 0, allocatesAhead: Bool = false) {
        self.directory = directory
        self.allocatesAhead = allocatesAhead
    }

    /// - Parameters:
    ///   - type: of the host's filesystem, as statfs(2) has it.
    ///   - blockSize: of the host's filesystem, in bytes.
    public init(ofFilesystem type: Int64, blockSize: Int64) {
        self.init(directory: type == SpaceWeights.ext4 ? blockSize : 0, allocatesAhead: type == SpaceWeights.xfs)
    }

    // EXT4_SUPER_MAGIC and XFS_SUPER_MAGIC of <linux/magic.h>.
    private static let ext4: Int64 = 0xEF53
    private static let xfs: Int64 = 0x5846_5342

    public func bytes(_ status: FileStatus) -> Int64 {
        switch status.kind {
        case .directory: directory
        case .file: bytes(blocks: status.blocks, size: status.size)
        case .symbolicLink, .fifo, .socket, .device: status.blocks * 512
        }
    }

    func bytes(blocks: Int64, size: Int64) -> Int64 {
        let allocated = blocks * 512
        guard allocatesAhead else { return allocated }
        return min(allocated, (size + SpaceWeights.block - 1) / SpaceWeights.block * SpaceWeights.block)
    }
}
