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
    /// The transport of mounts that are asked for without one.
    let transport: TransportChoice

    /// - Throws: ``Complaint`` of kind `notAllowed` where there is no directory for the socket; `badRequest` where the
    ///   environment names no transport; `unexpected` where the process may open too few files.
    init() throws(Complaint) {
        transport = try ProcessSetup.transport(named: ProcessSettings.variable(ProcessSetup.transportVariable))
        FreeMemory.shareArenas()
        signal(SIGPIPE, SIG_IGN)
        // New files get the mode that the application asked for; the kernel applies the application's umask.
        umask(0)
        OpenFileLimit.raise()
        // Before anything is made that could not be removed then.
        guard OpenFileLimit.current >= OpenFileLimit.least else {
            throw Complaint(
                .unexpected,
                "this process may open \(OpenFileLimit.current) files, and a device needs \(OpenFileLimit.least); "
                    + "raise the limit (ulimit -n)")
        }
        ProcessSettings.forbidDumps()
        runtimeDirectory = try RuntimeDirectory.prepare(environment: ProcessInfo.processInfo.environment)
        guardian = MountGuard()
    }

    /// The variable of the environment that names the transport of mounts.
    private static let transportVariable = "APPCONTAINER_TRANSPORT"

    /// - Parameter name: the value of the variable; nil where it is not set.
    static func transport(named name: String?) throws(Complaint) -> TransportChoice {
        guard let name, !name.isEmpty else { return .automatic }
        guard let choice = TransportChoice(rawValue: name) else {
            throw Complaint(
                .badRequest, "\(transportVariable) is '\(name)': set it to auto, dev-fuse or io-uring, or to nothing")
        }
        return choice
    }
}
