// The work on space beside purging: writers learn that the device is nearly full, and containers are counted anew after
// a bad end.

import BackingStore
import DeviceLifecycle
import Platform
import SandboxModel
import Synchronization

/// Two threads beside the requests, which must neither wait for the kernel nor walk through containers: one notifies
/// the kernel, the other counts.
final class SpaceWatch: Sendable {
    /// Signalled when the device begins or ends to be nearly full, and at the end.
    private let tight = Semaphore()
    /// Tells both threads to end.
    private let isEnding = Atomic<Bool>(false)
    /// Empty once ``end()`` has taken them.
    private let threads = Mutex<[HostThread]>([])

    /// - Parameter noticeTightness: called with no lock held when the device begins to be nearly full, or is not any
    ///   more.
    init(_ device: BootedDevice, noticeTightness: @escaping @Sendable () -> Void) {
        device.context.space.whenTightnessChanges { [tight] in tight.signal() }
        var threads: [HostThread?] = []
        threads.append(
            try? HostThread(name: "space-tight") { [self] in
                while true {
                    tight.wait()
                    guard !isEnding.load(ordering: .acquiring) else { return }
                    noticeTightness()
                }
            })
        if device.needsSpaceCount {
            threads.append(
                try? HostThread(name: "space-count") { [self] in
                    device.countSpace { !isEnding.load(ordering: .relaxed) }
                })
        }
        let started = threads.compactMap(\.self)
        self.threads.withLock { $0 = started }
    }

    /// Ends both, before the device does.
    func end() {
        isEnding.store(true, ordering: .releasing)
        tight.signal()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads { thread.join() }
    }
}
