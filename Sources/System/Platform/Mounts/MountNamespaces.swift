// Mounts as other processes see them: of containers, which have mount namespaces of their own.

import Glibc
public import SandboxModel

public enum MountNamespaces {
    /// Whether a process in another mount namespace than this one's sees such a mount. Processes that this one may not
    /// look at do not count.
    /// - Throws: errors of the host, such as EMFILE, with which nothing is known.
    public static func showElsewhere(_ isMeant: (MountInfo) -> Bool) throws(SystemError) -> Bool {
        var seen: Set<String> = [try HostPath.symbolicLinkTarget("/proc/self/ns/mnt")]
        for process in try ProcDirectory.names(in: "/proc") where Int32(process) != nil {
            do throws(SystemError) {
                let namespace = try HostPath.symbolicLinkTarget("/proc/\(process)/ns/mnt")
                guard !seen.contains(namespace) else { continue }
                if try MountInfo.all(ofProcess: process).contains(where: isMeant) { return true }
                // Now: the process may have ended before, and others of its namespace are looked at then.
                seen.insert(namespace)
            } catch {
                switch error.code {
                // It has ended, or is somebody else's. EINVAL is the answer for a process without a namespace, which
                // is about to end.
                case ENOENT, ESRCH, EACCES, EPERM, EINVAL: continue
                default: throw error
                }
            }
        }
        return false
    }
}
