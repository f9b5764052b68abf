// The JSON of the control API: replies written, requests read and checked.

import AppContainer
import FoundationEssentials
import SandboxModel

/// Encodes and decodes the bodies of the control API. Messages name the key that is wrong.
enum ControlJSON {
    /// JSON on one line, with keys in order.
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The types of the API always encode: Swift strings are UTF-8.
        return (try? Array(encoder.encode(value))) ?? Array("{}".utf8)
    }

    /// The same with a newline.
    static func line(_ value: some Encodable) -> [UInt8] {
        encode(value) + [UInt8(ascii: "\n")]
    }

    /// Decodes the body of a request, and checks its parameters. No body is an object without keys.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    static func request<Request: ControlRequest>(
        _ type: Request.Type, from bytes: [UInt8]
    ) throws(Complaint) -> Request {
        let request = try object(
            type, from: bytes.isEmpty ? Array("{}".utf8) : bytes, called: "the body", of: Request.path)
        do throws(DeviceError) {
            try request.check()
        } catch {
            throw Complaint(error)
        }
        return request
    }

    /// Decodes a JSON object.
    /// - Parameters:
    ///   - name: the name of the bytes in the message, such as "the body".
    ///   - source: the request that they belong to.
    /// - Throws: ``Complaint`` of kind `badRequest` that names the key at fault.
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

    /// Requires an object also for a type without keys, which would decode from anything.
    private struct Object<Value: Decodable>: Decodable {
        let value: Value

        private enum NoKeys: CodingKey {}

        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: NoKeys.self)
            value = try Value(from: decoder)
        }
    }

    /// The message of a decoding error.
    private static func explain(_ error: DecodingError, of whole: String) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\"\(name(context.codingPath + [key]))\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty ? "\(whole) is not a JSON object" : unfit(name(context.codingPath))
        // An error in one value has a path; a body that is not JSON has none.
        case .dataCorrupted(let context) where !context.codingPath.isEmpty: unfit(name(context.codingPath))
        default: "\(whole) is not JSON"
        }
    }

    /// The key's path, such as `install.0.app`.
    private static func name(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map(String.init) ?? key.stringValue }.joined(separator: ".")
    }

    /// The message for a value of the wrong type or range, by its key.
    private static func unfit(_ name: String) -> String {
        switch name {
        case "action": "\"action\" is not set, change or remove"
        case "level": "\"level\" is not warning or critical"
        case "owner": "\"owner\" is not a user id"
        case "ownerGroup": "\"ownerGroup\" is not a group id"
        case "transport": "\"transport\" is not auto, dev-fuse or io-uring"
        default: "\"\(name)\" is not of the right type"
        }
    }
}
