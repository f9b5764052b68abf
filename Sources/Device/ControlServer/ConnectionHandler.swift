// One connection: its request arrives, is answered, and the connection ends.
// Everything here happens on the server's event loop, and needs no lock.

import NIOCore
import NIOHTTP1

/// Reads the one request of a connection and has it answered.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        case arriving(RequestAssembly, number: UInt64, timeout: Scheduled<Void>)
        case answering(Task<Void, Never>)
        /// Only to be closed.
        case closing
    }

    private let connections: ServerConnections
    private let client = ClientDisconnect()
    private var phase = Phase.closing
    /// Whether the connection counts among ``InFlightResponses``.
    private var isOwedResponse = false
    private var context: ChannelHandlerContext?

    init(_ connections: ServerConnections) {
        self.connections = connections
    }

    // MARK: Arrival

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        isOwedResponse = true
        connections.inFlight.begin()
        let timeout = context.eventLoop.assumeIsolated().scheduleTask(in: connections.limits.timeAmount) {
            self.giveWay()
        }
        let number = connections.add(self)
        phase = .arriving(RequestAssembly(largestBody: connections.limits.body), number: number, timeout: timeout)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A connection carries one request; what follows it is dropped.
        guard case .arriving(var assembly, let number, let timeout) = phase else { return }
        do throws(RequestFault) {
            let request = try assembly.add(unwrapInboundIn(data), from: client)
            guard let request else {
                phase = .arriving(assembly, number: number, timeout: timeout)
                return
            }
            endArrival()
            answer(request, over: context.channel)
        } catch {
            refuse(connections.responder.response(to: error))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .arriving = phase else { return }
        let fault: RequestFault
        switch error {
        case HTTPParserError.headerOverflow: fault = .headTooLong(connections.limits.head)
        case HTTPParserError.invalidEOFState: fault = .endedEarly
        case is HTTPParserError, is ByteToMessageDecoderError: fault = .malformed
        default:
            // The socket failed: nobody is there to be told.
            context.close(promise: nil)
            return
        }
        refuse(connections.responder.response(to: fault))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The parser has reported the end of a request that had begun. Here nothing had.
        if case .arriving = phase, case ChannelEvent.inputClosed = event { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// The time is up, or a newer connection needs the place.
    func giveWay() {
        guard case .arriving = phase, let context else { return }
        endArrival()
        phase = .closing
        // Closed at once, whatever the client still sends: its descriptor is wanted.
        write(connections.responder.response(to: .timedOut), context).whenComplete { _ in
            context.channel.close(promise: nil)
        }
    }

    private func endArrival() {
        guard case .arriving(_, let number, let timeout) = phase else { return }
        timeout.cancel()
        connections.hasArrived(number)
    }

    // MARK: Response

    private func answer(_ request: HTTPRequest, over channel: any Channel) {
        phase = .answering(
            Task { [responder = connections.responder] in
                await ResponseWriter.write(await responder.response(to: request), to: channel)
                channel.close(promise: nil)
            })
    }

    /// Sends the response to a request that is not carried out, and drops what the client still sends, for a second at
    /// most: a client that is not done sending would otherwise lose the response.
    func refuse(_ response: HTTPResponse) {
        guard let context else { return }
        endArrival()
        phase = .closing
        write(response, context).whenComplete { _ in
            context.close(mode: .output, promise: nil)
            self.endResponse()
        }
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { context.close(promise: nil) }
    }

    private func write(
        _ response: HTTPResponse, _ context: ChannelHandlerContext
    ) -> EventLoopFuture<Void>.Isolated {
        for part in ResponseWriter.parts(of: response) { context.write(wrapOutboundOut(part), promise: nil) }
        return context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated()
    }

    // MARK: End

    func channelInactive(context: ChannelHandlerContext) {
        endArrival()
        if case .answering(let task) = phase { task.cancel() }
        phase = .closing
        endResponse()
        // Not on the event loop: observers may take their time.
        Task { [client] in client.occur() }
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connections.remove(self)
        self.context = nil
    }

    func close() {
        context?.close(promise: nil)
    }

    private func endResponse() {
        guard isOwedResponse else { return }
        isOwedResponse = false
        connections.inFlight.end()
    }
}
