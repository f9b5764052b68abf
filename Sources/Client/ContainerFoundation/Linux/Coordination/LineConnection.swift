// Lines of JSON over a Unix socket between two processes that coordinate, on threads that may wait.

import Foundation
import Platform
import SandboxModel

/// One thread at a time may receive; any may send.
final class LineConnection: @unchecked Sendable {
    private let socket: SharedDescriptor
    /// Used by the receiving thread only.
    private var buffer: [UInt8] = []

    /// Bytes of a line; a peer sends no longer one.
    private static let longestLine = 64 * 1024

    /// - Parameter socket: connected, and non-blocking.
    init(_ socket: SharedDescriptor) {
        self.socket = socket
    }

    /// - Throws: `wouldBlock` if the other end does not take it: it reads none of what it is sent.
    func send(_ value: some Encodable) throws {
        let line = Array(try JSONEncoder().encode(value)) + [UInt8(ascii: "\n")]
        guard line.count <= LineConnection.longestLine else { throw SystemError.range }
        // A line fits into the socket's buffer, if the other end reads.
        guard try socket.descriptor.send(line[...]) == line.count else { throw SystemError.wouldBlock }
    }

    /// The next line.
    ///
    /// - Parameter deadline: in nanoseconds of ``MonotonicClock``; nil to wait as long as the other end is open.
    /// - Returns: nil at the end of the stream.
    /// - Throws: `wouldBlock` at the deadline; an error for a line that is too long or is no such value.
    func receive<Value: Decodable>(_ type: Value.Type, until deadline: UInt64?) throws -> Value? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(buffer[..<end])
                buffer.removeSubrange(...end)
                return try JSONDecoder().decode(type, from: line)
            }
            guard buffer.count < LineConnection.longestLine else { throw SystemError.range }
            guard try isReadable(until: deadline) else { throw SystemError.wouldBlock }
            do throws(SystemError) {
                let bytes = try socket.descriptor.receive(atMost: 4096)
                guard !bytes.isEmpty else { return nil }
                buffer += bytes
            } catch {
                guard error == .wouldBlock else { throw error }
            }
        }
    }

    private func isReadable(until deadline: UInt64?) throws(SystemError) -> Bool {
        guard let deadline else { return try socket.descriptor.waitUntilReadable(within: -1) }
        let now = MonotonicClock.nanoseconds
        guard now < deadline else { return false }
        return try socket.descriptor.waitUntilReadable(within: Int32(clamping: (deadline - now) / 1_000_000 + 1))
    }
}

// MARK: Messages

/// Sent by a listener as soon as it has taken a connection, and when it is asked again: its process runs.
struct Greeting: Codable {
    let process: Int32
}

/// Asked of a listener before an access: its presenters are to get ready.
struct PresenterQuestion: Codable {
    var accesses: [FileAccess]
    let purpose: String
    /// Of a batch: presenters of items in the directories that are named are meant too.
    let isBatch: Bool
    /// Within a batch: presenters are ready, and are told only.
    let isReady: Bool

    var isValid: Bool {
        accesses.count <= 1024 && purpose.utf8.count <= 1024 && accesses.allSatisfy { FileAccess.isValid($0.path) }
    }

    /// - Returns: whether an access has another path now.
    mutating func follow(_ move: ItemMove) -> Bool {
        var isMoved = false
        for index in accesses.indices where accesses[index].follow(move) { isMoved = true }
        return isMoved
    }
}

/// Told after the answer, until the access is over.
struct PresenterNotice: Codable {
    enum Kind: String, Codable {
        /// The access has moved an item: presenters are told.
        case made
        /// Another access has moved it, and told them: they are told of changes where it is now.
        case followed
        /// The same; and presenters that are concerned by the new path alone are to get ready. A greeting and an
        /// answer follow.
        case asking
    }

    let move: ItemMove
    let kind: Kind
}

/// The answer when all presenters are ready, or one has refused.
struct PresenterAnswer: Codable {
    var domain: String?
    var code: Int?
    var text: String?

    init(_ error: NSError?) {
        domain = error?.domain
        code = error?.code
        text = error?.localizedDescription
    }

    var error: NSError? {
        guard let domain, let code else { return nil }
        return NSError(domain: domain, code: code, userInfo: text.map { [NSLocalizedDescriptionKey: $0] } ?? [:])
    }
}
