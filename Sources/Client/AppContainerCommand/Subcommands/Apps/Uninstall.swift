// appcontainer uninstall: removes an app.

import AppContainer
import ArgumentParser

/// The daemon does the work. Ends with exit code 41 while the app runs, 20 while it is mounted, 12 if neither an
/// app nor restored data has the identifier.
struct Uninstall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove an app and its containers.",
        discussion: """
            A group container goes with the last app that is entitled to it. The app must not be mounted.

            Given the identifier of an app or group that is not installed, removes the data that a restore brought \
            for it; status lists such data.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument

    func run() async throws {
        _ = try await showingProgress { line in
            try await device.send(UninstallRequest(app: app.bundleID), progress: line.report)
        }
    }
}
