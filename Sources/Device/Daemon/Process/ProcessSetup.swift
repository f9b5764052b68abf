// What a process that is to serve a device does before it knows which.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// The parts of a daemon that are the same for every device.
struct ProcessSetup: Sendable {
    /// Where its socket and its private mount points lie.
    let runtimeDirectory: String
    /// Started before there is a key that it would get a copy of.
    let guardian: MountGuard?

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
