// The ledger of a device's space: the bytes that its containers take on the host, and the bound on them.

public import Platform
public import SandboxModel
import Synchronization

/// The bytes of allocated blocks that a device's containers take on the host, and their bound.
///
/// A device has a capacity of its own, or that of the host's filesystem. With its own, every call that allocates claims
/// the space first, and is refused with ENOSPC if there is none. A part of the capacity, the reserve, is kept for pages
/// that the kernel has accepted from applications already (see ``Purpose/writtenBack``).
///
/// Lock: none for the counters, which are atomic, because the caller may hold the lock of a file. The lock of a running
/// count is innermost.
public final class SpaceLedger: Sendable {
    /// The figures of statfs(2), in bytes.
    public struct Figures: Hashable, Sendable {
        public let total: Int64
        /// Unallocated, the reserve included.
        public let free: Int64
        /// Available to applications.
        public let available: Int64

        public init(total: Int64, free: Int64, available: Int64) {
            self.total = total
            self.free = free
            self.available = available
        }
    }

    /// The origin of a claim.
    public enum Purpose: Sendable {
        /// A call that can be refused.
        case call
        /// Pages of write(2) or of a mapping: the application was told that they are written. May use the reserve.
        case writtenBack
    }

    public let weights: SpaceWeights
    /// The figures of the host's filesystem now.
    private let host: @Sendable () -> Figures
    private let usedBytes: Atomic<Int64>
    /// Claims of writes under way, which ``usedBytes`` does not include yet.
    private let claimedBytes = Atomic<Int64>(0)
    private let capacityBytes: Atomic<Int64>
    private let reserveBytes = Atomic<Int64>(0)
    /// The most bytes that the kernel holds and has not written out.
    private let dirtyBound = Atomic<Int64>(0)
    private let lowWaterBytes = Atomic<Int64>(0)
    private let marks: Mutex<SpaceMarks>
    private let alerts = SpaceAlerts()
    let count = SpaceCount()
    /// Held shared while entries are being removed.
    let removals = ReadWriteLock()

    /// - Parameters:
    ///   - used: bytes counted when the device was last shut down.
    ///   - capacity: nil for that of the host's filesystem.
    ///   - host: gives the present figures of the host's filesystem.
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

    /// Changes capacity and marks. Content stays, even above the capacity.
    public func bound(capacity: Int64?, marks: SpaceMarks) {
        self.marks.withLock { $0 = marks }
        capacityBytes.store(capacity ?? .max, ordering: .relaxed)
        setReserve()
        lowWaterBytes.store(lowWater, ordering: .relaxed)
        alerts.rearm()
    }

    /// Sets the most bytes that the kernel holds and has not written out, while there is enough space.
    public func bound(dirty: Int64) {
        dirtyBound.store(dirty, ordering: .relaxed)
        setReserve()
        checkLowWater()
    }

    /// Twice the dirty bound, because the kernel throttles writers late; at most a sixty-fourth of the capacity.
    private func setReserve() {
        let dirty = dirtyBound.load(ordering: .relaxed)
        let most = (capacity ?? 0) / 64
        reserveBytes.store(dirty > 0 && dirty < most / 2 ? dirty * 2 : most, ordering: .relaxed)
    }

    /// Bytes of the capacity kept for writeback.
    public var reserve: Int64 { reserveBytes.load(ordering: .relaxed) }

    /// A purge begins when fewer bytes are available.
    public var lowWater: Int64 { bytes(percent: marks.withLock { $0.low }) }

    /// A purge ends when so many bytes are available.
    public var highWater: Int64 { bytes(percent: marks.withLock { $0.high }) }

    private func bytes(percent: Double) -> Int64 {
        Int64(Double(capacity ?? host().total) * percent / 100)
    }

    // MARK: Figures

    /// Bytes that the containers take, as far as they have been counted.
    public var used: Int64 { max(usedBytes.load(ordering: .relaxed), 0) }

    private var unclaimed: Int64 {
        let capacity = capacityBytes.load(ordering: .relaxed)
        // After a crash, usedBytes may be negative until the count is done.
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

    /// Whether calls are refused: only the reserve is left.
    @inline(__always)
    public var isFull: Bool { unclaimed < reserveBytes.load(ordering: .relaxed) }

    /// Whether the device may soon be full: then writers must ask first, and the kernel hold less. Allows for the pages
    /// that the kernel holds already.
    @inline(__always)
    public var isTight: Bool {
        unclaimed < 3 * reserveBytes.load(ordering: .relaxed) + dirtyBound.load(ordering: .relaxed)
    }

    // MARK: Counting

    /// Adds allocated bytes; freed ones are negative.
    public func add(_ bytes: Int64) {
        guard bytes != 0 else { return }
        usedBytes.add(bytes, ordering: .relaxed)
        if bytes < 0 { spaceCameFree() } else { checkLowWater() }
    }

    /// Changes the bytes that an inode counts for.
    public func recount(_ inode: UInt64, from old: Int64, to new: Int64) {
        count.record(inode, new)
        add(new - old)
    }

    /// Records that an entry was moved.
    /// - Parameter directory: opens the entry, if it is a directory.
    public func recordMove(_ status: FileStatus, _ directory: () -> SharedDescriptor?) {
        // An open file reports its own bytes.
        if status.kind == .directory {
            count.recordMove(directory)
        } else {
            count.visit(status.inode) { weights.bytes(status) }
        }
    }

    /// Replaces the counted bytes by the result of a count.
    func replaceUsed(with counted: Int64) {
        usedBytes.store(counted, ordering: .relaxed)
        checkLowWater()
    }

    // MARK: Claims

    /// Claims space for an allocation, until ``release(_:)``.
    /// - Returns: the claim; 0 without a capacity of the device's own.
    /// - Throws: ENOSPC.
    public func claim(_ bytes: Int64, for purpose: Purpose) throws(Fault) -> Int64 {
        guard bytes > 0, capacityBytes.load(ordering: .relaxed) != .max else { return 0 }
        claimedBytes.add(bytes, ordering: .relaxed)
        let kept = purpose == .call ? reserveBytes.load(ordering: .relaxed) : 0
        guard unclaimed >= kept else {
            claimedBytes.subtract(bytes, ordering: .relaxed)
            checkLowWater()
            throw .system(.noSpace)
        }
        return bytes
    }

    /// Releases a claim, after success or failure. Bytes that were allocated are counted separately.
    public func release(_ claim: Int64) {
        if claim > 0 { claimedBytes.subtract(claim, ordering: .relaxed) }
    }

    /// - Throws: ENOSPC if the device is full.
    public func requireSpace() throws(Fault) {
        if isFull { throw .system(.noSpace) }
    }

    // MARK: Alerts

    /// Receives low space, and requests for space; nil before the device is served.
    public var reliever: (any SpaceRelief)? {
        get { alerts.reliever }
        set { alerts.setReliever(newValue) }
    }

    /// Sets a body that is called when ``isTight`` has changed: at once, with locks held.
    public func whenTightnessChanges(_ body: @escaping @Sendable () -> Void) {
        alerts.setTightnessObserver(body)
    }

    private func spaceCameFree() {
        alerts.rearm()
        alerts.notifyTightness(isTight)
    }

    private func checkLowWater() {
        // Claims exceed the bytes that will be used, and the receiver looks at the used ones.
        let claimed = claimedBytes.load(ordering: .relaxed)
        let left = unclaimed
        let available = left == .max ? left : left + claimed - reserveBytes.load(ordering: .relaxed)
        if available < lowWaterBytes.load(ordering: .relaxed) { alerts.notifyLow() }
        alerts.notifyTightness(isTight)
    }
}
