// The door of the control socket: who may come in, and what looks like a request.
//
// FlyingFox reads a head of any length, in a time that grows with its square, keeps a connection whose request ends
// halfway, and tells no handler who is connected. So connections are accepted here, and whole requests passed on to the
// server, which listens behind on a socket in the same private directory.

import AppContainer
import FlyingSocks
import FoundationEssentials
import Glibc
import Logging
import Platform
import SandboxModel

struct ControlGate: Sendable {
    private let listener: AsyncSocket
    private let pool: any AsyncSocketPool
    private let server: String
    private let answers: Answers
    private let arrivals: Arrivals
    private let departures: Departures
    private let log: Logger

    /// - Parameters:
    ///   - path: where clients connect.
    ///   - server: where the HTTP server listens.
    ///   - answers: counts the answers that are under way.
    ///   - departures: is told who has gone.
    init(
        at path: String, before server: String, answers: Answers, departures: Departures, limits: ArrivalLimits,
        log: Logger
    ) async throws {
        let pool: some AsyncSocketPool = SocketPool.make()
        try await pool.prepare()
        let socket = try Socket(domain: AF_UNIX)
        try socket.bind(to: sockaddr_un.unix(path: path))
        try HostPath.changeMode(of: path, to: S_IRUSR | S_IWUSR)
        try socket.listen()
        listener = try AsyncSocket(socket: socket, pool: pool)
        self.pool = pool
        self.server = server
        self.answers = answers
        self.departures = departures
        self.log = log
        arrivals = Arrivals(limits: limits)
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { try? await pool.run() }
            var hasComplained = false
            while !Task.isCancelled {
                var shortage: String?
                do {
                    let connection = try await listener.accept()
                    if DescriptorReserve.holds(connection.socket.file.rawValue) {
                        shortage = SystemError.tooManyFilesInSystem.message
                        // Before the client itself arrives, who is the last to give way.
                        arrivals.dismissOldest()
                    }
                    let arrival = arrivals.begin()
                    group.addTask { await admit(connection, arrival) }
                } catch {
                    shortage = ControlGate.words(for: error)
                    arrivals.dismissOldest()
                }
                guard let shortage, !Task.isCancelled else { continue }
                if !hasComplained {
                    log.warning("clients that ask for nothing give way: \(shortage)")
                    hasComplained = true
                }
                // Until the descriptor of who gave way is closed.
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        try? listener.close()
    }

    private static func words(for error: any Error) -> String {
        if case .failed(_, _, let message) = error as? SocketError { return message }
        return "\(error)"
    }

    private func admit(_ connection: AsyncSocket, _ arrival: Arrivals.Arrival) async {
        let answer = answers.begin()
        let number = departures.begin()
        defer {
            departures.end(number)
            try? connection.close()
            withExtendedLifetime(answer) {}
        }
        do throws(Complaint) {
            let user = try? PeerUser.identifier(of: connection.socket.file.rawValue)
            guard user == geteuid() || user == 0 else {
                arrivals.end(arrival)
                throw Complaint(.notAllowed, "the device belongs to another user")
            }
            let outcome = await arrivals.wait(for: arrival) {
                var reader = RequestReader(connection, number: number)
                do throws(Complaint) {
                    return Result<RequestReader.Outcome, Complaint>.success(try await reader.read())
                } catch {
                    return .failure(error)
                }
            }
            switch try outcome?.get() {
            case .request(let request): try await pass(request, from: connection)
            case .tooLarge: await refuse(.tooLarge, to: connection)
            case .nothing: break
            // Without waiting for what it may still send: its descriptor is wanted.
            case nil: try? await connection.write(Data(ControlReply.tooLate.bytes))
            }
        } catch {
            await refuse(.failure(error), to: connection)
        }
    }

    /// Answers what is not carried out. Then reads and drops what the client still sends, for a second at most: it
    /// hears the answer when it has sent all.
    private func refuse(_ reply: ControlReply, to connection: AsyncSocket) async {
        try? await connection.write(Data(reply.bytes))
        shutdown(connection.socket.file.rawValue, Int32(SHUT_WR))
        await withTaskGroup { group in
            group.addTask { await dropRest(of: connection) }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    private func dropRest(of connection: AsyncSocket) async {
        while (try? await connection.read(atMost: 4096)) != nil {}
    }

    /// Passes the request on, and what the server answers back, until the server has said all or the client has gone.
    private func pass(_ request: [UInt8], from connection: AsyncSocket) async throws(Complaint) {
        await makeRoom()
        guard let server = try? await AsyncSocket.connected(to: .unix(path: server), pool: pool) else {
            throw Complaint(.shuttingDown, "the device is shutting down; try again")
        }
        defer { try? server.close() }
        await withTaskGroup { group in
            group.addTask {
                guard (try? await server.write(Data(request))) != nil else { return }
                while let piece = try? await server.read(atMost: 4096) {
                    guard (try? await connection.write(Data(piece))) != nil else { break }
                }
            }
            group.addTask { await departure(of: connection) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Has who has asked for nothing yet give way until a request can be passed on: the server, whose end of the
    /// connection takes a descriptor too, stops where it gets none.
    private func makeRoom() async {
        for _ in 0..<100 {
            let next = dup(listener.socket.file.rawValue)
            if next >= 0 { close(next) }
            guard next < 0 || DescriptorReserve.holds(next), arrivals.dismissOldest() else { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Returns when the client has gone. One that has only closed its half waits for its answer.
    private func departure(of connection: AsyncSocket) async {
        await dropRest(of: connection)
        do {
            while true {
                // Throws where both halves are closed. No event tells of the second half, hence the question.
                try await pool.suspendSocket(connection.socket, untilReadyFor: .write)
                try await Task.sleep(for: .milliseconds(200))
            }
        } catch {}
    }
}
