// A part of a buffer that one side lends another.

/// Bytes of a buffer. They are the borrower's until it returns.
public struct BufferRange: Sendable {
    public let buffer: PageBuffer
    /// In bytes.
    public let offset: Int
    /// In bytes.
    public let count: Int

    /// - Precondition: the range lies within the buffer.
    public init(_ buffer: PageBuffer, offset: Int, count: Int) {
        precondition(offset >= 0 && count >= 0 && offset <= buffer.count - count, "outside the buffer")
        (self.buffer, self.offset, self.count) = (buffer, offset, count)
    }
}
