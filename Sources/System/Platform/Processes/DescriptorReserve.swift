// Descriptors kept free for calls that cannot go on without one.

import Glibc
public import SandboxModel

/// The highest descriptor numbers that this process may open.
///
/// Clients decide how many files and connections they open, so those are refused from the reserve on. It is left to
/// descriptors that live within one call, and to libdispatch, which opens files of /proc once a second while work
/// waits, and aborts the process if it cannot.
public enum DescriptorReserve {
    /// The size of the reserve; less where the limit is low.
    public static let size = 64

    /// Whether a descriptor belongs to the reserve. The kernel assigns the lowest free number, so such a number means
    /// that few others are free.
    public static func holds(_ number: Int32) -> Bool {
        let limit = OpenFileLimit.current
        return Int(number) >= limit - min(size, limit / 4)
    }

    /// Whether the next descriptor would belong to the reserve, or there is none left (`F_DUPFD_CLOEXEC` of
    /// `fcntl(2)`).
    public static var isReached: Bool {
        let next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard next >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(next)
        return holds(next)
    }
}

extension Descriptor {
    /// Checks a descriptor that is to stay open for a client.
    ///
    /// - Throws: ENFILE if it belongs to the reserve. Not EMFILE: the client itself has descriptors left.
    public borrowing func requireNotOfReserve() throws(SystemError) {
        if DescriptorReserve.holds(number) { throw .tooManyFilesInSystem }
    }
}
