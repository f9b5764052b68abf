// One connection: its request arrives, is answered, and the connection is closed.

import NIOCore
import NIOHTTP1

/// Reads the one request of a connection and writes its response. All of it runs on the server's event loop and needs
/// no lock.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The steps of a connection. The number is the one that ``ServerConnections`` has given it.
    private enum Phase {
        case arriving(RequestAssembly, number: UInt64, timeout: Scheduled<Void>)
        case answering(Task<Void, Never>)
        /// The response is written, or there is none.
        case closing
    }

    private let connections: ServerConnections
    /// One for the connection; it is in the request that the responder gets.
    private let client = ClientDisconnect()
    /// `closing` until the handler is added.
    private var phase = Phase.closing
    /// Whether the connection counts among ``InFlightResponses``.
    private var isOwedResponse = false
    /// nil before the handler is added to a channel, and after it is removed.
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

    /// Takes a part of the request from NIO's parser, and has the request answered when it is complete.
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

    /// Answers a request that the parser cannot read with the response to its fault. Closes if the socket failed.
    /// Once the request is complete, errors are those of a client that sends more, and nobody's concern.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .arriving = phase else { return }
        let fault: RequestFault
        switch error {
        case HTTPParserError.headerOverflow: fault = .headTooLong(connections.limits.head)
        case HTTPParserError.invalidEOFState: fault = .endedEarly
        case is HTTPParserError, is ByteToMessageDecoderError: fault = .malformed
        default:
            // The socket failed: no client is there to read a response.
            context.close(promise: nil)
            return
        }
        refuse(connections.responder.response(to: fault))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client closed its half before its request began. The parser reports an end within a request.
        if case .arriving = phase, case ChannelEvent.inputClosed = event { context.close(promise: nil) }
        if case .answering = phase, case ChannelEvent.inputClosed = event { closeOnceGone(after: .seconds(1)) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Closes a connection of which the client has closed more than its half. Over TCP it looks the same until
    /// something is sent, and a stream that a browser has left may be silent for ever.
    private func closeOnceGone(after time: TimeAmount) {
        guard let context else { return }
        context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            guard case .answering = self.phase, let context = self.context else { return }
            if HTTPServer.isPeerGone(context.channel) {
                context.close(promise: nil)
            } else {
                self.closeOnceGone(after: .seconds(10))
            }
        }
    }

    /// Closes a connection whose request is incomplete: its time is up, or a newer one needs its descriptor.
    func giveWay() {
        guard case .arriving = phase, let context else { return }
        endArrival()
        phase = .closing
        // Closed at once, whatever the client still sends, to free the descriptor.
        write(connections.responder.response(to: .timedOut), context).whenComplete { _ in
            context.channel.close(promise: nil)
        }
    }

    /// Ends the time limit of a request that is complete or given up.
    private func endArrival() {
        guard case .arriving(_, let number, let timeout) = phase else { return }
        timeout.cancel()
        connections.hasArrived(number)
    }

    // MARK: Response

    /// Has the request answered in a task, which is cancelled when the client goes.
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

    /// Writes a response on the event loop. Only for one whose body is whole.
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

    /// Closes the connection at the server's end. A response under way is cut off.
    func close() {
        context?.close(promise: nil)
    }

    /// Counts the response as sent, once.
    private func endResponse() {
        guard isOwedResponse else { return }
        isOwedResponse = false
        connections.inFlight.end()
    }
}
