// The setup of a process that will serve a device, before it knows which one.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// Process-wide settings, and the parts of a daemon that are the same for every device. Made once, at the start.
struct ProcessSetup: Sendable {
    /// The directory of the socket and of the private mount points.
    let runtimeDirectory: String
    /// The guard of the mounts. It is forked before the process has keys, so that it has no copy of them.
    let guardian: MountGuard?

    /// - Throws: ``Complaint`` of kind `notAllowed` where there is no directory for the socket.
    init() throws(Complaint) {
        signal(SIGPIPE, SIG_IGN)
        // New files get the mode that the application asked for; the kernel applies the application's umask.
        umask(0)
        ProcessSettings.raiseOpenFileLimit()
        ProcessSettings.forbidDumps()
        runtimeDirectory = try RuntimeDirectory.prepare(environment: ProcessInfo.processInfo.environment)
        guardian = MountGuard()
    }
}
