// A mount whose daemon has gone, taken away by whoever finds it.

import FuseBridge
public import SandboxModel

public enum AbandonedMount {
    /// Takes the topmost mount at a path out of sight. Nobody answers for it, so nothing in it is waited for.
    /// - Throws: ``Complaint`` of kind `unexpected`, or `fuseMissing` where fusermount3 is needed and missing.
    public static func remove(_ path: String) throws(Complaint) {
        try complaining { () throws(MountFailure) in
            try Session.unmount(path, lazily: true)
        }
    }
}
