// The life of the process that serves a device: locked, listening, mounted; ended by a request or a signal.

import AppContainer
import Dispatch
import FoundationEssentials
import Glibc
import Logging
import Platform
import SandboxModel

/// The process that serves one device and all its mounts.
public enum DaemonProcess {
    /// Serves a device until somebody asks for the end.
    ///
    /// - Parameter device: the device directory's path, resolved.
    /// - Returns: the exit code.
    public static func run(device path: String) async -> Int32 {
        guard let parent = DetachedProcess.Parent() else { return Complaint.Kind.badRequest.exitCode }
        signal(SIGPIPE, SIG_IGN)
        // New files get the mode that the application asked for; the kernel applies the application's umask.
        umask(0)
        ProcessSettings.raiseOpenFileLimit()
        ProcessSettings.forbidDumps()

        let ending = Ending()
        let started: Started
        do throws(Complaint) {
            started = try await start(path: path, ending: ending)
        } catch {
            parent.send(ControlJSON.line(StartReport(complaint: DeviceError(error))))
            return error.kind.exitCode
        }
        parent.send(ControlJSON.line(StartReport(socket: started.socket, warnings: started.warnings)))

        let reason = await ending.reason()
        started.log.info("ending: \(reason)")
        started.server.close()
        await WorkQueue().run { started.device.shutdown() }
        DaemonRecord.remove(from: path)
        await started.server.drain()
        started.log.info("ended")
        return 0
    }

    private struct Started {
        let device: any ServedDevice
        let server: ControlServer
        let socket: String
        let warnings: [String]
        let log: Logger
    }

    private static func start(path: String, ending: Ending) async throws(Complaint) -> Started {
        let directory = try RuntimeDirectory.prepare(environment: ProcessInfo.processInfo.environment)
        // Before there is a key that it would get a copy of.
        let guardian = MountGuard()
        let device = try DeviceService.open(path: path, runtimeDirectory: directory, guardian: guardian)
        let socket = device.socket
        let log = device.log
        let server = ControlServer(socket: socket, device: device, log: log) { ending.end("a client asked for it") }
        do throws(Complaint) {
            try await server.start()
            try Complaint.describe("cannot write \(path)/daemon.json") { () throws(SystemError) in
                try DaemonRecord(device: path, socket: socket).write(to: path)
            }
        } catch {
            device.shutdown()
            throw error
        }
        ending.watchSignals()
        // On a host that has no watches left the daemon stays until it is asked to end.
        try? ending.watchRemoval(of: path)
        log.info("serving \(path)", metadata: ["pid": "\(getpid())", "socket": "\(socket)"])
        return Started(device: device, server: server, socket: socket, warnings: device.warnings, log: log)
    }
}

/// What a starting daemon tells the command that started it.
struct StartReport: Codable {
    var socket: String?
    var warnings: [String]?
    var complaint: DeviceError?
}

/// The reason to end, whoever gives it first.
private final class Ending: Sendable {
    private let reasons: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (reasons, continuation) = AsyncStream.makeStream()
    }

    func end(_ reason: String) {
        continuation.yield(reason)
    }

    func reason() async -> String {
        for await reason in reasons { return reason }
        return "nothing is left to do"
    }

    /// A device that was removed with `rm -r` needs no daemon.
    func watchRemoval(of device: String) throws(SystemError) {
        let watch = try RemovalWatch(of: "Device.json", in: device)
        let source = DispatchSource.makeReadSource(fileDescriptor: watch.eventDescriptor, queue: .global())
        source.setEventHandler { [self] in
            _ = source
            if watch.isRemoved() { end("its device was removed") }
        }
        source.resume()
    }

    /// The usual ways to ask a process to end; from now on each is a clean shutdown.
    func watchSignals() {
        for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // Named here too because a source lives as long as something holds it.
                _ = source
                end(name)
            }
            source.resume()
        }
    }
}
