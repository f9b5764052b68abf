// DEVICE on the command line, and requests to the daemon that serves it.

import AppContainer
import ArgumentParser
import BackingStore
import Daemon
import DeviceLifecycle
import Platform
import SandboxModel

/// The argument DEVICE.
struct DeviceArgument: ParsableArguments {
    /// As the user typed it, for messages. All else uses ``path()``.
    @Argument(help: "The device's directory.", completion: .directory)
    var device: String
    @OptionGroup var trustedOwner: TrustOption

    /// The directory's absolute path without symbolic links, by which the daemon, its socket and its mounts are known.
    /// - Throws: as ``resolve(_:)``.
    func path() throws(Complaint) -> String {
        try DeviceArgument.resolve(device)
    }

    /// The path of a device that is shut down, for work without a daemon.
    /// - Throws: as ``path()``, and ``Complaint`` of kind `deviceBusy` for a device that is on.
    func pathWhenOff() async throws(Complaint) -> String {
        let path = try path()
        // The lock of the device would refuse this too, but could not tell the command that helps.
        guard await DaemonLauncher.running(path) == nil else {
            throw Complaint(.deviceBusy, "\(device) is on; shut it down with: appcontainer shutdown \(device)")
        }
        try ForeignDaemon.requireNone(of: path)
        return path
    }

    /// Resolves the path of a device.
    /// - Throws: ``Complaint`` of kind `deviceMissing`, `notADevice` or `newerFormat`, or with the host's error.
    static func resolve(_ device: String) throws(Complaint) -> String {
        // First, because its errors name the path as the user gave it.
        _ = try DeviceDirectory.open(at: device)
        do throws(SystemError) {
            return try HostPath.resolved(device)
        } catch {
            throw Complaint(error, doing: "cannot reach \(device)")
        }
    }

    /// Sends a request to the device's daemon, and starts the daemon if necessary.
    /// - Parameter progress: called with the progress of work that reports any.
    /// - Throws: the daemon's ``Complaint``, or one about reaching it.
    func send<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(Complaint) -> Request.Reply {
        try await DeviceArgument.send(request, to: path(), progress: progress)
    }

    /// Sends a request to the daemon of the device at a resolved path, as ``send(_:progress:)`` does.
    static func send<Request: ControlRequest>(
        _ request: Request, to path: String, progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(Complaint) -> Request.Reply {
        try await DaemonLauncher.send(request, to: path, warn: StandardError.warn, progress: progress)
    }
}

extension DeviceArgument {
    /// Has the device's daemon prepare an app to run, and starts the daemon if necessary.
    /// - Returns: the lease. The device counts the app as running until the lease ends.
    /// - Throws: the daemon's ``Complaint``, such as `sealBroken` or `unknownApp`, or one about reaching it.
    func run(
        _ request: RunRequest, progress: @escaping @Sendable (WorkProgress) -> Void
    ) async throws(Complaint) -> RunLease {
        try await DaemonLauncher.run(request, on: path(), warn: StandardError.warn, progress: progress)
    }
}

/// The argument BUNDLE-ID. The daemon checks the identifier; an invalid one is exit code 14.
struct AppArgument: ParsableArguments {
    @Argument(help: "The app's bundle identifier, such as com.example.Notes.", completion: Completions.apps)
    var bundleID: String
}

/// The options of the output of a query, or of a command that changes a state. Without `--json` the output is for
/// people, and may change between versions.
struct AnswerOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
}

/// The absolute form of a path, for the daemon, whose working directory is another. Symbolic links stay.
func absolute(_ path: String) throws(Complaint) -> String {
    do throws(SystemError) {
        return try HostPath.absolute(path)
    } catch {
        throw Complaint(error, doing: "cannot tell the present directory")
    }
}
