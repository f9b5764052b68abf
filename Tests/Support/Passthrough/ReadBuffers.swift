// Memory for the content of READ replies, used again and again: fresh pages cost more than the copy.

import Platform
import Synchronization

/// Buffers that no request uses now.
///
/// Locks: `free` is a leaf, held for moments.
final class ReadBuffers: Sendable {
    /// The most that the kernel asks for in one READ. Pages that are never touched take no memory.
    private static let size = 1 << 20
    /// As many as requests that a session serves at once.
    private static let most = 8

    private let free = Mutex<[PageBuffer]>([])

    /// Lends a buffer of at least `count` bytes to `body`.
    func withBuffer(_ count: Int, _ body: (PageBuffer) -> Void) {
        let buffer =
            count > ReadBuffers.size
            ? PageBuffer(count: count) : free.withLock { $0.popLast() } ?? PageBuffer(count: ReadBuffers.size)
        body(buffer)
        guard count <= ReadBuffers.size else { return }
        free.withLock { if $0.count < ReadBuffers.most { $0.append(buffer) } }
    }
}
