// appcontainer volumes: volumes of containers, each an app's container of its own.

import ArgumentParser
import Daemon
import Glibc
import Platform
import SandboxModel
import Volumes

/// The commands about volumes.
struct VolumesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "volumes",
        abstract: "Give containers an app's container as a volume.",
        subcommands: [ServeVolumes.self])
}

/// Serves the volume plugin protocol of Docker and Podman until it is interrupted. Devices and mounts outlive it.
struct ServeVolumes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the volume plugin protocol of Docker and Podman.",
        discussion: """
            Container engines find the plugin by its socket: Docker in /run/docker/plugins, Podman by an entry of \
            [engine.volume_plugins] in containers.conf. A volume is a device of its own, made from a template:
              podman volume create --driver appcontainer --opt template=phone --opt app=com.example.Notes notes
              podman run -v notes:/data image

            Templates are devices that are shut down, files of "export", and layouts of "export --oci", by their names \
            in the directory of templates. appcontainer(1) lists the options of a volume.

            The first line is the socket, once it answers. An interrupt ends the command and leaves devices, mounts and \
            volumes as they are; the next start goes on with them, and removes what belongs to nobody.
            """)

    @Option(help: ArgumentHelp("The socket to make, at which engines look for the plugin.", valueName: "path"))
    var socket: String
    @Option(
        help: ArgumentHelp("The directory with the templates.", valueName: "directory"), completion: .directory)
    var templates: String
    @Option(
        help: ArgumentHelp("The directory for devices and records; made where it is missing.", valueName: "directory"),
        completion: .directory)
    var state: String
    @Option(
        help: ArgumentHelp("The directory with files of passcodes.", valueName: "directory"), completion: .directory)
    var secrets: String?

    func run() async throws {
        let path = try absolute(socket)
        let ended = Monitor(false)
        // To the end of the process: timeout(1) sends one signal to the process, and another to its group.
        let signals = Interrupts { ended.access { $0 = true } }
        let store = try VolumeStore(
            state: try absolute(state), templates: try absolute(templates), secrets: try secrets.map(absolute),
            slice: "appcontainer-volumes.slice", warn: StandardError.warn)
        for failure in try await store.recover() { StandardError.warn(failure) }
        let plugin = VolumePlugin(store, socket: path, warn: StandardError.warn)
        try await plugin.start()
        try Output.line(path)
        ServiceSupervisor.reportReady()
        await WorkQueue().run { _ = ended.wait { $0 ? true : nil } }
        ServiceSupervisor.reportStopping()
        await plugin.stop()
        withExtendedLifetime(signals) {}
    }
}
