// The error of a system call of the host.

/// The errno of a system call of the host.
public struct SystemError: Error, Hashable, Sendable {
    public let code: Int32

    public init(code: Int32) {
        self.code = code
    }
}
