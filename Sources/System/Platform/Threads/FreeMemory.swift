// Memory that the allocator keeps after a burst of use.

import CPlatform
import Glibc
import SandboxModel

/// The free memory of this process's heap.
public enum FreeMemory {
    /// `malloc_trim(3)`: gives the free pages of all arenas back to the host, on a thread of its own. It takes the lock
    /// of one arena after the other.
    public static func giveBack() {
        (try? HostThread(name: "give-back") { platform_trim_heap() })?.detach()
    }

    /// Has threads share arenas, of which each would have its own: after a burst of use, what is left in each keeps
    /// pages that are free otherwise. One for each processor is seldom wanted by two threads at a time. To be called
    /// before the first thread is made.
    public static func shareArenas() {
        platform_limit_arenas(Int32(clamping: max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    }
}
