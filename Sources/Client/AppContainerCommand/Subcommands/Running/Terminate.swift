// appcontainer terminate: ends a running app.

import AppContainer
import ArgumentParser

/// Ends with exit code 42 if the app does not run, 23 if a process of it is another user's, 20 if one does not end.
struct Terminate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End an app that is running.",
        discussion: """
            What run and launch have started gets SIGTERM, and SIGKILL if it is still there five seconds later. What \
            launch --no-exec and mount --running have marked does not count as running any more; the mount stays.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument

    func run() async throws {
        _ = try await device.send(TerminateRequest(app: app.bundleID))
    }
}
