// appcontainer boot: starts the daemon of a device.

import AppContainer
import ArgumentParser
import Daemon
import Platform
import SandboxModel
import Synchronization

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
        guard foreground else {
            _ = try await start(path, passcode)
            return
        }
        let service = ForegroundService(device: path)
        let signals = Interrupts { service.ask() }
        defer { signals.end() }
        let wasOn = await DaemonLauncher.running(path) != nil
        let client: DeviceClient
        let pid: Int32?
        do {
            client = try await start(path, passcode)
            pid = try await client.status().daemon.pid
        } catch {
            // A service that does not start leaves nothing behind.
            if !wasOn { await service.shutDown() }
            throw error
        }
        try await service.stay(with: pid)
    }

    /// Starts the daemon, unlocks the device if there is a passcode, and prints the socket.
    private func start(_ path: String, _ passcode: String?) async throws -> DeviceClient {
        let client = try await DaemonLauncher.connect(to: path, warn: StandardError.warn)
        if let passcode { _ = try await device.send(UnlockRequest(passcode: passcode)) }
        if answer.json {
            try Output.json(["socket": client.socket])
        } else {
            try Output.line(client.socket)
        }
        return client
    }
}

/// A command that lasts as long as a device's daemon. A signal shuts the device down; one that comes while the daemon
/// starts does so as soon as it is up.
private final class ForegroundService: Sendable {
    private let device: String
    /// Whether the daemon is up, and whether a signal has come.
    private let state = Mutex((isUp: false, isAsked: false))

    init(device: String) {
        self.device = device
    }

    /// A signal has come.
    func ask() {
        let isUp = state.withLock { state in
            state.isAsked = true
            return state.isUp
        }
        if isUp { Task { await shutDown() } }
    }

    /// Waits for the daemon's end.
    /// - Parameter pid: the daemon's process.
    /// - Throws: ``Complaint`` of kind `daemonEnded` where it was killed.
    func stay(with pid: Int32?) async throws(Complaint) {
        let isAsked = state.withLock { state in
            state.isUp = true
            return state.isAsked
        }
        ServiceSupervisor.reportReady()
        if isAsked { await shutDown() }
        await WorkQueue().run { _ = pid.flatMap { ProcessHandle($0) }?.waitForEnd(milliseconds: -1) }
        // A daemon that ends in order takes its record away first.
        guard let pid, let record = DaemonRecord(of: device) else { return }
        throw Complaint(
            .daemonEnded,
            record.pid == pid
                ? "the daemon of \(device), process \(pid), was killed; the next command starts the device again"
                : "the daemon of \(device), process \(pid), has ended, and process \(record.pid) serves the device now; "
                    + "shut it down before the service is started again")
    }

    /// Shuts the device down. A failure is told.
    func shutDown() async {
        ServiceSupervisor.reportStopping()
        guard let client = await DaemonLauncher.running(device) else { return }
        do throws(Complaint) {
            try await DaemonLauncher.shutDown(device, client)
        } catch {
            StandardError.complain(error.message)
        }
    }
}
