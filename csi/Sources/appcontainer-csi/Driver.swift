// The command appcontainer-csi: serves the Container Storage Interface on a node.

import ArgumentParser
import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import Volumes

/// Serves the driver's three services at one socket, until it is ended. Devices and mounts outlive it.
@main
struct Driver: AsyncParsableCommand {
    /// The name of the driver, which manifests have.
    static let name = "csi.appcontainer.dev"
    /// The key of the topology: a volume is on one node.
    static let topologyKey = "topology.\(name)/node"

    static let configuration = CommandConfiguration(
        commandName: "appcontainer-csi",
        abstract: "Serve the Container Storage Interface: an app's container as the volume of a pod.")

    @Option(help: "The socket to make, such as unix:///csi/csi.sock.")
    var endpoint: String
    @Option(help: "The name of the node.")
    var nodeID: String
    @Option(help: "The directory with the templates.")
    var templates: String
    @Option(help: "The directory for devices and records; made where it is missing.")
    var state: String
    @Option(help: "The directory with files of passcodes.")
    var secrets: String?
    @Option(help: "The command appcontainer, which serves the devices; else the one beside this program.")
    var program: String?

    func validate() throws {
        guard socket.hasPrefix("/") else {
            throw ValidationError("An endpoint is a Unix socket: unix:// and an absolute path")
        }
        guard !nodeID.isEmpty else { throw ValidationError("A node has a name") }
    }

    private var socket: String {
        endpoint.hasPrefix("unix://") ? String(endpoint.dropFirst("unix://".count)) : endpoint
    }

    func run() async throws {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let program = program ?? own.deletingLastPathComponent().appending(path: "appcontainer").path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw ValidationError("There is no program \(program); name the command appcontainer with --program")
        }
        let store = try VolumeStore(
            state: state, templates: templates, secrets: secrets, program: program,
            slice: "appcontainer-csi.slice", warn: Driver.tell)
        for failure in try await store.recover() { Driver.tell(failure) }
        try VolumeStore.clear(socket)
        let server = GRPCServer(
            transport: .http2NIOPosix(
                address: .unixDomainSocket(path: socket), transportSecurity: .plaintext),
            services: [IdentityService(), ControllerService(store, node: nodeID), NodeService(store, node: nodeID)])
        let signals = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { server.beginGracefulShutdown() }
            source.resume()
            return source
        }
        try await server.serve()
        withExtendedLifetime(signals) {}
    }

    private static func tell(_ line: String) {
        FileHandle.standardError.write(Data("appcontainer-csi: \(line)\n".utf8))
    }
}
