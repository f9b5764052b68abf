// appcontainer deliver: puts files into an Inbox.

import AppContainer
import ArgumentParser

/// The daemon reads the files, by absolute paths, with the rights of its user. Ends with exit code 28 before first
/// unlock, 36 for anything but files, directories and symbolic links in them, 59 for a type that the app does not
/// declare.
struct Deliver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put files into an app's Documents/Inbox, as another app or Mail would.",
        discussion: """
            Prints the paths of the delivered files and directories, relative to the app's home. A name that is taken \
            becomes mail-1.txt, mail-2.txt and so on. Directories are delivered with all that is in them.

            An app whose Info.plist has CFBundleDocumentTypes gets only what it declares there, as no other app offers \
            it anything else: by type, with the types that they conform to, or by extension.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Argument(help: "The files or directories to deliver.", completion: .file())
    var files: [String]
    @Flag(help: "Deliver what the app does not declare, too.")
    var anyType = false

    func run() async throws {
        let request = DeliverRequest(app: app.bundleID, files: try files.map(absolute), anyType: anyType)
        let delivered = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        try Output.lines(delivered)
    }
}
