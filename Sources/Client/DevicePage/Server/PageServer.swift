// The server of a device's page, on a port of this machine.

import AppContainer
import ControlServer
import Foundation
import Glibc
import Platform
public import SandboxModel

/// Serves the page of one device to the browsers of this user.
public final class PageServer: Sendable {
    /// The facts that the page has from its start.
    private struct Start: Encodable {
        let mode = "live"
        let device: String
        let identifier: String
        let readOnly: Bool
        let version: String
        let home: String?
        let secret: String

        private enum CodingKeys: CodingKey {
            case mode, device, identifier, readOnly, version, home, secret
        }
    }

    private let server: HTTPServer
    private let uploads: Uploads
    private let access: PageAccess
    private let address = PageAddress()

    /// - Parameters:
    ///   - device: the way to the device.
    ///   - path: the device's directory.
    ///   - identifier: the device's UUID.
    ///   - isReadOnly: whether the page may only look.
    ///   - users: the users whose processes may connect.
    /// - Throws: ``Complaint`` of kind `unexpected`: only a mistake in the page causes it.
    public init(
        _ device: DeviceReach, path: String, identifier: String, isReadOnly: Bool, users: Set<UInt32>
    ) throws(Complaint) {
        access = PageAccess(address)
        let start = Start(
            device: path, identifier: identifier, readOnly: isReadOnly, version: AppContainer.version,
            home: FileManager.default.homeDirectoryForCurrentUser.path, secret: access.secret)
        uploads = Uploads(device: device, isReadOnly: isReadOnly)
        let responder = PageResponder(
            access: access, gate: PageGate(address: address), files: try PageFiles(with: try PageData.json(start)),
            forwarding: PageForwarding(device: device, isReadOnly: isReadOnly), uploads: uploads,
            reports: PageReports(device: device, isReadOnly: isReadOnly), users: users)
        server = HTTPServer(
            responder: responder, limits: ConnectionLimits(body: Uploads.largestPart), warn: { _ in })
    }

    /// Begins to serve; browsers can connect when it returns.
    /// - Parameter port: 0 for one that the kernel chooses.
    /// - Throws: ``Complaint`` of kind `inUse` for a port that another process has, `notAllowed` for one that this user
    ///   may not have.
    public func start(port: Int) async throws(Complaint) {
        uploads.removeAbandoned()
        do {
            guard case .loopback(let port) = try await server.start(at: .loopback(port: port)) else { return }
            address.set(port: port)
        } catch {
            switch HTTPServer.code(of: error) {
            case EADDRINUSE:
                throw Complaint(.inUse, "port \(port) is in use; give another one, or none for one that is free")
            case EACCES:
                throw Complaint(.notAllowed, "port \(port) is for the superuser; give one from 1024 on, or none")
            default: throw Complaint(.unexpected, "cannot listen on port \(port): \(error)")
            }
        }
    }

    /// Makes a link, which opens the page once.
    public func makeLink() -> String { address.link(access.makeToken()) }

    /// Ends the page: browsers that have it open say so.
    public func stop() async {
        await server.stop()
        uploads.end()
    }
}
