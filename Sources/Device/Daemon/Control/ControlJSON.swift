// JSON of the control API, and complaints as its clients see them.

import AppContainer
import FoundationEssentials
import SandboxModel

enum ControlJSON {
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The API's own types encode; a string that is not UTF-8 cannot get this far.
        return (try? Array(encoder.encode(value))) ?? Array("{}".utf8)
    }

    static func line(_ value: some Encodable) -> [UInt8] {
        encode(value) + [UInt8(ascii: "\n")]
    }

    static func decode<Request: ControlRequest>(
        _ type: Request.Type, from bytes: [UInt8]
    ) throws(Complaint) -> Request {
        let request = try object(
            type, from: bytes.isEmpty ? Array("{}".utf8) : bytes, called: "the body", of: Request.path)
        try (request as? any CheckedRequest)?.check()
        return request
    }

    /// - Parameters:
    ///   - name: what the bytes are, for the complaint.
    ///   - source: whose they are.
    static func object<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], called name: String, of source: String
    ) throws(Complaint) -> Value {
        do {
            return try JSONDecoder().decode(Object<Value>.self, from: Data(bytes)).value
        } catch let error as DecodingError {
            throw Complaint(.badRequest, "\(source): \(explain(error, of: name))")
        } catch {
            throw Complaint(.badRequest, "\(source): \(name) is not a JSON object")
        }
    }

    /// A value that has to be an object, though it may have no keys that would ask for one.
    private struct Object<Value: Decodable>: Decodable {
        let value: Value

        private enum NoKeys: CodingKey {}

        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: NoKeys.self)
            value = try Value(from: decoder)
        }
    }

    private static func explain(_ error: DecodingError, of whole: String) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\"\(name(context.codingPath + [key]))\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty ? "\(whole) is not a JSON object" : unfit(name(context.codingPath))
        // What is wrong with one value has a path; a body that is not JSON has none.
        case .dataCorrupted(let context) where !context.codingPath.isEmpty: unfit(name(context.codingPath))
        default: "\(whole) is not JSON"
        }
    }

    private static func name(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map(String.init) ?? key.stringValue }.joined(separator: ".")
    }

    /// Says that the value of a key is not what belongs there.
    private static func unfit(_ name: String) -> String {
        switch name {
        case "action": "\"action\" is not set, change or remove"
        case "level": "\"level\" is not warning or critical"
        case "owner": "\"owner\" is not a user id"
        case "ownerGroup": "\"ownerGroup\" is not a group id"
        default: "\"\(name)\" is not of the right type"
        }
    }
}

extension DeviceError {
    init(_ complaint: Complaint) {
        self.init(Kind(rawValue: complaint.kind.rawValue), complaint.message)
    }
}

extension Complaint.Kind {
    /// The HTTP status that says most nearly what the kind says (RFC 9110, section 15).
    var status: Int {
        switch self {
        case .badRequest, .invalidIdentifier, .mountPoint, .invalidApp, .invalidPasscode, .unsuitableFile,
            .sealBroken, .unsigned, .invalidIdentity, .invalidBackup, .newerBackup:
            400
        case .wrongPasscode, .passcodeDelayed, .passcodeNeeded, .notAllowed, .deviceLocked, .documentsNotShared,
            .wrongPassword, .passwordNeeded:
            403
        case .unknownApp, .notMounted, .notFound, .deviceMissing: 404
        case .deviceExists, .deviceBusy, .alreadyMounted, .groupMounted, .inUse, .appExists, .noPasscode,
            .passcodeExists, .lockCancelled, .fileExists, .appRunning, .notRunning, .otherDevice:
            409
        case .daemonUnreachable, .daemonEnded, .shuttingDown: 503
        case .noSpace, .notEnoughFreed: 507
        case .unexpected, .notADevice, .newerFormat, .hostFilesystem, .fuseMissing, .fuseConfiguration, .damaged,
            .confinementMissing, .guidelinesBroken:
            500
        }
    }
}
