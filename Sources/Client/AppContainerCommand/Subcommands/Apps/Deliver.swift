// appcontainer deliver: puts files into an Inbox.

import AppContainer
import ArgumentParser

/// The daemon reads the files, by absolute paths, with the rights of its user. Ends with exit code 28 before first
/// unlock, 36 for anything but files, directories and symbolic links in them.
struct Deliver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put files into an app's Documents/Inbox, as another app or Mail would.",
        discussion: """
            Prints the paths of the delivered files and directories, relative to the app's home. A name that is taken \
            becomes mail-1.txt, mail-2.txt and so on. Directories are delivered with all that is in them.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Argument(help: "The files or directories to deliver.", completion: .file())
    var files: [String]

    func run() async throws {
        let request = DeliverRequest(app: app.bundleID, files: try files.map(absolute))
        let delivered = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        try Output.lines(delivered)
    }
}
