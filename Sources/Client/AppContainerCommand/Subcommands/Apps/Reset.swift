// appcontainer reset: empties a data container.

import AppContainer
import ArgumentParser

/// The daemon does the work. Ends with exit code 41 while the app runs, 20 while it is mounted.
struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Empty an app's data container to what it was after the installation.",
        discussion: "Group and iCloud containers stay as they are. The app must not be mounted.")

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument

    func run() async throws {
        _ = try await showingProgress { line in
            try await device.send(ResetRequest(app: app.bundleID), progress: line.report)
        }
    }
}
