// Alerts of the ledger: space is low, and the device is tight. Each is sent once until the condition ends.

import Synchronization

/// The part of a device that can free space.
public protocol SpaceRelief: AnyObject, Sendable {
    /// Less is available than the low-water mark. Must return at once: locks are held.
    func spaceIsLow()
    /// Purges until so many bytes are available, or nothing is left to purge. Called with no lock held, by a request:
    /// it waits for space only, not for the kernel to be notified.
    /// - Returns: whether trying again is worth it: something was freed since the call began, or enough is available.
    func makeSpace(for bytes: Int64) -> Bool
    /// The bytes that purging everything would free, some seconds old at most. Called with no lock held.
    var purgeable: Int64 { get }
}

/// The alerts' receivers, and whether each was sent.
///
/// Lock: the flags are atomic, as alerts are sent under the locks of files. `relief` and `tightness` are innermost:
/// they are released before a receiver is called.
struct SpaceAlerts: ~Copyable, Sendable {
    /// Whether low space was reported, and none has come free since.
    private let sentLow = Atomic<Bool>(false)
    /// The last reported tightness.
    private let sentTight = Atomic<Bool>(false)
    private let relief = Mutex<(any SpaceRelief)?>(nil)
    private let tightness = Mutex<(@Sendable () -> Void)?>(nil)

    var reliever: (any SpaceRelief)? { relief.withLock { $0 } }

    func setReliever(_ reliever: (any SpaceRelief)?) {
        relief.withLock { $0 = reliever }
    }

    func setTightnessObserver(_ body: @escaping @Sendable () -> Void) {
        tightness.withLock { $0 = body }
    }

    /// Reports that space is low, once until ``rearm()``.
    func notifyLow() {
        if !sentLow.exchange(true, ordering: .relaxed) { reliever?.spaceIsLow() }
    }

    /// Lets the next low space be reported again.
    func rearm() { sentLow.store(false, ordering: .relaxed) }

    /// Reports the tightness if it differs from the last reported one.
    func notifyTightness(_ isTight: Bool) {
        guard sentTight.load(ordering: .relaxed) != isTight,
            sentTight.exchange(isTight, ordering: .relaxed) != isTight
        else { return }
        tightness.withLock { $0 }?()
    }
}
