// DEVICE on the command line, and requests to the daemon that serves it.

import AppContainer
import ArgumentParser
import BackingStore
import Daemon
import DeviceLifecycle
import Platform
import SandboxModel

/// The device itself, which is made and copied here; AppContainer's is a client's view of one.
typealias Device = DeviceLifecycle.Device

/// The device that a command is about.
struct DeviceArgument: ParsableArguments {
    @Argument(help: "The device's directory.", completion: .directory)
    var device: String

    /// The directory's path from the root, without links: what the daemon, its socket and its mounts go by.
    func path() throws(Complaint) -> String {
        try DeviceArgument.resolve(device)
    }

    static func resolve(_ device: String) throws(Complaint) -> String {
        // Looks first: it says in the user's own words what is wrong with the path.
        _ = try DeviceDirectory.open(at: device)
        do throws(SystemError) {
            return try HostPath.resolved(device)
        } catch {
            throw Complaint(error, doing: "cannot reach \(device)")
        }
    }

    /// Has the device's daemon do something; starts the daemon if need be.
    func send<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(Complaint) -> Request.Reply {
        try await DaemonLauncher.send(request, to: path(), warn: StandardError.warn, progress: progress)
    }
}

extension DeviceArgument {
    /// Has the device's daemon make an app ready to run; starts the daemon if need be.
    func run(
        _ request: RunRequest, progress: @escaping @Sendable (WorkProgress) -> Void
    ) async throws(Complaint) -> RunLease {
        try await DaemonLauncher.run(request, on: path(), warn: StandardError.warn, progress: progress)
    }
}

/// An app of the device.
struct AppArgument: ParsableArguments {
    @Argument(help: "The app's bundle identifier, such as com.example.Notes.")
    var bundleID: String
}

/// The form of a query's answer.
struct AnswerOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
}

/// A path of the host, as the daemon, which works elsewhere, can use it.
func absolute(_ path: String) throws(Complaint) -> String {
    do throws(SystemError) {
        return try HostPath.absolute(path)
    } catch {
        throw Complaint(error, doing: "cannot tell the present directory")
    }
}
