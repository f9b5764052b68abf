// Directories that one home has moved, looked up where other homes see them now. The kernel keeps one place for each
// node of a directory: it takes the node there when a lookup finds it, and until then those who are in it are where it was.

import ContainerVolume
import Glibc
import Platform
import SandboxModel

/// Looks directories up through the mount, on a thread of its own. That waits for requests to be answered, and for whoever
/// holds the directories above: nobody waits for it.
final class MoveFollower: Sendable {
    private struct Queue {
        var waiting: [NodeID] = []
        var known: Set<NodeID> = []
        var hasThread = false
        var hasEnded = false
    }

    /// Beyond that, whoever comes to a directory finds it by himself.
    private static let mostWaiting = 4096
    /// While a rename from one directory to another is under way, the kernel moves nothing, and says ESTALE.
    private static let tries = 50

    private let volume: Volume
    private let entrance: String
    private let queue = Monitor(Queue())

    init(_ volume: Volume, entrance: String) {
        self.volume = volume
        self.entrance = entrance
    }

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
            // It may be in the kernel when the mount ends: nobody joins it.
            try HostThread(name: "moves") { [self] in
                while let next = next() { lookUp(next) }
            }.detach()
        } catch {
            queue.access { $0 = Queue() }
        }
    }

    /// Nothing is looked up any more. A lookup that is under way ends with the mount.
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
            // Moved once more from here on, it is looked up once more.
            queue.known.remove(next)
            return next
        }
    }

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
        var directory = try Descriptor.openNode(path: entrance)
        for name in path { directory = try directory.openNode(name) }
    }
}
