// Errors of the host as one line for the user.

import Glibc
public import SandboxModel

extension Complaint {
    /// The kind is `noSpace` for ENOSPC and EDQUOT, `notAllowed` for EACCES, EPERM and EROFS, `damaged` for
    /// ``SystemError/notRecord``, and `unexpected` for
    /// others.
    /// - Parameter doing: the action that failed, such as "cannot create Notes.app".
    public init(_ error: SystemError, doing: String) {
        switch error.code {
        case ENOSPC, EDQUOT:
            self.init(.noSpace, "\(doing): the host filesystem is full; free space and try again")
        case EACCES:
            self.init(.notAllowed, "\(doing): \(error.message); do this as the owner or as root")
        case SystemError.notRecord.code:
            self.init(
                .damaged,
                "\(doing): it is not a regular file with one name that belongs to the device's owner; remove it, "
                    + "or restore it from a copy of the device")
        case EPERM, EROFS:
            self.init(.notAllowed, "\(doing): \(error.message)")
        default:
            self.init(.unexpected, "\(doing): \(error.message)")
        }
    }

    /// The error of a call with a path that somebody has named: `notFound` for ENOENT and ENOTDIR, `badRequest` for
    /// ENAMETOOLONG, ELOOP and EISDIR, which no path of a file has, and otherwise as ``init(_:doing:)``.
    public init(named error: SystemError, doing: String) {
        switch error.code {
        case ENOENT, ENOTDIR: self.init(.notFound, "\(doing): \(error.message)")
        case ENAMETOOLONG, ELOOP, EISDIR: self.init(.badRequest, "\(doing): \(error.message)")
        default: self.init(error, doing: doing)
        }
    }

    /// Runs `body`, which takes a path that somebody has named, as ``wrap(_:_:)`` does.
    public static func wrapNamed<Result: ~Copyable>(
        _ doing: @autoclosure () -> String, _ body: () throws(SystemError) -> Result
    ) throws(Complaint) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Complaint(named: error, doing: doing())
        }
    }

    /// Runs `body`, and turns its error into a complaint that begins with `doing`.
    public static func wrap<Result: ~Copyable>(
        _ doing: @autoclosure () -> String, _ body: () throws(SystemError) -> Result
    ) throws(Complaint) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Complaint(error, doing: doing())
        }
    }
}
