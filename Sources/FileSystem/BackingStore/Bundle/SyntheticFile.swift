// Content that this program makes up: a few bytes, the same for everybody, which the host does not have.

import Platform

/// A read-only file without a backing file, such as `CACHEDIR.TAG`.
public final class SyntheticFile: Sendable {
    private let buffer: PageBuffer
    private let count: Int

    public init(_ bytes: [UInt8]) {
        count = bytes.count
        buffer = PageBuffer(count: bytes.count)
        buffer.copy(bytes, to: 0)
    }

    /// Bytes of the content.
    public var size: Int64 { Int64(count) }

    /// Lends up to `count` bytes to `body`, with no lock held.
    public func read(count: Int, from offset: Int64, context: StoreContext, _ body: (ReadResult) -> Void) {
        context.workspaces.with { workspace in
            let start = Int(min(max(offset, 0), size))
            let taken = min(count, self.count - start)
            if taken > 0 { workspace.append(buffer, offset: start, count: taken) }
            body(ReadResult(workspace))
        }
    }
}
