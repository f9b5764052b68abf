// The result of a read: segments of pooled memory, lent to the caller.

public import Platform

/// The bytes of a read, lent until the call returns.
public struct ReadResult {
    private let workspace: Workspace

    init(_ workspace: Workspace) {
        self.workspace = workspace
    }

    public var segmentCount: Int { workspace.segments.count }

    /// A segment: bytes of its buffer, valid until the call that lends the result returns.
    public func segment(_ index: Int) -> (buffer: PageBuffer, offset: Int, count: Int) {
        let segment = workspace.segments[index]
        return (segment.buffer, segment.offset, segment.count)
    }

    /// Copies the bytes of all segments to the beginning of a buffer.
    /// - Returns: their count.
    public func copy(to buffer: PageBuffer) -> Int {
        workspace.segments.reduce(0) { filled, segment in
            buffer.copy(from: segment.buffer, at: segment.offset, count: segment.count, to: filled)
            return filled + segment.count
        }
    }

    /// Bytes in all segments; fewer than requested only at the end of the file.
    public var count: Int { workspace.segments.reduce(0) { $0 + $1.count } }
}
