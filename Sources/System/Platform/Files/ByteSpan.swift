// Arrays of bytes as what calls of this room take.

extension [UInt8] {
    /// Lends the bytes for the time of the call.
    @inline(__always)
    public func withSpan<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Unsafe only for elements that have padding, which bytes have not.
        try body(unsafe span.bytes)
    }
}
