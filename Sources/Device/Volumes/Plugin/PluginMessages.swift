// The messages of the volume plugin protocol (Docker Engine, "Docker volume plugins"), which Podman speaks too.

import Foundation
import SandboxModel

/// The parameters of all requests; each has some of them.
struct PluginRequest: Decodable {
    let name: String?
    let options: [String: String]?
    let use: String?

    private enum CodingKeys: String, CodingKey {
        case name = "Name"
        case options = "Opts"
        case use = "ID"
    }

    /// - Throws: ``Complaint`` of kind `badRequest`.
    init(decoding body: [UInt8]) throws(Complaint) {
        do {
            // Some requests have no parameters, and no body.
            self = try JSONDecoder().decode(PluginRequest.self, from: body.isEmpty ? Data("{}".utf8) : Data(body))
        } catch {
            throw Complaint(.badRequest, "the request is no JSON object of the volume plugin protocol")
        }
    }

    /// - Throws: ``Complaint`` of kind `badRequest`.
    func requiredName() throws(Complaint) -> String {
        guard let name, !name.isEmpty else { throw Complaint(.badRequest, "the request names no volume") }
        return name
    }
}

/// The replies: an object with an empty `Err`, and what was asked for.
struct PluginReply: Encodable {
    /// A volume, as `Get` and `List` tell it.
    struct Volume: Encodable {
        let name, mountPoint: String
        let status: [String: String]?

        private enum CodingKeys: String, CodingKey {
            case name = "Name"
            case mountPoint = "Mountpoint"
            case status = "Status"
        }
    }

    struct Capabilities: Encodable {
        /// A volume of one machine is none of another's.
        let scope = "local"

        private enum CodingKeys: String, CodingKey {
            case scope = "Scope"
        }
    }

    var error = ""
    var implements: [String]?
    var mountPoint: String?
    var volume: Volume?
    var volumes: [Volume]?
    var capabilities: Capabilities?

    private enum CodingKeys: String, CodingKey {
        case error = "Err"
        case implements = "Implements"
        case mountPoint = "Mountpoint"
        case volume = "Volume"
        case volumes = "Volumes"
        case capabilities = "Capabilities"
    }

    /// JSON with a line end.
    var encoded: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and dictionaries of strings always can be encoded.
        return ((try? encoder.encode(self)).map { Array($0) } ?? []) + [UInt8(ascii: "\n")]
    }
}
