// Finds the process that serves a device, or starts it: one process, however many commands start at once.

public import AppContainer
import BackingStore
import ContainerMount
import FoundationEssentials
import Glibc
import Platform
public import SandboxModel

/// The client's side of a device's process: found, started, asked, waited for.
public enum DaemonLauncher {
    /// The daemon that serves a device now.
    ///
    /// - Parameter device: the device directory's path, resolved.
    /// - Returns: nil when there is none. Starts nothing.
    public static func running(_ device: String) async -> DeviceClient? {
        guard let directory = try? DeviceDirectory.open(at: device),
            let socket = DaemonRecord(of: directory)?.ownSocket
        else { return nil }
        let client = DeviceClient(socket: socket, identifier: directory.uuid)
        return await client.isAnswering() ? client : nil
    }

    /// Asks the daemon that serves a device now. Starts none.
    ///
    /// - Returns: nil when there is none, or when it was killed before it answered: a process that is being killed
    ///   accepts connections until its socket is closed. This waits for its end.
    public static func askRunning<Answer: Sendable>(
        _ device: String, _ question: (DeviceClient) async throws(DeviceError) -> Answer
    ) async throws(Complaint) -> Answer? {
        guard let client = await running(device) else { return nil }
        do throws(DeviceError) {
            return try await question(client)
        } catch {
            guard error.isEndOfDaemon else { throw Complaint(error) }
            await waitForEnding(device)
            return nil
        }
    }

    /// The daemon that serves a device, started if necessary.
    ///
    /// The starting command locks the device directory until the daemon is ready, so that other commands wait and then
    /// find it running. The lock's descriptor passes to the daemon.
    ///
    /// - Parameters:
    ///   - program: the path of the command; nil where this process is one.
    ///   - warn: takes the warnings of the start, one line a call.
    /// - Throws: ``Complaint`` of kind `daemonUnreachable`, `notAllowed`, or of the daemon's own start.
    public static func connect(
        to device: String, by program: String? = nil, warn: (String) -> Void
    ) async throws(Complaint) -> DeviceClient {
        if let client = await running(device) { return client }
        // Another command may start the daemon while this one waits for its turn, so the question comes again.
        let turn = try DeviceDirectory.open(at: device).takeTurn()
        if let client = await running(device) { return client }
        try ForeignDaemon.requireNone(of: device)
        let report = try Complaint.wrap("cannot start the daemon of \(device)") { () throws(SystemError) in
            let executable: String
            if let program { executable = program } else { executable = try ProcessSettings.executable() }
            return try DetachedProcess(executable: executable, arguments: ["daemon", device], lock: turn.descriptor)
                .report()
        }
        guard let report = try? JSONDecoder().decode(StartReport.self, from: Data(report)) else {
            throw Complaint(.daemonUnreachable, "the daemon ended while it started; see \(device)/daemon.log")
        }
        if let complaint = report.complaint { throw Complaint(complaint) }
        for warning in report.warnings ?? [] { warn(warning) }
        return DeviceClient(socket: report.socket ?? "", identifier: report.identifier)
    }

    /// Sends a request to a device's daemon, which is started if necessary, as by ``connect(to:warn:)``. A request
    /// whose daemon ended meanwhile is sent again, if it may be.
    /// - Throws: the daemon's ``Complaint``, or one of ``connect(to:warn:)``.
    public static func send<Request: ControlRequest>(
        _ request: Request, to device: String, warn: (String) -> Void,
        progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(Complaint) -> Request.Reply {
        try await ask(device, isRepeatable: Request.isRepeatable, warn: warn) { (client) throws(DeviceError) in
            try await client.send(request, progress: progress)
        }
    }

    /// Sends a request to run an app, as ``send(_:to:warn:progress:)`` does, and keeps the lease.
    public static func run(
        _ request: RunRequest, on device: String, warn: (String) -> Void,
        progress: @escaping @Sendable (WorkProgress) -> Void
    ) async throws(Complaint) -> RunLease {
        try await ask(device, isRepeatable: RunRequest.isRepeatable, warn: warn) { (client) throws(DeviceError) in
            try await client.run(request, progress: progress)
        }
    }

    /// Asks up to five daemons, each started after the one before has ended.
    /// - Parameter isRepeatable: whether the request may be carried out twice.
    private static func ask<Answer: Sendable>(
        _ device: String, isRepeatable: Bool, warn: (String) -> Void,
        _ question: (DeviceClient) async throws(DeviceError) -> Answer
    ) async throws(Complaint) -> Answer {
        var attempts = 0
        while true {
            let client = try await connect(to: device, warn: warn)
            attempts += 1
            do throws(DeviceError) {
                return try await question(client)
            } catch {
                guard error.isWorthAnotherTry(isRepeatable: isRepeatable), attempts < 5 else { throw Complaint(error) }
            }
        }
    }

    /// Removes the mounts, the socket and the record that a killed daemon left. Does nothing while the device is in
    /// use.
    /// - Throws: ``Complaint`` of kind `notAllowed` where another user's process serves the device.
    public static func clearAbandoned(_ device: String) throws(Complaint) {
        let directory = try DeviceDirectory.open(at: device)
        guard DaemonRecord(of: directory) != nil else { return }
        try ForeignDaemon.requireNone(of: device)
        // A lock that is held belongs to a live process.
        guard let lock = try? directory.lock() else { return }
        let runtime = try RuntimeDirectory.prepare(environment: ProcessInfo.processInfo.environment)
        let socket = RuntimeDirectory.socketPath(in: runtime, device: device, identifier: directory.uuid)
        AbandonedMount.removeAll(
            of: device, privateDirectory: RuntimeDirectory.privateDirectory(besideSocket: socket))
        RuntimeDirectory.homes(besideSocket: socket).removeAll()
        ActingUser.asSuperuser { try? HostPath.removeFile(socket) }
        DaemonRecord.remove(from: directory)
        withExtendedLifetime(lock) {}
    }

    /// Waits, six seconds at most, until a daemon that no longer answers has released the device. Blocks its thread.
    ///
    /// `POST /v1/shutdown` is answered before the daemon's process has ended.
    public static func waitForEnding(_ device: String) async {
        if let record = DaemonRecord(of: device), let process = ProcessHandle(record.pid) {
            _ = process.waitForEnd(milliseconds: 5_000)
        }
        // The daemon removes its record first; its lock goes with the process.
        let directory = try? DeviceDirectory.open(at: device)
        for _ in 0..<100 {
            guard let directory, directory.isLocked else { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Asks a daemon to end, and waits up to ten seconds for the end of its process. Removes what a killed one left.
    /// - Throws: ``Complaint`` of kind `daemonUnreachable` where the process is still there then.
    public static func shutDown(_ device: String, _ client: DeviceClient) async throws(Complaint) {
        // Opened before the request: afterwards the number may belong to another process.
        let process = DaemonRecord(of: device).flatMap { ProcessHandle($0.pid) }
        do throws(DeviceError) {
            try await client.shutdown()
        } catch {
            guard error.isEndOfDaemon else { throw Complaint(error) }
            await waitForEnding(device)
            return try clearAbandoned(device)
        }
        guard process?.waitForEnd(milliseconds: 10_000) ?? true else {
            throw Complaint(.daemonUnreachable, "the daemon of \(device) has not ended yet; see its daemon.log")
        }
    }
}

extension DeviceError {
    /// Whether the daemon was gone, or went before it answered.
    fileprivate var isEndOfDaemon: Bool { kind == .daemonEnded || kind == .daemonUnreachable }
}
