// appcontainer boot: starts the daemon of a device.

import AppContainer
import ArgumentParser
import Daemon
import Platform
import SandboxModel

/// The socket is the whole answer, so that it can be used in a command substitution. Warnings of the start go to
/// standard error. With `--foreground` this is the main process of a systemd service.
struct Boot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start a device's daemon, and show its control socket.",
        discussion: """
            Other commands start the daemon when they need it; boot is for a harness that speaks to the daemon itself. \
            A device that is on already is left as it is.

            With --foreground it is a service's main process: it stays until the daemon ends, shuts the device down at \
            an interrupt or SIGTERM, and tells systemd when the device is up (appcontainer@.service).

            Example:
              curl --unix-socket "$(appcontainer boot ~/phone)" http://device/v1/status
            """)

    @OptionGroup var device: DeviceArgument
    @Option(help: "Unlock the device too, with the passcode in the file's first line.", completion: .file())
    var passcodeFile: String?
    @Flag(help: "Stay until the daemon ends; an interrupt shuts the device down.")
    var foreground = false
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let passcode = try passcodeFile.map(PasscodeSource.read)
        let path = try device.path()
        let client = try await DaemonLauncher.connect(to: path, warn: StandardError.warn)
        if let passcode { _ = try await device.send(UnlockRequest(passcode: passcode)) }
        if answer.json {
            try Output.json(["socket": client.socket])
        } else {
            try Output.line(client.socket)
        }
        if foreground { try await stay(path, client) }
    }

    /// Waits for the daemon's end.
    /// - Throws: ``Complaint`` of kind `daemonEnded` where it was killed.
    private func stay(_ path: String, _ client: DeviceClient) async throws {
        guard let pid = try await client.status().daemon.pid else { return }
        let signals = Interrupts { Task { await Boot.shutDown(path, client) } }
        defer { signals.end() }
        ServiceSupervisor.reportReady()
        await WorkQueue().run { _ = ProcessHandle(pid)?.waitForEnd(milliseconds: -1) }
        // A daemon that ends in order takes its record away first.
        guard DaemonRecord(of: path)?.pid != pid else {
            throw Complaint(
                .daemonEnded,
                "the daemon of \(path), process \(pid), was killed; the next command starts the device again")
        }
    }

    /// Shuts the device down, at a signal. A failure is told, and the command goes on to wait.
    private static func shutDown(_ path: String, _ client: DeviceClient) async {
        ServiceSupervisor.reportStopping()
        do throws(Complaint) {
            try await DaemonLauncher.shutDown(path, client)
        } catch {
            StandardError.complain(error.message)
        }
    }
}
