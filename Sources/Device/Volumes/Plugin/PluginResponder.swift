// From a request of the volume plugin protocol to the store of volumes, and back.

import ControlServer
import Glibc
import SandboxModel

/// Answers the requests of container engines. An error has the status 500, and its line as `Err`.
struct PluginResponder: HTTPResponder {
    let store: VolumeStore
    let warn: @Sendable (String) -> Void

    private static let media = "application/vnd.docker.plugins.v1.2+json"

    /// Engines run as the user who serves the volumes, or as root.
    func refusal(of peer: HTTPPeer) -> HTTPResponse? {
        switch peer {
        case .user(geteuid()), .user(0): nil
        case .user, .unknown:
            PluginResponder.failure(Complaint(.notAllowed, "the volumes are those of another user"))
        }
    }

    func response(to fault: RequestFault) -> HTTPResponse {
        PluginResponder.failure(Complaint(.badRequest, "the request cannot be read: \(fault)"))
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        do throws(Complaint) {
            guard request.method == "POST" else {
                throw Complaint(.badRequest, "a request of the volume plugin protocol has the method POST")
            }
            return PluginResponder.response(try await reply(to: request), status: 200)
        } catch {
            warn("\(request.path): \(error.message)")
            return PluginResponder.failure(error)
        }
    }

    private func reply(to request: HTTPRequest) async throws(Complaint) -> PluginReply {
        let parameters = try PluginRequest(decoding: request.body)
        switch request.path {
        case "/Plugin.Activate": return PluginReply(implements: ["VolumeDriver"])
        case "/VolumeDriver.Capabilities": return PluginReply(capabilities: PluginReply.Capabilities())
        case "/VolumeDriver.Create":
            try await store.create(try parameters.requiredName(), options: parameters.options ?? [:])
            return PluginReply()
        case "/VolumeDriver.Remove":
            try await store.remove(try parameters.requiredName())
            return PluginReply()
        case "/VolumeDriver.Mount":
            let name = try parameters.requiredName()
            return PluginReply(mountPoint: try await store.begin(parameters.use ?? "", of: name))
        case "/VolumeDriver.Unmount":
            try await store.end(parameters.use ?? "", of: try parameters.requiredName())
            return PluginReply()
        case "/VolumeDriver.Path":
            return PluginReply(mountPoint: try store.volume(try parameters.requiredName()).mountPoint)
        case "/VolumeDriver.Get":
            return PluginReply(volume: PluginResponder.shown(try store.volume(try parameters.requiredName())))
        case "/VolumeDriver.List": return PluginReply(volumes: store.volumes.map(PluginResponder.shown))
        default: throw Complaint(.notFound, "\(request.path) is no request of the volume plugin protocol")
        }
    }

    private static func shown(_ volume: VolumeStore.Volume) -> PluginReply.Volume {
        var status = ["device": volume.device]
        if let app = volume.app { status["app"] = app }
        return PluginReply.Volume(name: volume.name, mountPoint: volume.mountPoint, status: status)
    }

    private static func failure(_ complaint: Complaint) -> HTTPResponse {
        // Engines show it as it is, in a line.
        response(PluginReply(error: complaint.message), status: 500)
    }

    private static func response(_ reply: PluginReply, status: Int) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", media)], body: .whole(reply.encoded))
    }
}
