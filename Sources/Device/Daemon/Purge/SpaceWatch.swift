// What the device does by itself about space: it tells writers that there is none, and counts anew what nobody knows.

import BackingStore
import DeviceLifecycle
import Platform
import SandboxModel
import Synchronization

/// Two threads beside the requests, which must neither wait for the kernel nor walk through containers.
final class SpaceWatch: Sendable {
    private let tight = Semaphore()
    private let isEnding = Atomic<Bool>(false)
    private let threads = Mutex<[HostThread]>([])

    /// - Parameter noticeTightness: called with no lock held when the device has come to be nearly full, or is not any
    ///   more.
    init(_ device: Device, noticeTightness: @escaping @Sendable () -> Void) {
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
