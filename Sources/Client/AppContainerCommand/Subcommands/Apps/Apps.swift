// appcontainer apps: lists installed apps.

import AppContainer
import ArgumentParser
import Daemon
import SandboxModel

/// Works on a device that is on or off: the list comes from the daemon, which knows the mounts, else from the device's
/// records. Does not start the daemon.
struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the apps that are installed on a device.")

    @OptionGroup var device: DeviceArgument
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let apps = try await OfflineDevice.apps(try device.path())
        if answer.json {
            try Output.json(apps)
            return
        }
        guard !apps.isEmpty else { return }
        let rows = apps.flatMap { app in
            let signer = app.team ?? app.signer ?? "-"
            let own = [app.identifier, app.name, app.version ?? "-", app.bundle, signer, app.mountPoint ?? "-"]
            return [own]
                + app.extensions.map { part in
                    [part.identifier, part.name, "-", "\(part.name).appex", signer, part.mountPoint ?? "-"]
                }
        }
        try Output.table(rows, under: ["IDENTIFIER", "NAME", "VERSION", "BUNDLE", "SIGNED BY", "MOUNTED AT"])
    }
}
