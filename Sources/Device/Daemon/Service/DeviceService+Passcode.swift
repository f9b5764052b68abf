// The device's passcode: set, changed, removed.

import AppContainer
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    func passcode(_ request: PasscodeRequest) throws(Complaint) {
        let old = Array((request.old ?? "").utf8)
        let new = Array((request.new ?? "").utf8)
        try operations.run { () throws(Complaint) in
            try locking.changePasscode { (device) throws(Complaint) in
                switch request.action {
                case .set: try device.passcode.set(new)
                case .change: try device.passcode.change(from: old, to: new)
                case .remove: try device.passcode.remove(old)
                }
            }
        }
        log.info("passcode: \(request.action.rawValue)")
    }
}
