// Removes mounts that a killed daemon left behind. Nothing serves them, so they are unmounted lazily.

import FuseBridge
public import SandboxModel

public enum AbandonedMount {
    /// Unmounts the topmost mount at a path lazily.
    /// - Throws: ``Complaint`` of kind `unexpected`, or `fuseMissing` where fusermount3 is needed and missing.
    public static func remove(_ path: String) throws(Complaint) {
        try translatingFailure { () throws(MountFailure) in
            try MountPoint.remove(path)
        }
    }

    /// Removes all mounts that a killed daemon of the device left. The caller must hold the device's lock.
    /// Errors are ignored.
    /// - Parameter privateDirectory: the directory of the device's own mount.
    public static func removeAll(of device: String, privateDirectory: String) {
        MountPoint.removeAbandoned(of: device)
        DeviceMount.remove(privateDirectory)
    }
}
