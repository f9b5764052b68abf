// Further control sockets, each for one user, who may handle this device and nothing of the host.

import AppContainer
import ControlServer
import Glibc
import Logging
import Platform
import SandboxModel
import Synchronization

/// The further control sockets of a device.
///
/// Lock: of the table, a leaf, for moments only.
final class GuestSockets: Sendable {
    private struct Open {
        /// nil while it begins to listen.
        let server: HTTPServer?
        let user: UInt32
    }

    private let open = Mutex<[String: Open]>([:])

    /// Listens at a socket. One that is open for this user stays.
    /// - Throws: ``Complaint`` of kind `inUse` where it is open for another user or being opened, `fileExists`, or with
    ///   the host's error.
    func add(
        _ path: String, for user: UInt32, of device: some ServedDevice, log: Logger
    ) async throws(Complaint) {
        let known = open.withLock { open in
            let known = open[path]
            if known == nil { open[path] = Open(server: nil, user: user) }
            return known
        }
        if let known {
            guard known.user == user, known.server != nil else {
                throw Complaint(.inUse, "\(path) is the control socket of user \(known.user); close it first")
            }
            // Somebody may have removed it meanwhile.
            if (try? HostPath.status(path, following: false))?.kind == .socket { return }
            await remove(path)
            return try await add(path, for: user, of: device, log: log)
        }
        do throws(Complaint) {
            let responder = GuestResponder(user: user, device: device, log: log)
            let server = HTTPServer(responder: responder, limits: ControlAPI.limits) { log.warning("\($0)") }
            try await GuestSockets.listen(server, at: path, for: user)
            open.withLock { $0[path] = Open(server: server, user: user) }
        } catch {
            open.withLock { $0[path] = nil }
            throw error
        }
    }

    private static func listen(
        _ server: HTTPServer, at path: String, for user: UInt32
    ) async throws(Complaint) {
        func complaint(_ error: SystemError) -> Complaint {
            Complaint(named: error, doing: "cannot listen at \(path) for user \(user)")
        }
        try removeRemains(path)
        let (directory, name) = try place(of: path)
        // By the directory's descriptor: the address of a socket has at most 107 bytes, and in a container its path is
        // another.
        let address = "/proc/self/fd/\(directory.descriptor.number)/\(name.text)"
        do {
            try await server.start(at: .unix(path: address))
        } catch {
            await server.stop()
            throw complaint(SystemError(code: HTTPServer.code(of: error)))
        }
        do throws(SystemError) {
            try HostPath.changeOwner(of: address, to: user)
        } catch {
            await server.stop()
            ControlAPI.remove(path)
            throw complaint(error)
        }
    }

    private static func place(of path: String) throws(Complaint) -> (SharedDescriptor, FileName) {
        try Complaint.wrapNamed("cannot listen at \(path)") { () throws(SystemError) in
            let place = try HostPath.newPlace(of: path)
            return (SharedDescriptor(try Descriptor.openDirectory(path: place.directory)), place.name)
        }
    }

    /// A socket at which nobody listens is left of a process that was killed. Anything else stays.
    private static func removeRemains(_ path: String) throws(Complaint) {
        guard let status = try? HostPath.status(path, following: false) else { return }
        guard status.kind == .socket, (try? Descriptor.connected(toSocket: path)) == nil else {
            throw Complaint(.fileExists, "\(path) is there already; name a place where nothing is")
        }
        ControlAPI.remove(path)
    }

    /// Ends a socket; one that is not there is no error.
    func remove(_ path: String) async {
        let found = open.withLock { open -> HTTPServer? in
            guard let server = open[path]?.server else { return nil }
            open[path] = nil
            return server
        }
        guard let found else { return }
        ControlAPI.remove(path)
        await found.drain()
        await found.stop()
    }

    /// Removes all sockets. That of a volume is in a filesystem that is read-only, and ends with the process.
    func close() {
        for path in open.withLock({ Array($0.keys) }) { ControlAPI.remove(path) }
    }
}

/// Answers the requests of one further user.
private struct GuestResponder<Served: ServedDevice>: HTTPResponder {
    private let user: UInt32
    private let served: Served
    private let device: ControlResponder<Served>

    init(user: UInt32, device: Served, log: Logger) {
        (self.user, served) = (user, device)
        // The end of the device is none of a guest's requests.
        self.device = ControlResponder(device: device, log: log, shutdown: {})
    }

    func refusal(of peer: HTTPPeer) -> HTTPResponse? {
        switch peer {
        case .user(user), .user(0): nil
        case .user, .unknown:
            ControlReply.failure(Complaint(.notAllowed, "this control socket is another user's")).response
        }
    }

    func response(to fault: RequestFault) -> HTTPResponse { device.response(to: fault) }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        guard let reason = refusal(of: request) else { return await device.response(to: request) }
        let response = ControlReply.failure(Complaint(.notAllowed, reason)).response
        return request.method == "HEAD" ? response.headAlone : response
    }

    /// The reason why a request is not for a guest.
    private func refusal(of request: HTTPRequest) -> String? {
        guard GuestRequests.paths.contains(request.path) else {
            return "\(request.path) is not for this control socket, whose user may handle the device alone"
        }
        // Days that pass would fill the host with backups.
        guard request.path == ControlPath.root + ClockRequest.path, served.hasScheduledBackups else { return nil }
        return "\(request.path) is not for this control socket while the device has scheduled backups"
    }
}

/// The requests that name no file, no process and no space of the host.
enum GuestRequests {
    static let paths: Set<String> = {
        let requests: [any ControlRequest.Type] = [
            StatusRequest.self, ActivityRequest.self, AppsRequest.self, LockRequest.self, UnlockRequest.self,
            RestartRequest.self, PasscodeRequest.self, PurgeRequest.self, ClockRequest.self, ConditionsRequest.self,
            SuspendRequest.self, ResumeRequest.self, EventsRequest.self, RulesRequest.self, FilesRequest.self,
            ExcludeRequest.self, IncludeRequest.self, ProtectRequest.self,
        ]
        let paths = requests.map { $0.path } + [ControlPath.followedEvents, ControlPath.followedChanges]
        return Set(paths.map { ControlPath.root + $0 })
    }()
}
