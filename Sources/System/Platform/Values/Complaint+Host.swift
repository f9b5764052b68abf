// The host's error numbers as one line for the user.

import Glibc
public import SandboxModel

extension Complaint {
    /// - Parameter doing: what could not be done, such as "cannot create Notes.app".
    public init(_ error: SystemError, doing: String) {
        switch error.code {
        case ENOSPC, EDQUOT:
            self.init(.noSpace, "\(doing): the host filesystem is full; make room and try again")
        case EACCES:
            self.init(.notAllowed, "\(doing): \(error.message); do this as the owner or as root")
        case EPERM, EROFS:
            self.init(.notAllowed, "\(doing): \(error.message)")
        default:
            self.init(.unexpected, "\(doing): \(error.message)")
        }
    }

    /// Runs calls of the host, and says in one line what was being done when one fails.
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
