// Tells when the last user of a bundle is gone, so that an update can remove the old bundle.

import Synchronization

/// A reference that every user of an open bundle holds. It is deallocated with the last of them.
///
/// Lock: `ended`, innermost; released before the callback.
public final class BundleUse: Sendable {
    private let ended = Mutex<(@Sendable () -> Void)?>(nil)

    public init() {}

    /// Calls back when the last reference goes: on the thread that drops it, which may hold locks.
    public func whenUnused(_ body: @escaping @Sendable () -> Void) {
        ended.withLock { $0 = body }
    }

    deinit {
        ended.withLock { $0 }?()
    }
}
