// Mounts as other processes see them: of containers, which have mount namespaces of their own.

import Glibc
import SandboxModel

public enum MountNamespaces {
    /// Whether a process in another mount namespace than this one's sees such a mount. Processes that this one may not
    /// look at do not count.
    public static func showElsewhere(_ isMeant: (MountInfo) -> Bool) -> Bool {
        let own = try? HostPath.symbolicLinkTarget("/proc/self/ns/mnt")
        var seen: Set<String> = []
        for process in (try? ProcDirectory.names(in: "/proc")) ?? [] where Int32(process) != nil {
            guard let namespace = try? HostPath.symbolicLinkTarget("/proc/\(process)/ns/mnt"), namespace != own,
                seen.insert(namespace).inserted, let mounts = try? MountInfo.all(ofProcess: process)
            else { continue }
            if mounts.contains(where: isMeant) { return true }
        }
        return false
    }
}
