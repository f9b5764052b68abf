// Releases nodes and open files on a thread of its own, so that no request waits for close(2).

import Glibc
import Platform
import SandboxModel
import Synchronization

/// The last close of a removed file frees its blocks, which takes longer than most requests. FORGET and RELEASE have no
/// client, but they occupy the worker for which the next request waits.
///
/// Locks: `state` is a leaf, held for moments. Nothing is released while it is held.
final class DeferredRelease: Sendable {
    private struct State {
        var objects: [any AnyObject & Sendable] = []
        var isOver = false
    }

    private let state = Mutex(State())
    /// Signalled when the first object comes, and at the end.
    private let work = Semaphore()
    /// Microseconds that the thread lets pass before it releases what has come. It wakes for many objects at once, and
    /// their last reference is its own by then: a worker drops its reference only after ``add(_:)``.
    private static let pause: UInt32 = 2000
    private let thread = Mutex<HostThread?>(nil)
    /// Objects that wait at most. Beyond it the caller releases its own, as descriptors are limited.
    private let bound: Int

    init(bound: Int) throws(SystemError) {
        self.bound = bound
        let started = try HostThread(name: "release") { self.run() }
        thread.withLock { $0 = started }
    }

    /// Takes over an object, which the caller must not keep.
    func add(_ object: consuming some AnyObject & Sendable) {
        let isFirst = state.withLock { state in
            guard !state.isOver, state.objects.count < bound else { return false }
            state.objects.append(object)
            return state.objects.count == 1
        }
        if isFirst { work.signal() }
    }

    /// Releases what is left, and ends the thread.
    func stop() {
        state.withLock { $0.isOver = true }
        work.signal()
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }?.join()
    }

    private func run() {
        repeat {
            work.wait()
            usleep(DeferredRelease.pause)
        } while takeAll()
    }

    /// Releases the objects that wait.
    /// - Returns: false if no further ones will come.
    private func takeAll() -> Bool {
        let (objects, isOver) = state.withLock { state in
            defer { state.objects = [] }
            return (state.objects, state.isOver)
        }
        // Otherwise the optimizer releases them as soon as nothing reads them, which is while the lock is held.
        withExtendedLifetime(objects) {}
        return !isOver
    }
}
