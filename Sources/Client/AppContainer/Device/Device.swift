// A device as a program sees it: made or found, asked, ended.

import Glibc
import Platform
import SandboxModel
import Synchronization

/// A device: a directory of the host that holds apps and their containers, and the process that serves it.
///
/// ```swift
/// let device = try await Device.temporary(passcode: "1234")
/// try await device.install("Notes.app")
/// let home = try await device.mount("com.example.Notes")
/// try await device.unlock()
/// // read and write below home.mountPoint with any call there is
/// try await device.lock()
/// await device.end()
/// ```
///
/// A *lasting* device is a directory to keep: ``open(_:)`` finds its process or starts it, and both outlive this
/// program. A *temporary* device ends with ``end()``, with the last reference to it, and with this program, however
/// that ends: its process notices, ends all that runs in the device, unmounts everything and deletes it.
///
/// Any thread may use a device. Lock: of the current client, for moments only.
///
/// Every method throws a ``DeviceError`` with the daemon's own message.
public final class Device: Sendable {
    /// The path of the device's directory.
    public let path: String
    /// Whether the device is deleted with this value.
    public var isTemporary: Bool { owned != nil }
    /// The passcode that the device was made with, the default of ``unlock(passcode:)``. Nil for a device without one,
    /// and for one that was opened.
    public let passcode: String?

    private let current: Mutex<DeviceClient>
    private let owned: TetheredProcess?

    init(_ path: String, _ report: StartReport, passcode: String?, owned: TetheredProcess?) {
        self.path = path
        self.passcode = passcode
        self.owned = owned
        current = Mutex(
            DeviceClient(
                socket: report.socket ?? "", identifier: report.identifier, temporary: owned == nil ? nil : path))
    }

    /// The client of the device's process.
    public var client: DeviceClient { current.withLock { $0 } }

    // MARK: Lasting devices

    /// Makes a device that stays.
    ///
    /// - Parameters:
    ///   - path: a path where nothing is yet, or an empty directory.
    ///   - passcode: none when nil.
    ///   - capacity: in bytes; that of the host's filesystem when nil.
    ///   - lockGrace: the grace period of a lock; 10 seconds when nil.
    ///   - kdfCost: the cost of a guess of the passcode, from 1 to 20; about 80 ms when nil.
    ///   - capricious: the seed of a device that disobeys at times, with an event `disobeyed`; nil for one that obeys.
    /// - Throws: an error of kind `deviceExists`, `hostFilesystem`, `notFound`, `invalidPasscode` or `programMissing`.
    public static func create(
        at path: String, passcode: String? = nil, capacity: Int64? = nil, lockGrace: Duration? = nil,
        kdfCost: Int? = nil, capricious: String? = nil
    ) async throws(DeviceError) -> Device {
        let settings = DeviceOrder.Settings(
            passcode: passcode, capacity: capacity, lockGrace: lockGrace.map { $0 / .seconds(1) }, kdfCost: kdfCost,
            capricious: capricious)
        let path = try absolute(path)
        let order = DeviceOrder(device: path, create: settings, template: true, keep: true)
        let (process, _) = try await DaemonProgram.own(order)
        process.letGo()
        await WorkQueue().run { process.waitForEnd() }
        return try await open(path, passcode: passcode)
    }

    /// Opens a device that exists. Its process is found, or started: then a device with a passcode is before its first
    /// unlock.
    /// - Throws: an error of kind `deviceMissing`, `notADevice`, `deviceBusy`, `programMissing`, …
    public static func open(_ path: String) async throws(DeviceError) -> Device {
        try await open(try absolute(path), passcode: nil)
    }

    private static func open(_ path: String, passcode: String?) async throws(DeviceError) -> Device {
        let (_, report) = try await DaemonProgram.own(DeviceOrder(device: path))
        return Device(path, report, passcode: passcode, owned: nil)
    }

    // MARK: Temporary devices

    /// Makes a temporary device, in the directory that `TMPDIR` names, else in /tmp.
    ///
    /// - Parameters: as those of ``create(at:passcode:capacity:lockGrace:kdfCost:capricious:)``, with defaults for
    ///   tests: the cheapest guess of the passcode, and no grace period.
    public static func temporary(
        passcode: String? = nil, capacity: Int64? = nil, lockGrace: Duration = .zero, kdfCost: Int = 1,
        capricious: String? = nil
    ) async throws(DeviceError) -> Device {
        let settings = DeviceOrder.Settings(
            passcode: passcode, capacity: capacity, lockGrace: lockGrace / .seconds(1), kdfCost: kdfCost,
            capricious: capricious)
        return try await temporary(DeviceOrder(device: temporaryPath(), create: settings), passcode: passcode)
    }

    /// Makes a temporary copy of a device that is shut down: beside the original where this user may write there, so
    /// that the host's filesystem can share unchanged blocks (reflinks).
    ///
    /// - Parameters:
    ///   - template: the path of the original.
    ///   - passcode: that of the original.
    /// - Throws: an error of kind `deviceBusy` when the original is on.
    public static func temporary(
        copyOf template: String, passcode: String? = nil
    ) async throws(DeviceError) -> Device {
        var template = try absolute(template)
        while template.count > 1, template.hasSuffix("/") { template.removeLast() }
        let beside = HostPath.place(of: template)?.directory
        let place = temporaryPath(in: beside.flatMap { HostPath.isWritable($0) ? $0 : nil })
        return try await temporary(
            DeviceOrder(device: place, clone: template), passcode: passcode,
            isOneOfMany: SpareProcess.hasBeenCopied(template))
    }

    private static func temporary(
        _ order: DeviceOrder, passcode: String?, isOneOfMany: Bool = false
    ) async throws(DeviceError) -> Device {
        let (process, report) = try await make(order, isOneOfMany: isOneOfMany)
        return Device(order.device, report, passcode: passcode, owned: process)
    }

    /// Runs a body with a temporary device, and deletes the device.
    public static func withTemporary<Result: Sendable>(
        passcode: String? = nil, capacity: Int64? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Device) async throws -> Result
    ) async throws -> Result {
        let device = try await temporary(passcode: passcode, capacity: capacity)
        do {
            let result = try await body(device)
            await device.end()
            return result
        } catch {
            await device.end()
            throw error
        }
    }

    // MARK: The end

    /// Unmounts everything, ends the device's process, and deletes a temporary device. A mount that is in use goes out
    /// of sight at once. Returns when all is done, also after the process was killed; a device that has ended already
    /// is no error.
    public func end() async {
        if let owned {
            await DaemonProgram.end(owned, of: path)
        } else {
            try? await shutDown()
        }
    }

    private func shutDown() async throws(DeviceError) {
        let status = try await client.status()
        try await client.shutdown()
        guard let process = status.daemon.pid.flatMap({ ProcessHandle($0) }) else { return }
        let box = ProcessBox(process)
        await WorkQueue().run { _ = box.process.waitForEnd(milliseconds: 10_000) }
    }

    // MARK: Requests

    /// Sends any request of the control API. The process of a lasting device is started again where it has ended.
    ///
    /// - Parameters:
    ///   - request: one of the types that end in `Request`.
    ///   - progress: called with the progress of a long operation, up to ten times a second.
    public func send<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> Request.Reply {
        var attempts = 0
        while true {
            attempts += 1
            do throws(DeviceError) {
                return try await client.send(request, progress: progress)
            } catch {
                guard !isTemporary, attempts < 5, error.isWorthAnotherTry(isRepeatable: Request.isRepeatable) else {
                    throw error
                }
            }
            let (_, report) = try await DaemonProgram.own(DeviceOrder(device: path))
            current.withLock { $0 = DeviceClient(socket: report.socket ?? "", identifier: report.identifier) }
        }
    }

    /// The absolute form of a path, for the daemon, whose working directory is another.
    static func absolute(_ path: String) throws(DeviceError) -> String {
        do throws(SystemError) {
            return try HostPath.absolute(path)
        } catch {
            throw DeviceError(.notFound, "cannot tell the present directory: \(error.message)")
        }
    }
}

/// Carries a noncopyable handle into a closure.
private final class ProcessBox: Sendable {
    let process: ProcessHandle

    init(_ process: consuming ProcessHandle) {
        self.process = process
    }
}
