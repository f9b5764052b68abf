// Errors of system calls as the Cocoa errors that Foundation makes of the same errno.

import Foundation
import Glibc
import Platform
import SandboxModel

extension CocoaError {
    /// - Parameter reading: whether the call reads. Foundation has different codes for reading and writing.
    init(_ error: SystemError, path: String, reading: Bool = false) {
        let code: CocoaError.Code =
            switch error.code {
            case EPERM, EACCES: reading ? .fileReadNoPermission : .fileWriteNoPermission
            case ENOENT: reading ? .fileReadNoSuchFile : .fileNoSuchFile
            case EEXIST: .fileWriteFileExists
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            case EROFS: .fileWriteVolumeReadOnly
            case ENAMETOOLONG: reading ? .fileReadInvalidFileName : .fileWriteInvalidFileName
            case EFBIG where reading: .fileReadTooLarge
            default: reading ? .fileReadUnknown : .fileWriteUnknown
            }
        var details: [String: Any] = [NSFilePathErrorKey: path, NSURLErrorKey: URL(fileURLWithPath: path)]
        if let underlying = POSIXErrorCode(rawValue: error.code) {
            details[NSUnderlyingErrorKey] = POSIXError(underlying)
        }
        self.init(code, userInfo: details)
    }
}

/// Runs calls on a path, and turns a `SystemError` into a `CocoaError`.
/// - Parameter path: evaluated only on failure.
func onItem<Result>(
    _ path: @autoclosure () -> String, reading: Bool = false, _ body: () throws(SystemError) -> Result
) throws(CocoaError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw CocoaError(error, path: path(), reading: reading)
    }
}
