// appcontainer install: installs or updates an app.

import AppContainer
import ArgumentParser
import Platform
import SandboxModel

/// The daemon does the work; its notices are printed here. Certificates of `--trust` are checked and read
/// here, because the daemon gets them as text: an invalid file is exit code 39 before anything is copied.
struct Install: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Install or update an app from its .app directory or an .ipa archive.",
        discussion: """
            The app's identifier, CFBundleIdentifier in its Info.plist, is printed. Its containers belong to the user \
            who installs it. The installation is whole or did not happen.

            An app that is installed is updated: it gets the new bundle and another container path, keeps Documents \
            and Library, and loses tmp. It may be mounted, but not run.

            The app's seal is verified; one that is broken is refused, with the first path that breaks it. An app \
            without a signature is signed with the device's own identity, and a notice says so.

            An app gets what its signature entitles it to: groups, iCloud containers and a default protection class. \
            Only an app of the same team takes the place of one, or of the same key where there is no team; an app \
            that the device has signed may be followed by any.

            Example:
              appcontainer install ~/phone Notes.app --group group.com.example.shared
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "The .app directory or the .ipa.", completion: .file())
    var app: String
    @Flag(help: "Refuse an app that is not signed, or ad hoc.")
    var requireSigned = false
    @Option(
        help: "A PEM file with certificates: one has to be the signer's, or lead to it. Else any signer will do.",
        completion: .file())
    var trust: String?
    @Option(name: .customLong("group"), help: "A group container that the app is entitled to; can be repeated.")
    var groups: [String] = []
    @Option(name: .customLong("icloud"), help: "An iCloud container that the app is entitled to; can be repeated.")
    var iCloud: [String] = []
    @Option(help: "The user that the containers belong to; only root can choose.")
    var owner: String?
    @Flag(help: "Let an app of another signer take the place of the installed one.")
    var replaceSigner = false
    @Flag(help: "End the app if it is running, to update it.")
    var terminate = false

    func run() async throws {
        // Checked here for a message about --owner; the daemon checks it again.
        let owner = try owner.map(HostUser.named)
        // Decoded here for its errors alone.
        if let trust { _ = try SealFiles.trusted(at: trust) }
        let request = InstallRequest(
            app: try absolute(app), groups: groups, iCloud: iCloud, owner: owner?.user, ownerGroup: owner?.group,
            requireSigned: requireSigned,
            trust: try trust.map { (path) throws(Complaint) in
                String(decoding: try SealFiles.contents(path), as: UTF8.self)
            }, terminate: terminate, replaceSigner: replaceSigner)
        let installed = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        for notice in installed.notices ?? [] { StandardError.tell("notice: \(notice)") }
        try Output.line(installed.identifier)
    }
}
