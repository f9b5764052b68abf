// A connection to a Unix socket whose reads and writes suspend the task, and hold no thread.

public import SandboxModel

/// A connected Unix socket. It is closed with the last reference.
public final class LocalConnection: Sendable {
    private let socket: SharedDescriptor
    /// Made before anything is sent: a process without a further descriptor could not wait for the answer.
    private let arrival: ReadinessWatch

    /// - Throws: as ``Descriptor/connected(toSocket:)`` and ``ReadinessWatch/init(of:ownedBy:for:)``.
    public convenience init(to path: String) throws(SystemError) {
        try self.init(SharedDescriptor(try Descriptor.connected(toSocket: path)))
    }

    /// - Parameter socket: connected, and non-blocking.
    /// - Throws: as ``ReadinessWatch/init(of:ownedBy:for:)``.
    public init(_ socket: SharedDescriptor) throws(SystemError) {
        self.socket = socket
        arrival = try ReadinessWatch(of: socket.descriptor.number, ownedBy: socket, for: .reading)
    }

    /// `getsockopt(2)` with `SO_PEERCRED`: the user of the process that listens, or that has connected.
    public var peer: UInt32 {
        get throws(SystemError) { try PeerUser.identifier(of: socket.descriptor.number) }
    }

    /// `getsockopt(2)` with `SO_PEERCRED`: the process that listens, or that has connected.
    public var peerProcess: Int32 {
        get throws(SystemError) { try PeerUser.process(of: socket.descriptor.number) }
    }

    /// `recv(2)`, as soon as something has arrived.
    /// - Returns: at least one byte; none at the end of the stream.
    /// - Throws: the error of the call, or `CancellationError`.
    public func read(atMost count: Int) async throws -> [UInt8] {
        while true {
            do throws(SystemError) {
                return try socket.descriptor.receive(atMost: count)
            } catch {
                guard error == .wouldBlock else { throw error }
            }
            try await arrival.wait()
        }
    }

    /// `send(2)`, repeated until all bytes are sent.
    /// After an error or a cancellation, a part of the bytes may be sent.
    /// - Throws: the error of the call, or `CancellationError`.
    public func write(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(SystemError) {
                rest = rest.dropFirst(try socket.descriptor.send(rest))
            } catch {
                guard error == .wouldBlock else { throw error }
                try await socket.waitUntilReady(for: .writing)
            }
        }
    }

    /// `shutdown(2)` with `SHUT_WR`: the other end reads the end of the stream.
    public func closeWriting() throws(SystemError) {
        try socket.descriptor.closeWriting()
    }
}
