// The one place where a `Fault` becomes an errno.

import Glibc
import SandboxModel

extension Fault {
    /// The errno of the system call that failed.
    var errno: Int32 {
        switch self {
        // S-REFUSE-1 (Semantics): a refusal by the sandbox is EPERM, for root too.
        case .refused: EPERM
        case .corrupt: EIO
        case .system(let error): error.code
        }
    }
}
