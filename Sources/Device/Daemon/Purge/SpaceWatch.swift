// The work on space beside purging: writers learn that the device is nearly full, and containers are counted anew after
// a bad end.

import BackingStore
import DeviceLifecycle
import Platform
import SandboxModel
import Synchronization

/// Work beside the requests, which must neither wait for the kernel nor walk through containers: the kernel is told,
/// and a thread counts.
final class SpaceWatch: Sendable {
    /// Asked for when the device begins or ends to be nearly full.
    private let notices: RepeatedWork
    /// Tells the thread that counts to end.
    private let isEnding = Atomic<Bool>(false)
    /// nil where nothing is to be counted, and after the end.
    private let counting = Mutex<HostThread?>(nil)

    /// - Parameter noticeTightness: called with no lock held when the device begins to be nearly full, or is not any
    ///   more.
    init(_ device: BootedDevice, noticeTightness: @escaping @Sendable () -> Void) {
        notices = RepeatedWork(noticeTightness)
        device.context.space.whenTightnessChanges { [notices] in notices.request() }
        guard device.needsSpaceCount else { return }
        let thread = try? HostThread(name: "space-count") { [self] in
            device.countSpace { !isEnding.load(ordering: .relaxed) }
        }
        counting.withLock { $0 = thread }
    }

    /// Ends both, before the device does.
    func end() {
        isEnding.store(true, ordering: .releasing)
        notices.end()
        counting.withLock { $0.take() }?.join()
    }
}
