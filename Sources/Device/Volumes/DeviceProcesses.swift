// The processes of devices, which outlive the one that serves volumes.

import AppContainer
import Daemon
import Foundation
import Glibc
import Platform
import SandboxModel

/// Starts and ends the processes of devices.
///
/// Each is the leader of a session of its own. Where systemd runs, a process of the superuser gives it a scope too:
/// systemd ends all processes of a service with it.
struct DeviceProcesses: Sendable {
    /// The path of the command `appcontainer`.
    private let program: String
    private let slice: String
    private let warn: @Sendable (String) -> Void

    /// - Parameter program: nil where this process is one.
    init(program: String?, slice: String, warn: @escaping @Sendable (String) -> Void) throws(Complaint) {
        if let program {
            self.program = program
        } else {
            self.program = try Complaint.wrap("cannot tell this program") { () throws(SystemError) in
                try ProcessSettings.executable()
            }
        }
        self.slice = slice
        self.warn = warn
    }

    /// The process of a device, started if necessary.
    func client(of device: String) async throws(Complaint) -> DeviceClient {
        if let client = await DaemonLauncher.running(device) { return client }
        if let systemdRun = DeviceProcesses.systemdRun {
            try await blocking { () throws(Complaint) in try start(device, by: systemdRun) }
        }
        return try await DaemonLauncher.connect(to: device, by: program, warn: warn)
    }

    /// The program that makes scopes; nil where systemd does not run, or for an ordinary user.
    private static let systemdRun: String? = {
        guard geteuid() == 0, (try? HostPath.status("/run/systemd/system", following: false)) != nil else { return nil }
        return ["/usr/bin/systemd-run", "/bin/systemd-run"].first { HostPath.isProgram($0) }
    }()

    /// Starts the process in a scope. A failure of systemd's is none of the device's: it is started without a scope
    /// then.
    private func start(_ device: String, by systemdRun: String) throws(Complaint) {
        do throws(SystemError) {
            _ = try CapturedProcess.run(
                executable: systemdRun,
                arguments: [
                    "--scope", "--quiet", "--collect", "--slice=\(slice)",
                    "--description=the device \(device)", "--", program, "boot", device,
                ], environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" })
        } catch {
            throw Complaint(error, doing: "cannot start the daemon of \(device)")
        }
    }

    /// Unlocks a device that is locked.
    func unlock(_ client: DeviceClient, with passcode: String) async throws(Complaint) {
        try await asking { () async throws(DeviceError) in
            let status = try await client.status()
            guard status.hasPasscode, status.state != "unlocked" else { return }
            _ = try await client.send(UnlockRequest(passcode: passcode))
        }
    }

    func send<Request: ControlRequest>(_ request: Request, to client: DeviceClient) async throws(Complaint) {
        try await asking { () async throws(DeviceError) in _ = try await client.send(request) }
    }

    private func asking(_ body: () async throws(DeviceError) -> Void) async throws(Complaint) {
        do throws(DeviceError) {
            try await body()
        } catch {
            throw Complaint(error)
        }
    }

    /// Ends the process of a device, and removes what a killed one has left. Does nothing for a device that is off.
    func end(_ device: String) async throws(Complaint) {
        guard let client = await DaemonLauncher.running(device) else {
            return try DaemonLauncher.clearAbandoned(device)
        }
        try await DaemonLauncher.shutDown(device, client)
    }
}
