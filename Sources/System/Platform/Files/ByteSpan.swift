// Byte arrays as RawSpan, which the calls of this module take.

extension [UInt8] {
    /// Lends the bytes to `body`.
    @inline(__always)
    public func withSpan<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Unsafe only for elements that have padding, which bytes have not.
        try body(unsafe span.bytes)
    }
}
