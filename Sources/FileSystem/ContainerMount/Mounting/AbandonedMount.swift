// Mounts whose daemon has gone, taken away by whoever finds them. Nobody answers for what is in them, so nothing is
// waited for.

import FuseBridge
public import SandboxModel

public enum AbandonedMount {
    /// Takes the topmost mount at a path out of sight.
    /// - Throws: ``Complaint`` of kind `unexpected`, or `fuseMissing` where fusermount3 is needed and missing.
    public static func remove(_ path: String) throws(Complaint) {
        try translatingFailure { () throws(MountFailure) in
            try Session.unmount(path, lazily: true)
        }
    }

    /// Takes away whatever a killed daemon of a device left mounted. The caller holds the device's lock.
    /// - Parameter privateDirectory: where the daemon kept the device's own mount.
    public static func removeAll(of device: String, privateDirectory: String) {
        MountPoint.removeAbandoned(of: device)
        DeviceMount.remove(privateDirectory)
    }
}
