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
        let rows = apps.map { app in
            [
                app.identifier, app.name, app.version ?? "-", app.bundle, app.team ?? app.signer ?? "-",
                app.mountPoint ?? "-",
            ]
        }
        try Output.table([["IDENTIFIER", "NAME", "VERSION", "BUNDLE", "SIGNED BY", "MOUNTED AT"]] + rows)
    }
}
