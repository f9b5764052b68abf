// The one place that reads errno: system calls as throwing functions.

import CPlatform
import Glibc
public import SandboxModel

extension SystemError {
    public static let accessDenied = SystemError(code: EACCES)
    public static let badDescriptor = SystemError(code: EBADF)
    public static let busy = SystemError(code: EBUSY)
    public static let cancelled = SystemError(code: ECANCELED)
    public static let directoryNotEmpty = SystemError(code: ENOTEMPTY)
    public static let exists = SystemError(code: EEXIST)
    public static let fileTooLarge = SystemError(code: EFBIG)
    public static let inputOutput = SystemError(code: EIO)
    public static let invalid = SystemError(code: EINVAL)
    public static let isDirectory = SystemError(code: EISDIR)
    public static let nameTooLong = SystemError(code: ENAMETOOLONG)
    public static let noAttribute = SystemError(code: ENODATA)
    public static let noDevice = SystemError(code: ENODEV)
    public static let noEntry = SystemError(code: ENOENT)
    public static let wouldBlock = SystemError(code: EAGAIN)
    public static let noSpace = SystemError(code: ENOSPC)
    public static let noSuchAddress = SystemError(code: ENXIO)
    public static let notDirectory = SystemError(code: ENOTDIR)
    /// ``Descriptor/openRecord(_:flags:mode:)`` found what is no record. No system call of these gives EMEDIUMTYPE.
    public static let notRecord = SystemError(code: EMEDIUMTYPE)
    public static let notPermitted = SystemError(code: EPERM)
    public static let notSupported = SystemError(code: EOPNOTSUPP)
    public static let crossDevice = SystemError(code: EXDEV)
    public static let range = SystemError(code: ERANGE)
    public static let stale = SystemError(code: ESTALE)
    public static let tooManyFilesInSystem = SystemError(code: ENFILE)
    public static let tooManyLinks = SystemError(code: EMLINK)
    public static let tooManySymbolicLinks = SystemError(code: ELOOP)

    /// The error's name in <errno.h>, such as "EPERM".
    public var name: String {
        guard let name = unsafe platform_error_name(code) else { return "\(code)" }
        return unsafe String(cString: name)
    }

    /// `strerror(3)`, such as "No such file or directory".
    public var message: String {
        unsafe String(cString: strerror(code))
    }
}

/// Makes a system call that returns -1 and sets errno on failure, and repeats it after EINTR.
///
/// Not for close(2), after which the descriptor is gone even with EINTR. Not for functions that return the error
/// itself, as those of pthreads.
@inline(__always)
@discardableResult
public func systemCall<Result: FixedWidthInteger & SignedInteger>(
    _ call: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        // Read at once: releasing an object may run code that sets errno.
        let code = errno
        if code != EINTR { throw SystemError(code: code) }
    }
}
