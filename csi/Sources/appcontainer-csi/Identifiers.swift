// The identifiers of volumes and snapshots, which say what node has them.

import GRPCCore
import HashFunctions
import Platform
import SandboxModel
import Volumes

/// An identifier is a name and, behind `@`, the beginning of the SHA-256 of the node's name: a snapshot of one node is
/// none of another's, and an orchestrator asks any node.
struct Identifiers: Sendable {
    private static let separator = "@"
    /// Hexadecimal digits of the digest.
    private static let digits = 8
    private let mark: String
    private let node: String

    init(node: String) {
        self.node = node
        let digest = HashFunction.sha256.digest(of: Array(node.utf8)).hexadecimal
        mark = Identifiers.separator + digest.prefix(Identifiers.digits)
    }

    func identifier(of name: String) -> String { name + mark }

    /// The place of a volume or snapshot.
    private enum Place {
        case here(name: String)
        case elsewhere
        /// No node has given the identifier.
        case nowhere
    }

    private func place(of identifier: String) -> Place {
        let parts = identifier.split(separator: Identifiers.separator, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = try? VolumeName(String(parts[0])), parts[1].utf8.count == Identifiers.digits
        else { return .nowhere }
        return Identifiers.separator + parts[1] == mark ? .here(name: name.text) : .elsewhere
    }

    /// The name of a volume or snapshot that this node may have; nil for another identifier.
    func name(of identifier: String) -> String? {
        if case .here(let name) = place(of: identifier) { name } else { nil }
    }

    /// The name of a volume or snapshot that has to be here.
    /// - Throws: `NOT_FOUND`.
    func required(_ identifier: String, _ noun: String) throws(RPCError) -> String {
        guard let name = name(of: identifier) else { throw missing(identifier, noun) }
        return name
    }

    /// The name of a volume or snapshot that a new volume is made of.
    /// - Throws: `NOT_FOUND`, or `RESOURCE_EXHAUSTED` where another node has it: an orchestrator tries the next one.
    func source(_ identifier: String, _ noun: String) throws(RPCError) -> String {
        switch place(of: identifier) {
        case .here(let name): return name
        case .elsewhere:
            throw RPCError(code: .resourceExhausted, message: "the \(noun) is on another node than \(node)")
        case .nowhere: throw missing(identifier, noun)
        }
    }

    /// The name of a volume or snapshot that is to be removed; nil for one that never was.
    /// - Throws: `FAILED_PRECONDITION` where another node has it, which stays there.
    func removed(_ identifier: String, _ noun: String) throws(RPCError) -> String? {
        switch place(of: identifier) {
        case .here(let name): return name
        case .elsewhere:
            throw RPCError(code: .failedPrecondition, message: "the \(noun) is on another node than \(node)")
        case .nowhere: return nil
        }
    }

    private func missing(_ identifier: String, _ noun: String) -> RPCError {
        RPCError(code: .notFound, message: "there is no \(noun) \(identifier.utf8.shown)")
    }
}
