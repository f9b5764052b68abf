// The process that serves a device: its start, its wait for the end, its exit.

import AppContainer
import DeviceLifecycle
import Dispatch
import Glibc
import Logging
import Platform
import SandboxModel

/// The process that serves one device and all its mounts.
public enum DaemonProcess {
    /// Serves a device until a client, a signal or the removal of the device ends it.
    ///
    /// - Parameter device: the device directory's path, resolved.
    /// - Returns: the exit code: that of the complaint where the start failed, 27 where no command has started this
    ///   process.
    public static func run(device path: String) async -> Int32 {
        guard let parent = DetachedProcess.Parent() else { return Complaint.Kind.badRequest.exitCode }
        let shutdown = ShutdownSignal()
        shutdown.watchSignals()
        let served: ServedProcess
        do throws(Complaint) {
            served = try await start(path: path, on: ProcessSetup(), shutdown: shutdown)
        } catch {
            parent.send(ControlJSON.line(StartReport(complaint: DeviceError(error))))
            return error.kind.exitCode
        }
        // This also lets go of the turn to start, so that other commands go on and connect.
        parent.send(ControlJSON.line(served.report))
        await served.end(await shutdown.reason())
        return 0
    }

    /// Boots a device and listens at its control socket.
    /// - Parameter prepare: called with the booted device, before clients can connect.
    /// - Throws: ``Complaint`` of the boot, of `prepare`, or of the socket; the device is shut down then.
    static func start(
        path: String, on setup: ProcessSetup, shutdown: ShutdownSignal,
        prepare: (DeviceService) throws(Complaint) -> Void = { _ in }
    ) async throws(Complaint) -> ServedProcess {
        let device = try DeviceService.open(
            path: path, runtimeDirectory: setup.runtimeDirectory, transport: setup.transport, guardian: setup.guardian)
        let socket = device.socket
        let directory = device.device.directory
        let log = device.log
        let server = ControlAPI(socket: socket, device: device, log: log) { shutdown.request("a client asked for it") }
        device.whenErased { shutdown.request("it was erased after ten wrong passcodes") }
        var isListening = false
        do throws(Complaint) {
            try prepare(device)
            try await server.start()
            isListening = true
            try Complaint.wrap("cannot write \(path)/daemon.json") { () throws(SystemError) in
                try DaemonRecord(device: directory, socket: socket).write(to: directory)
            }
        } catch {
            server.close()
            if isListening { await server.stop() }
            device.shutdown()
            // The lock of the directory is released here: the process may go on, to delete its owner's device.
            device.device.release()
            throw error
        }
        // Where the host has no inotify watch left, the daemon stays until it is asked to end.
        try? shutdown.watchRemoval(of: path)
        log.info("serving \(path)", metadata: ["pid": "\(getpid())", "socket": "\(socket)"])
        return ServedProcess(path: path, device: device, server: server)
    }
}

/// A device that this process serves.
struct ServedProcess {
    let path: String
    let device: DeviceService
    let server: ControlAPI

    /// The answer to the process that started this one.
    var report: StartReport {
        StartReport(
            pid: getpid(), socket: device.socket, identifier: device.identifier,
            warnings: device.warnings.isEmpty ? nil : device.warnings)
    }

    /// Unmounts everything and ends the session; returns when the responses under way have gone out.
    /// - Parameter reason: for the log.
    func end(_ reason: String) async {
        device.log.info("ending: \(reason)")
        server.close()
        // On a thread of its own, as it blocks.
        await WorkQueue().run { device.shutdown() }
        DaemonRecord.remove(from: device.device.directory)
        await server.drain()
        device.log.info("ended")
    }
}
