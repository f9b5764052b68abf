// The state that the connections of one server share.

import NIOCore
import Platform
import SandboxModel

/// The open connections, and those whose requests are incomplete. The event loop owns it, so that it needs no lock.
final class ServerConnections {
    let responder: any HTTPResponder
    let limits: ConnectionLimits
    let inFlight: InFlightResponses
    private let warn: @Sendable (String) -> Void
    /// One line in the log tells it all: a shortage may close thousands of connections.
    private var hasWarned = false
    /// Connections with incomplete requests.
    private var pending: PendingRequests<ConnectionHandler>
    /// All connections, by their handlers.
    private var open: [ObjectIdentifier: ConnectionHandler] = [:]
    /// nil until ``HTTPServer/start(at:)``.
    var listener: (any Channel)?

    init(
        responder: any HTTPResponder, limits: ConnectionLimits, inFlight: InFlightResponses,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.responder = responder
        self.limits = limits
        self.inFlight = inFlight
        self.warn = warn
        pending = PendingRequests(limit: limits.connections, limitWhileShort: limits.connectionsWhileShort)
    }

    /// Adds a connection. If there are too many with incomplete requests, fewer while descriptors are short, the oldest
    /// gives way.
    /// - Returns: a number for ``hasArrived(_:)``.
    func add(_ connection: ConnectionHandler) -> UInt64 {
        open[ObjectIdentifier(connection)] = connection
        let isShort = DescriptorReserve.isReached
        let (number, oldest) = pending.add(connection, isShort: isShort)
        if isShort, !oldest.isEmpty { warnOnce(of: SystemError.tooManyFilesInSystem.message) }
        for connection in oldest { connection.giveWay() }
        return number
    }

    /// Removes a connection from the incomplete ones: its request is complete, or given up.
    func hasArrived(_ number: UInt64) {
        pending.remove(number)
    }

    func remove(_ connection: ConnectionHandler) {
        open[ObjectIdentifier(connection)] = nil
    }

    /// Closes the listener and every connection.
    func closeAll() {
        listener?.close(promise: nil)
        for connection in open.values { connection.close() }
    }

    /// Closes the oldest connection with an incomplete request, because no descriptor is left for the next one.
    func relieve(because shortage: String) {
        pending.removeOldest()?.giveWay()
        warnOnce(of: shortage)
    }

    private func warnOnce(of shortage: String) {
        guard !hasWarned else { return }
        hasWarned = true
        warn("clients that ask for nothing give way: \(shortage)")
    }
}

extension ConnectionLimits {
    var timeAmount: TimeAmount { TimeAmount(time) }
}
