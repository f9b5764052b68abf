// The one place where a fault becomes an error number.

import Glibc
import SandboxModel

extension Fault {
    /// What the system call answers.
    var errno: Int32 {
        switch self {
        // PRODUCT.md section 2: a refusal by the sandbox is EPERM, for root too.
        case .refused: EPERM
        case .corrupt: EIO
        case .system(let error): error.code
        }
    }
}
