// The way from a page to its device, which may be turned off and on meanwhile.

public import AppContainer
import SandboxModel
import Synchronization

/// Finds the process that serves a device, and keeps the way to it until that ends.
///
/// Lock: of the client that was found last, a leaf, for moments only.
public final class DeviceReach: Sendable {
    private let find: @Sendable () async throws(DeviceError) -> DeviceClient?
    private let off: String
    private let known = Mutex<DeviceClient?>(nil)

    /// - Parameters:
    ///   - off: the message while the device is off: one sentence with advice.
    ///   - find: the process that serves the device now; nil when there is none. It throws when the device itself is no
    ///     longer where it was.
    public init(off: String, find: @escaping @Sendable () async throws(DeviceError) -> DeviceClient?) {
        self.off = off
        self.find = find
    }

    /// Asks the device's process, and once more after it has been replaced.
    /// - Throws: ``DeviceError`` of kind `daemonUnreachable` while the device is off, and those of the search.
    func ask<Answer: Sendable>(
        _ question: (DeviceClient) async throws(DeviceError) -> Answer
    ) async throws(DeviceError) -> Answer {
        if let client = known.withLock({ $0 }) {
            do throws(DeviceError) {
                return try await question(client)
            } catch {
                guard error.kind == .daemonUnreachable else { throw error }
                known.withLock { $0 = nil }
            }
        }
        guard let client = try await find() else { throw DeviceError(.daemonUnreachable, off) }
        known.withLock { $0 = client }
        return try await question(client)
    }

    /// Sends a request.
    func send<Request: ControlRequest>(_ request: Request) async throws(DeviceError) -> Request.Reply {
        try await ask { (client) throws(DeviceError) in try await client.send(request) }
    }
}
