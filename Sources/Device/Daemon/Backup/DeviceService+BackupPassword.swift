// The handler of the request about the backup password.

import AppContainer
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    /// Sets, changes or removes the backup password.
    /// - Throws: ``Complaint`` of kind `backupPasswordState`, `wrongPassword`, `deviceLocked` or `invalidPasscode`.
    func backupPassword(_ request: BackupPasswordRequest) throws(Complaint) {
        let old = Array((request.old ?? "").utf8)
        let new = Array((request.new ?? "").utf8)
        try operations.run { () throws(Complaint) in
            switch request.action {
            case .set: try device.backupPassword.set(new)
            case .change: try device.backupPassword.change(from: old, to: new)
            case .remove: try device.backupPassword.remove(old)
            }
        }
        log.info("backup password: \(request.action.rawValue)")
    }
}
