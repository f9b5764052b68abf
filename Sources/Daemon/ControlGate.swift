// The door of the control socket: who may come in, and what looks like a request.
//
// FlyingFox reads a head of any length, in a time that grows with its square, and tells no handler who is connected.
// So connections are accepted here; the server listens behind, on a socket in the same private directory.

import AppContainer
import FlyingSocks
import FoundationEssentials
import Glibc
import Platform
import SandboxModel

struct ControlGate: Sendable {
    private let listener: AsyncSocket
    private let pool: any AsyncSocketPool
    private let server: String
    private let answers: Answers

    /// - Parameters:
    ///   - path: where clients connect.
    ///   - server: where the HTTP server listens.
    init(at path: String, before server: String, answers: Answers) async throws {
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
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { try? await pool.run() }
            while let connection = try? await listener.accept() {
                group.addTask { await admit(connection) }
            }
        }
    }

    private func admit(_ connection: AsyncSocket) async {
        let answer = answers.begin()
        defer {
            try? connection.close()
            withExtendedLifetime(answer) {}
        }
        do throws(Complaint) {
            let user = try? PeerUser.identifier(of: connection.socket.file.rawValue)
            guard user == geteuid() || user == 0 else {
                throw Complaint(.notAllowed, "the device belongs to another user")
            }
            guard let (head, rest) = try await head(of: connection) else { return }
            guard head.bodyLength <= ControlPath.largestBody else {
                try? await connection.write(Data(ControlReply.tooLarge.bytes))
                return await dropRest(of: connection)
            }
            try await pass(head.bytes + rest, from: connection)
        } catch {
            try? await connection.write(Data(ControlReply.failure(error).bytes))
            await dropRest(of: connection)
        }
    }

    /// Reads and drops what a refused client still sends, for a second at most: it hears the answer when it has sent
    /// all.
    private func dropRest(of connection: AsyncSocket) async {
        shutdown(connection.socket.file.rawValue, Int32(SHUT_WR))
        await withTaskGroup { group in
            group.addTask { while (try? await connection.read(atMost: 4096)) != nil {} }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    /// - Returns: nil when the client went away without a word.
    private func head(of connection: AsyncSocket) async throws(Complaint) -> (RequestHead, ArraySlice<UInt8>)? {
        var bytes: [UInt8] = []
        while true {
            if let end = RequestHead.end(in: bytes) { return (try RequestHead(bytes[..<end]), bytes[end...]) }
            guard bytes.count < RequestHead.longest else {
                throw Complaint(.badRequest, "the head of the request is longer than \(RequestHead.longest) bytes")
            }
            guard let piece = try? await connection.read(atMost: 4096) else {
                guard !bytes.isEmpty else { return nil }
                throw Complaint(.badRequest, "the request ended early")
            }
            bytes += piece
        }
    }

    /// Passes the request on, and what the server answers back, until the server has said all.
    private func pass(_ request: [UInt8], from connection: AsyncSocket) async throws(Complaint) {
        guard let server = try? await AsyncSocket.connected(to: .unix(path: server), pool: pool) else {
            throw Complaint(.shuttingDown, "the device is shutting down; try again")
        }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                guard (try? await server.write(Data(request))) != nil else { return false }
                while let piece = try? await connection.read(atMost: 4096) {
                    guard (try? await server.write(Data(piece))) != nil else { break }
                }
                return false
            }
            group.addTask {
                while let piece = try? await server.read(atMost: 4096) {
                    guard (try? await connection.write(Data(piece))) != nil else { break }
                }
                return true
            }
            for await isOver in group where isOver { group.cancelAll() }
        }
        try? server.close()
    }
}
