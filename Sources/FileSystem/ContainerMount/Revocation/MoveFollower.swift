// Looks up directories that one home has moved, at their new place. The kernel has one dentry for each directory node,
// and moves it only when a lookup finds the node at its new place; until then a process in it has the old path.

import ContainerVolume
import Glibc
import Platform
import SandboxModel

/// Looks directories up through the mount, on a thread of its own, because a lookup waits for requests and for the
/// locks of the directories above. Nothing waits for that thread.
final class MoveFollower: Sendable {
    private struct Queue {
        /// Directories to look up, in order, and the same as a set.
        var waiting: [NodeID] = []
        var known: Set<NodeID> = []
        var hasThread = false
        var hasEnded = false
    }

    /// Directories beyond these are moved by their next ordinary lookup.
    private static let mostWaiting = 4096
    /// The kernel fails the lookup with ESTALE while a rename between two directories is under way.
    private static let tries = 50

    private let volume: Volume
    private let entrance: String
    private let queue = Monitor(Queue())

    init(_ volume: Volume, entrance: String) {
        self.volume = volume
        self.entrance = entrance
    }

    /// Has a moved directory looked up soon. Returns at once, and may be called while a request is served.
    func follow(_ directory: NodeID) {
        let needsThread = queue.access { queue in
            guard !queue.hasEnded, queue.waiting.count < MoveFollower.mostWaiting,
                queue.known.insert(directory).inserted
            else { return false }
            queue.waiting.append(directory)
            defer { queue.hasThread = true }
            return !queue.hasThread
        }
        guard needsThread else { return }
        do throws(SystemError) {
            // Detached, because it may be blocked in the kernel when the mount ends.
            try HostThread(name: "moves") { [self] in
                while let next = next() { lookUp(next) }
            }.detach()
        } catch {
            // No thread is to be had: the next ordinary lookups move the directories.
            queue.access { $0 = Queue() }
        }
    }

    /// Stops further lookups. One that is under way ends with the mount.
    func end() {
        queue.access { queue in
            queue.hasEnded = true
            queue.waiting = []
        }
    }

    private func next() -> NodeID? {
        queue.access { queue in
            guard !queue.waiting.isEmpty else {
                queue.hasThread = false
                return nil
            }
            let next = queue.waiting.removeFirst()
            // If it is moved again from here on, it is looked up again.
            queue.known.remove(next)
            return next
        }
    }

    /// Looks a directory up, at the path that it has by then. Errors other than ESTALE are ignored: it is gone or moved
    /// on.
    private func lookUp(_ directory: NodeID) {
        for _ in 0..<MoveFollower.tries {
            guard let path = volume.path(to: directory) else { return }
            do throws(SystemError) {
                return try lookUp(path)
            } catch {
                guard error == .stale else { return }
                usleep(1000)
            }
        }
    }

    private func lookUp(_ path: [FileName]) throws(SystemError) {
        // As the superuser, to whom no directory of the mount is closed.
        try ActingUser.asSuperuser { () throws(SystemError) in
            var directory = try Descriptor.openNode(path: entrance)
            for name in path { directory = try directory.openNode(name) }
        }
    }
}
