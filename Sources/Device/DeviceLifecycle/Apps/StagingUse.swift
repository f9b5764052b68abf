// What lies in the staging directory and is in use: apps that are being taken in, and bundles that an update replaced
// while somebody reads them. All else that lies there between two operations is left over.
// Lock: `state`, for moments only; nothing is called under it.

import BackingStore
import SandboxModel
import Synchronization

final class StagingUse: Sendable {
    private struct WeakUse {
        weak var use: BundleUse?
    }

    private struct State {
        var names: Set<FileName> = []
        var bundles: [ContainerUUID: WeakUse] = [:]
    }

    private let state = Mutex(State())

    /// What is not to be removed.
    var names: Set<FileName> { state.withLock { $0.names } }

    func keep(_ container: ContainerUUID) {
        state.withLock { _ = $0.names.insert(container.fileName) }
    }

    func letGo(of container: ContainerUUID) {
        state.withLock { _ = $0.names.remove(container.fileName) }
    }

    /// What those have who have a bundle open now; nil when nobody does.
    func presentUse(of bundle: ContainerUUID) -> BundleUse? { state.withLock { $0.bundles[bundle]?.use } }

    /// For whoever opens a bundle: the same for all who have it open at one time.
    func use(of bundle: ContainerUUID) -> BundleUse {
        state.withLock { state in
            if let known = state.bundles[bundle]?.use { return known }
            let use = BundleUse()
            state.bundles = state.bundles.filter { $0.value.use != nil }
            state.bundles[bundle] = WeakUse(use: use)
            return use
        }
    }
}
