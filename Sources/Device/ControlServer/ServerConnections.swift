// The state that all connections of a server share. It belongs to the server's one event loop, and needs no lock.

import NIOCore
import Platform
import SandboxModel

final class ServerConnections {
    let responder: any HTTPResponder
    let limits: ConnectionLimits
    let inFlight: InFlightResponses
    private let warn: @Sendable (String) -> Void
    private var hasWarned = false
    private var pending: PendingRequests<ConnectionHandler>
    private var open: [ObjectIdentifier: ConnectionHandler] = [:]
    var listener: (any Channel)?

    init(
        responder: any HTTPResponder, limits: ConnectionLimits, inFlight: InFlightResponses,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.responder = responder
        self.limits = limits
        self.inFlight = inFlight
        self.warn = warn
        pending = PendingRequests(limit: limits.connections)
    }

    /// - Returns: a number for ``hasArrived(_:)``.
    func add(_ connection: ConnectionHandler) -> UInt64 {
        open[ObjectIdentifier(connection)] = connection
        if DescriptorReserve.isReached { relieve(because: SystemError.tooManyFilesInSystem.message) }
        let (number, oldest) = pending.add(connection)
        oldest?.giveWay()
        return number
    }

    /// The request of a connection is complete, or given up.
    func hasArrived(_ number: UInt64) {
        pending.remove(number)
    }

    func remove(_ connection: ConnectionHandler) {
        open[ObjectIdentifier(connection)] = nil
    }

    func closeAll() {
        listener?.close(promise: nil)
        for connection in open.values { connection.close() }
    }

    /// Descriptors are short: the oldest client that has asked for nothing gives its one back.
    func relieve(because shortage: String) {
        pending.removeOldest()?.giveWay()
        guard !hasWarned else { return }
        hasWarned = true
        warn("clients that ask for nothing give way: \(shortage)")
    }
}

extension ConnectionLimits {
    var timeAmount: TimeAmount { TimeAmount(time) }
}
