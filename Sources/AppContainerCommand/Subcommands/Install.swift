// appcontainer install

import AppContainer
import ArgumentParser
import Platform
import SandboxModel

struct Install: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Install an app from its .app directory.",
        discussion: """
            The app's identifier, CFBundleIdentifier in its Info.plist, is printed. Its containers belong to whoever \
            installs it. The installation is whole or did not happen.

            Example:
              appcontainer install ~/phone Notes.app --group group.com.example.shared
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "The .app directory.", completion: .directory)
    var app: String
    @Option(name: .customLong("group"), help: "A group container that the app is entitled to; can be repeated.")
    var groups: [String] = []
    @Option(name: .customLong("icloud"), help: "An iCloud container that the app is entitled to; can be repeated.")
    var iCloud: [String] = []
    @Option(help: "The user that the containers belong to; only root can choose.")
    var owner: String?

    func run() async throws {
        let owner = try owner.map(HostUser.named)
        let request = InstallRequest(
            app: try absolute(app), groups: groups, iCloud: iCloud, owner: owner?.user, ownerGroup: owner?.group)
        let installed = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        try Output.line(installed.identifier)
    }
}
