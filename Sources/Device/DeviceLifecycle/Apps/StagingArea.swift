// The staging directory of a booted device: where containers are built, and where replaced bundles end. Some of it is
// in use between two operations; all else that lies there then is left over.
// Lock: `state`, for moments only; nothing is called under it.

import BackingStore
import Platform
import SandboxModel
import Synchronization

/// The staging directory, and the names in it that are in use: apps that are being taken in, and bundles that an update
/// has replaced while they are open.
final class StagingArea: Sendable {
    /// A use lasts as long as somebody has the bundle open, so the table must not hold it.
    private struct WeakUse {
        weak var use: BundleUse?
    }

    private struct State {
        /// Of apps that are being taken in, and of retired bundles that are still open.
        var names: Set<FileName> = []
        /// The open bundles. Entries whose use has ended are removed when another one is added.
        var bundles: [ContainerUUID: WeakUse] = [:]
    }

    private let directory: DeviceDirectory
    /// For files that are not a part of a container yet: their space is counted when they are.
    let context: StoreContext
    private let state = Mutex(State())

    init(_ directory: DeviceDirectory, context: StoreContext) {
        self.directory = directory
        self.context = context
    }

    // MARK: The directory

    func open() throws(SystemError) -> Descriptor { try directory.staging() }

    /// Removes a name. If that fails, the next boot does it.
    func remove(_ name: FileName) {
        _ = try? open().removeTree(name)
    }

    /// Removes all that is not in use.
    /// - Parameter progress: files removed.
    func removeUnused(progress: (DeviceProgress) -> Bool = { _ in true }) throws(SystemError) {
        try directory.emptyStaging(keeping: namesInUse, progress: progress)
    }

    // MARK: Names in use

    /// The names that are not to be removed.
    var namesInUse: Set<FileName> { state.withLock { $0.names } }

    /// Marks a container's name as in use. Of several calls one ``release(_:)`` ends the use.
    func keep(_ container: ContainerUUID) {
        state.withLock { _ = $0.names.insert(container.fileName) }
    }

    func release(_ container: ContainerUUID) {
        state.withLock { _ = $0.names.remove(container.fileName) }
    }

    // MARK: Bundles that are open

    /// The use of a bundle that is open now; nil when nobody has it open.
    func presentUse(of bundle: ContainerUUID) -> BundleUse? { state.withLock { $0.bundles[bundle]?.use } }

    /// For an opening of a bundle: the same for all that have the bundle open at one time.
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
