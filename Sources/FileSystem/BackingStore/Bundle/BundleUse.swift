// Whether anybody still reads a bundle: one that an update replaced goes when nobody does any more.

import Synchronization

/// What everybody has who has a bundle opened. It ends with the last of them.
public final class BundleUse: Sendable {
    private let ended = Mutex<(@Sendable () -> Void)?>(nil)

    public init() {}

    /// Calls back once nobody has the bundle any more: on whichever thread lets go of it, which may hold locks.
    public func whenUnused(_ body: @escaping @Sendable () -> Void) {
        ended.withLock { $0 = body }
    }

    deinit {
        ended.withLock { $0 }?()
    }
}
