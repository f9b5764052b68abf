// The output of a tar writer.

public import SandboxModel

/// Takes the bytes of an archive, in order.
public protocol TarOutput: AnyObject {
    /// Appends bytes of the archive.
    /// - Parameter isContent: whether the bytes are content of an entry, rather than headers or padding.
    func append(_ bytes: borrowing RawSpan, isContent: Bool) throws(SystemError)

    /// Notes a hole in the content of the entry, which has no bytes in the archive.
    func append(hole count: Int64) throws(SystemError)
}

/// Takes bytes in order.
public protocol ByteOutput: AnyObject {
    func append(_ bytes: borrowing RawSpan) throws(SystemError)
}
