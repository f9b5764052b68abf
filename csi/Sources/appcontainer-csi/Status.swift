// Errors, as the specification wants them: a code of gRPC for each, and one line.

import GRPCCore
import SandboxModel

extension RPCError {
    init(_ complaint: Complaint) {
        self.init(code: RPCError.code(of: complaint.kind), message: complaint.message)
    }

    private static func code(of kind: Complaint.Kind) -> RPCError.Code {
        switch kind {
        case .badRequest, .invalidIdentifier, .invalidTemplate, .invalidPasscode: .invalidArgument
        case .notFound, .deviceMissing, .unknownApp: .notFound
        case .deviceExists, .fileExists: .alreadyExists
        case .inUse, .deviceBusy, .fuseMissing, .hostFilesystem, .newerFormat: .failedPrecondition
        case .noSpace: .resourceExhausted
        case .wrongPasscode, .passcodeNeeded, .passcodeDelayed: .unauthenticated
        case .notAllowed, .foreignOwner: .permissionDenied
        case .daemonUnreachable, .daemonEnded, .shuttingDown: .unavailable
        default: .internalError
        }
    }

    static func missing(_ field: String) -> RPCError {
        RPCError(code: .invalidArgument, message: "the request has no \(field)")
    }
}

/// Runs an operation of the store, and gives its complaint the code of the specification.
func answering<Result>(_ body: () async throws(Complaint) -> Result) async throws(RPCError) -> Result {
    do throws(Complaint) {
        return try await body()
    } catch {
        throw RPCError(error)
    }
}
