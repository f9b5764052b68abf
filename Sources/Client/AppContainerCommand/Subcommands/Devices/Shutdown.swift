// appcontainer shutdown: ends the daemon of a device.

import ArgumentParser
import Daemon

/// Ends with exit code 9 if the daemon's process is still there after ten seconds, 23 if it is another user's.
struct Shutdown: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unmount everything and end the device's daemon.",
        discussion: """
            Everything written is on disk when this returns, and the device is a plain directory that can be copied. \
            A mount that is in use goes out of sight at once. A device that is off already is no error; mounts that a \
            killed daemon left behind are removed.
            """)

    @OptionGroup var device: DeviceArgument

    func run() async throws {
        let path = try device.path()
        guard let client = await DaemonLauncher.running(path) else {
            return try DaemonLauncher.clearAbandoned(path)
        }
        try await DaemonLauncher.shutDown(path, client)
    }
}
