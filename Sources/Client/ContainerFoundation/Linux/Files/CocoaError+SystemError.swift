// What a refused system call is to an app: the Cocoa error that Foundation makes of the same errno.

import Foundation
import Glibc
import Platform
import SandboxModel

extension CocoaError {
    /// - Parameter reading: whether the app wanted to know something, rather than change it.
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

/// Makes calls on a path, and turns what they refuse into the app's kind of error.
/// - Parameter path: asked for only where it is needed.
func onItem<Result>(
    _ path: @autoclosure () -> String, reading: Bool = false, _ body: () throws(SystemError) -> Result
) throws(CocoaError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw CocoaError(error, path: path(), reading: reading)
    }
}
