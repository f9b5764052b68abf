// Memory that the allocator keeps after a burst of use.

import CPlatform
import SandboxModel

/// The free memory of this process's heap.
public enum FreeMemory {
    /// `malloc_trim(3)`: gives the free pages of all arenas back to the host, on a thread of its own. It takes the lock
    /// of one arena after the other.
    public static func giveBack() {
        (try? HostThread(name: "give-back") { platform_trim_heap() })?.detach()
    }
}
