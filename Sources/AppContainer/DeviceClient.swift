// Driving a device from code: one method for each thing that a running device does.

import FoundationEssentials

/// A running device, reached over its control socket.
///
/// ```swift
/// let device = DeviceClient(socket: path)          // `appcontainer status DEVICE --json` tells the path
/// try await device.mount("com.example.Notes", at: "/tmp/notes")
/// ```
///
/// Every method throws a ``DeviceError`` with one line for people and a kind for programs. Cancelling the task that
/// waits for a long operation cancels the operation.
public struct DeviceClient: Sendable {
    /// The path of the control socket.
    public let socket: String

    public init(socket: String) {
        self.socket = socket
    }

    /// Whether somebody listens at the socket.
    public func isAnswering() async -> Bool {
        do {
            _ = try await ControlConnection(to: socket)
            return true
        } catch {
            return false
        }
    }

    public func status() async throws(DeviceError) -> DeviceStatus {
        try await send(StatusRequest())
    }

    /// Unmounts everything and ends the daemon.
    public func shutdown() async throws(DeviceError) {
        _ = try await send(ShutdownRequest())
    }

    public func apps() async throws(DeviceError) -> [App] {
        try await send(AppsRequest())
    }

    /// What has happened on the device, the oldest first, as far as the record goes back.
    public func events() async throws(DeviceError) -> [Event] {
        try await send(EventsRequest())
    }

    /// Follows the events: hands over what the record holds, the oldest first, and then each event as it comes. Returns
    /// when the device has been shut down, after its last event.
    ///
    /// A reader that is slower than the events come misses some; the event `missed` says how many.
    /// - Parameter handle: gets each event with the line that it is in the record; answers whether to follow on.
    public func followEvents(
        _ handle: (_ event: Event, _ line: String) throws(DeviceError) -> Bool
    ) async throws(DeviceError) {
        var connection = try await ControlConnection(to: socket)
        let (status, body) = try await connection.send(
            method: "GET", path: ControlPath.root + ControlPath.followedEvents, accept: ControlMedia.lines, body: [])
        try await connection.lines(of: body) { (line) throws(DeviceError) in
            guard status == 200 else { throw try DeviceClient.decode(Failure.self, from: line).complaint }
            return try handle(try DeviceClient.decode(Event.self, from: line), String(decoding: line, as: UTF8.self))
        }
    }

    public func unlock(passcode: String) async throws(DeviceError) {
        _ = try await send(UnlockRequest(passcode: passcode))
    }

    /// Locks the device.
    ///
    /// - Parameters:
    ///   - now: skip the grace period.
    ///   - waiting: return when the device is locked, not when the lock is announced.
    /// - Throws: an error of kind `noPasscode`, or `lockCancelled` by an unlock during the grace period.
    public func lock(now: Bool = false, waiting: Bool = true) async throws(DeviceError) {
        _ = try await send(LockRequest(now: now, wait: waiting))
    }

    /// Does to the device what a reboot does: with a passcode it is before its first unlock then.
    public func restart() async throws(DeviceError) {
        _ = try await send(RestartRequest())
    }

    /// Gives a device without a passcode one.
    public func setPasscode(_ new: String) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.set, new: new))
    }

    public func changePasscode(from old: String, to new: String) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.change, old: old, new: new))
    }

    /// Removes the passcode; the device is unlocked then.
    public func removePasscode(_ old: String) async throws(DeviceError) {
        _ = try await send(PasscodeRequest(.remove, old: old))
    }

    /// Mounts an app's home.
    ///
    /// - Parameters:
    ///   - running: mark the app running for as long as it is mounted.
    ///   - documents: show only `Documents`, of an app that shares its documents.
    ///   - cachedirTag: show a `CACHEDIR.TAG` in `Library/Caches` and `tmp`, by which backup tools know them.
    public func mount(
        _ app: String, at mountPoint: String, allowOther: Bool = false, readOnly: Bool = false, running: Bool = false,
        documents: Bool = false, cachedirTag: Bool = false
    ) async throws(DeviceError) -> Mount {
        try await send(
            MountRequest(
                app: app, mountPoint: mountPoint, allowOther: allowOther, readOnly: readOnly, running: running,
                documents: documents, cachedirTag: cachedirTag))
    }

    public func unmount(_ mountPoint: String, lazy: Bool = false) async throws(DeviceError) {
        _ = try await send(UnmountRequest(mountPoint: mountPoint, lazy: lazy))
    }

    /// Returns when the mount has ended, however that came about.
    public func waitForEnd(ofMount mountPoint: String) async throws(DeviceError) {
        _ = try await send(MountEndRequest(mountPoint: mountPoint))
    }

    public func inspect(_ path: String, of app: String) async throws(DeviceError) -> Inspection {
        try await send(InspectRequest(app: app, path: path))
    }

    /// Sends any request of the control API.
    ///
    /// - Parameter progress: told how far a long operation has come, some times a second.
    public func send<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> Request.Reply {
        var connection = try await ControlConnection(to: socket)
        return try await ask(request, over: &connection, progress: progress) { _ in true }
    }

    /// Sends a request over a connection of its own and reads the answer.
    ///
    /// - Parameter goesOn: whether to read on behind the result, up to the end of the answer.
    func ask<Request: ControlRequest>(
        _ request: Request, over connection: inout ControlConnection, progress: (@Sendable (WorkProgress) -> Void)?,
        goesOn: (Request.Reply) -> Bool
    ) async throws(DeviceError) -> Request.Reply {
        let (status, body) = try await connection.send(
            method: Request.isQuery ? "GET" : "POST", path: ControlPath.root + Request.path,
            accept: progress == nil ? ControlMedia.json : ControlMedia.lines,
            body: Request.isQuery ? [] : try DeviceClient.encode(request))

        var result: Request.Reply?
        var plain: [UInt8] = []
        try await connection.lines(of: body) { (line) throws(DeviceError) in
            guard status == 200, let progress else {
                plain += line
                return true
            }
            let news = try DeviceClient.decode(WorkLine<Request.Reply>.self, from: line)
            if let complaint = news.complaint { throw complaint }
            if let step = news.progress { progress(step) }
            guard let end = news.result else { return true }
            result = end
            return goesOn(end)
        }
        if status != 200 {
            throw try DeviceClient.decode(Failure.self, from: plain).complaint
        }
        if progress == nil {
            return try DeviceClient.decode(Request.Reply.self, from: plain)
        }
        guard let result else { throw .ended }
        return result
    }

    private static func encode(_ request: some Encodable) throws(DeviceError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(request))
        } catch {
            throw DeviceError(kind: "badRequest", message: "the request cannot be written as JSON: \(error)")
        }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws(DeviceError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw .unreachable("the device's daemon answered something else; are its version and this one the same?")
        }
    }
}
