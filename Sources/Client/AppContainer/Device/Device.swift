// A device in a program's hands: found, made, and gone when it is no more needed.

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
/// There are two sorts. A *lasting* device is a directory that somebody wants to keep: ``open(_:)`` finds its process or
/// starts it, and neither goes with this program. A *temporary* one goes with ``end()``, with the last reference to it,
/// and with this program, however that ends: its process notices that nobody holds it any more, ends what runs in the
/// device, unmounts everything and deletes it.
///
/// Every method throws a ``DeviceError`` with the daemon's own message.
public final class Device: Sendable {
    /// The path of the device's directory.
    public let path: String
    /// Whether the device goes with this value.
    public var isTemporary: Bool { owned != nil }
    /// The passcode that the device was made with; ``unlock(passcode:)`` takes it where none is given. Nil for a device
    /// without one, and for one that was found.
    public let passcode: String?

    private let current: Mutex<DeviceClient>
    private let owned: TetheredProcess?

    init(_ path: String, socket: String, passcode: String?, owned: TetheredProcess?) {
        self.path = path
        self.passcode = passcode
        self.owned = owned
        current = Mutex(DeviceClient(socket: socket, temporary: owned == nil ? nil : path))
    }

    /// The wire to the device's process.
    public var client: DeviceClient { current.withLock { $0 } }

    // MARK: Lasting devices

    /// Makes a device that stays.
    ///
    /// - Parameters:
    ///   - path: where nothing is yet, or an empty directory.
    ///   - passcode: none when nil.
    ///   - capacity: bytes that it holds; what the host's filesystem does when nil.
    ///   - lockGrace: how long it stays unlocked after it was told to lock; 10 seconds when nil.
    ///   - kdfCost: how slow a guess of the passcode is, from 1 to 20; about 80 ms when nil.
    /// - Throws: an error of kind `deviceExists`, `hostFilesystem`, `notFound`, `invalidPasscode` or `programMissing`.
    public static func create(
        at path: String, passcode: String? = nil, capacity: Int64? = nil, lockGrace: Duration? = nil,
        kdfCost: Int? = nil
    ) async throws(DeviceError) -> Device {
        let settings = DeviceOrder.Settings(
            passcode: passcode, capacity: capacity, lockGrace: lockGrace.map { $0 / .seconds(1) }, kdfCost: kdfCost)
        let path = try absolute(path)
        let order = DeviceOrder(device: path, create: settings, template: true, keep: true)
        let (process, _) = try await DaemonProgram.own(order)
        process.letGo()
        await WorkQueue().run { process.waitForEnd() }
        return try await open(path, passcode: passcode)
    }

    /// A device that is there. Its process is found, or started: then it is before its first unlock, if it has a
    /// passcode.
    /// - Throws: an error of kind `deviceMissing`, `notADevice`, `deviceBusy`, `programMissing`, …
    public static func open(_ path: String) async throws(DeviceError) -> Device {
        try await open(try absolute(path), passcode: nil)
    }

    private static func open(_ path: String, passcode: String?) async throws(DeviceError) -> Device {
        let (_, report) = try await DaemonProgram.own(DeviceOrder(device: path))
        return Device(path, socket: report.socket ?? "", passcode: passcode, owned: nil)
    }

    // MARK: Temporary devices

    /// Makes a device that goes with this program, in the directory that `TMPDIR` names, else in /tmp.
    ///
    /// - Parameters: as those of ``create(at:passcode:capacity:lockGrace:kdfCost:)``; a guess of the passcode is as
    ///   cheap as can be, and a device that is told to lock does so at once.
    public static func temporary(
        passcode: String? = nil, capacity: Int64? = nil, lockGrace: Duration = .zero, kdfCost: Int = 1
    ) async throws(DeviceError) -> Device {
        let settings = DeviceOrder.Settings(
            passcode: passcode, capacity: capacity, lockGrace: lockGrace / .seconds(1), kdfCost: kdfCost)
        return try await temporary(DeviceOrder(device: temporaryPath(), create: settings), passcode: passcode)
    }

    /// Makes a copy of a device that is shut down, which goes with this program. It lies beside the original where this
    /// user may write there, so that the host can let both share what neither has changed (a reflink).
    ///
    /// - Parameter passcode: the original's.
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
        return Device(order.device, socket: report.socket ?? "", passcode: passcode, owned: process)
    }

    /// Runs a body with a temporary device, which is gone when this returns.
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

    /// Unmounts everything, and ends the device's process. A temporary device is deleted. A mount that is in use goes
    /// out of sight at once. Returns when nothing is left, also where the device's process was killed; a device that has
    /// ended already is no error.
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
    /// - Parameter progress: told how far a long operation has come, some times a second.
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
            current.withLock { $0 = DeviceClient(socket: report.socket ?? "") }
        }
    }

    /// A path of the host, as the daemon, which works elsewhere, can use it.
    static func absolute(_ path: String) throws(DeviceError) -> String {
        do throws(SystemError) {
            return try HostPath.absolute(path)
        } catch {
            throw DeviceError(.notFound, "cannot tell the present directory: \(error.message)")
        }
    }
}

/// For a closure, which takes no noncopyable value along.
private final class ProcessBox: Sendable {
    let process: ProcessHandle

    init(_ process: consuming ProcessHandle) {
        self.process = process
    }
}
