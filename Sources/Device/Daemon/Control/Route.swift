// A route of the control API: the path of a request, and how its handler runs.
//
// A handler is a method of the device, named in the table of its noun such as `appRoutes`. The table says how the
// handler runs: `call` and `work` on a thread of their own, `wait` without one.

import AppContainer
import ControlServer
import Logging
import Platform
import SandboxModel

/// One path, and the response to a request for it.
struct Route<Served: ServedDevice>: Sendable {
    typealias Answer = @Sendable (Served, ControlCall) async throws(Complaint) -> ControlReply

    /// Below ``ControlPath/root``.
    let path: String
    /// Whether the method is GET.
    let isQuery: Bool
    /// The type of the body's parameters; nil for a query without a type.
    let request: (any ControlRequest.Type)?
    let answer: Answer
}

extension Route {
    init(_ request: any ControlRequest.Type, answer: @escaping Answer) {
        self.init(path: request.path, isQuery: request.isQuery, request: request, answer: answer)
    }
}

/// A request whose path is known, on its way to its handler.
struct ControlCall: Sendable {
    let body: [UInt8]
    /// Whether the client asked for newline-delimited JSON with progress.
    let wantsLines: Bool
    let client: ClientDisconnect
    /// Runs handlers that block.
    let queue: WorkQueue
    let log: Logger

    /// Decodes the body and checks the parameters.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    func decode<Request: ControlRequest>(_ type: Request.Type) throws(Complaint) -> Request {
        try ControlJSON.request(type, from: body)
    }
}

extension Route {
    /// A handler that blocks, and reports no progress.
    static func call<Request: ControlRequest>(
        _ handler: @escaping @Sendable (Served) -> (Request) throws(Complaint) -> Request.Reply
    ) -> Route {
        blocking { (served, request: Request, _) throws(Complaint) in try handler(served)(request) }
    }

    /// The same for a handler without a result.
    static func call<Request: ControlRequest>(
        _ handler: @escaping @Sendable (Served) -> (Request) throws(Complaint) -> Void
    ) -> Route where Request.Reply == Done {
        blocking { (served, request: Request, _) throws(Complaint) in
            try handler(served)(request)
            return Done()
        }
    }

    /// A handler that blocks for long, reports its progress, and ends early when its client has gone.
    static func work<Request: ControlRequest>(
        _ handler:
            @escaping @Sendable (Served) -> (Request, @escaping ProgressReport) throws(Complaint) -> Request.Reply
    ) -> Route {
        blocking { (served, request: Request, progress) throws(Complaint) in try handler(served)(request, progress) }
    }

    /// The same for a handler without a result.
    static func work<Request: ControlRequest>(
        _ handler: @escaping @Sendable (Served) -> (Request, @escaping ProgressReport) throws(Complaint) -> Void
    ) -> Route where Request.Reply == Done {
        blocking { (served, request: Request, progress) throws(Complaint) in
            try handler(served)(request, progress)
            return Done()
        }
    }

    /// A handler that may wait for long and holds no thread meanwhile. Its task is cancelled when the client goes.
    static func wait<Request: ControlRequest>(
        _ handler: @escaping @Sendable (Served) -> (Request) async throws(Complaint) -> Void
    ) -> Route where Request.Reply == Done {
        Route(Request.self) { (served, call) throws(Complaint) in
            try await handler(served)(try call.decode(Request.self))
            return .success(Done(), lines: call.wantsLines)
        }
    }

    /// The same for a handler with a result.
    static func wait<Request: ControlRequest>(
        _ handler: @escaping @Sendable (Served) -> (Request) async throws(Complaint) -> Request.Reply
    ) -> Route {
        Route(Request.self) { (served, call) throws(Complaint) in
            .success(try await handler(served)(try call.decode(Request.self)), lines: call.wantsLines)
        }
    }

    /// A handler that blocks and takes much memory: a few run at once, and the others wait without a thread. One whose
    /// client has gone does not begin.
    static func inTurn<Request: ControlRequest>(
        _ turns: @escaping @Sendable (Served) -> Turns,
        _ handler: @escaping @Sendable (Served) -> (Request, ClientDisconnect) throws(Complaint) -> Request.Reply
    ) -> Route {
        Route(Request.self) { (served, call) throws(Complaint) in
            let request = try call.decode(Request.self)
            let result = await turns(served).run {
                await call.queue.run { () -> Result<Request.Reply, Complaint> in
                    Result { () throws(Complaint) in try handler(served)(request, call.client) }
                }
            }
            guard let result else { throw Complaint.cancelled }
            return .success(try result.get(), lines: call.wantsLines)
        }
    }

    /// A handler whose response stays open behind its result, for as long as an app runs. The client ends it by its
    /// disconnect, the device by ``ClientDisconnect/occur()``.
    static func lease<Request: ControlRequest>(
        _ handler:
            @escaping @Sendable (Served) -> (Request, ClientDisconnect, @escaping ProgressReport) throws(Complaint)
            -> Request.Reply
    ) -> Route {
        Route(Request.self) { (served, call) throws(Complaint) in
            let request = try call.decode(Request.self)
            guard call.wantsLines else {
                throw Complaint(
                    .badRequest,
                    "\(Request.path): the app runs for as long as the answer is read, so ask for lines with the header "
                        + "Accept: \(ControlMedia.lines)")
            }
            return .lines(
                WorkLines(call, path: Request.path, staysOpen: true) { (progress) throws(Complaint) in
                    try handler(served)(request, call.client, progress)
                })
        }
    }

    /// The events as they come. The response ends with its client, and with the device.
    static func follow(
        _ handler: @escaping @Sendable (Served) -> () throws(Complaint) -> EventSubscription
    ) -> Route {
        Route(path: ControlPath.followedEvents, isQuery: true, request: nil) { (served, call) throws(Complaint) in
            let subscription = try handler(served)()
            call.client.whenOccurred { [weak follower = subscription.follower] in follower?.end() }
            return .lines(EventLines(subscription: subscription))
        }
    }

    /// The changes of files as they come. The response ends with its client, and with the device.
    static func followChanges(_ handler: @escaping @Sendable (Served) -> () -> ChangeFollower) -> Route {
        Route(path: ControlPath.followedChanges, isQuery: true, request: nil) { (served, call) throws(Complaint) in
            let follower = handler(served)()
            call.client.whenOccurred { [weak follower] in follower?.end() }
            return .lines(ChangeLines(follower: follower))
        }
    }

    /// A handler on a thread where it may block: the one response when it is done, or lines meanwhile.
    private static func blocking<Request: ControlRequest>(
        _ handler:
            @escaping @Sendable (Served, Request, @escaping ProgressReport) throws(Complaint) -> Request.Reply
    ) -> Route {
        Route(Request.self) { (served, call) throws(Complaint) in
            let request = try call.decode(Request.self)
            if call.wantsLines {
                return .lines(
                    WorkLines(call, path: Request.path) { (progress) throws(Complaint) in
                        try handler(served, request, progress)
                    })
            }
            let result = await call.queue.run { () -> Result<Request.Reply, Complaint> in
                Result { () throws(Complaint) in try handler(served, request) { _ in true } }
            }
            return .success(try result.get())
        }
    }
}
