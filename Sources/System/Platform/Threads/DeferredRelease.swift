// Releases objects on a thread of its own, so that nobody waits for close(2).

import Glibc
import Synchronization

/// Takes over objects whose release takes long, such as those that hold the last descriptor of a removed file: its last
/// close frees the file's blocks, which takes longer than most requests.
///
/// The thread is made at the first object. Locks: `thread`, then `state`, which is a leaf and held for moments. Nothing
/// is released while either is held.
public final class DeferredRelease: Sendable {
    private struct State {
        var objects: [any AnyObject & Sendable] = []
        var isOver = false
    }

    /// Apart from its owner, so that the thread does not keep the owner alive.
    private final class Queue: Sendable {
        let state = ShortLock(State())
        /// Signalled when the first object of several comes, and at the end.
        let work = Semaphore()
    }

    private let queue = Queue()
    private let thread = Mutex<HostThread?>(nil)
    private let name: String
    private let bound: Int

    /// Microseconds that the thread lets pass before it releases what has come. It wakes for many objects at once, and
    /// their last reference is its own by then: a caller drops its reference only after ``add(_:)``.
    private static let pause: UInt32 = 2000

    /// - Parameters:
    ///   - name: of the thread, at most 15 bytes.
    ///   - bound: objects that wait at most. Beyond it a caller releases its own, because descriptors are limited.
    public init(name: String, bound: Int) {
        self.name = name
        self.bound = bound
    }

    deinit { finish() }

    /// Takes over an object, which the caller must not keep.
    public func add(_ object: consuming some AnyObject & Sendable) {
        let isFirst = queue.state.withLock { state in
            guard !state.isOver, state.objects.count < bound else { return false }
            state.objects.append(object)
            return state.objects.count == 1
        }
        if isFirst { wake() }
    }

    private func wake() {
        let isRunning = thread.withLock { thread in
            if thread == nil {
                let (queue, name) = (queue, name)
                thread = try? HostThread(name: name) { DeferredRelease.run(queue) }
            }
            return thread != nil
        }
        if isRunning { queue.work.signal() } else { _ = DeferredRelease.takeAll(queue) }
    }

    /// Releases what is left, and ends the thread. Objects that come later are released by their callers.
    public func finish() {
        queue.state.withLock { $0.isOver = true }
        queue.work.signal()
        thread.withLock { $0.take() }?.join()
        _ = DeferredRelease.takeAll(queue)
    }

    private static func run(_ queue: Queue) {
        repeat {
            queue.work.wait()
            usleep(pause)
        } while takeAll(queue)
    }

    /// Releases the objects that wait.
    /// - Returns: false if no further ones will come.
    private static func takeAll(_ queue: Queue) -> Bool {
        let (objects, isOver) = queue.state.withLock { state in
            defer { state.objects = [] }
            return (state.objects, state.isOver)
        }
        // Otherwise the optimizer releases them as soon as nothing reads them, which is while the lock is held.
        withExtendedLifetime(objects) {}
        return !isOver
    }
}
