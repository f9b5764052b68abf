// appcontainer entitle: adds group and iCloud containers to an app.

import AppContainer
import ArgumentParser

/// The daemon makes the containers and shows them on a mount. Ends with exit code 12 if the app is not installed, 19 if
/// another mount, with a page cache of its own, shows a container already.
struct Entitle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Entitle an installed app to a group or iCloud container.",
        discussion: """
            The container is made if no other app has it, and appears in the app's mount at once, as Groups/ID or \
            iCloud/ID.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Option(name: .customLong("group"), help: "A group container; can be repeated.")
    var groups: [String] = []
    @Option(name: .customLong("icloud"), help: "An iCloud container; can be repeated.")
    var iCloud: [String] = []

    func validate() throws {
        if groups.isEmpty && iCloud.isEmpty {
            throw ValidationError("Nothing to entitle to: give --group or --icloud")
        }
    }

    func run() async throws {
        _ = try await device.send(EntitleRequest(app: app.bundleID, groups: groups, iCloud: iCloud))
    }
}
