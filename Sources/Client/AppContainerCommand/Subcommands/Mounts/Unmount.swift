// appcontainer unmount: ends a mount.

import ArgumentParser
import Daemon

/// Finds the device by the mount itself. Without a daemon, the abandoned mount is removed here. Ends with exit code 25
/// if no app is mounted there, 20 while the mount is in use.
struct Unmount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End a mount.",
        discussion: """
            Everything written is on disk when this returns. A mount in use is refused, unless it is unmounted \
            lazily. A mount that a killed daemon left behind is taken away as well.
            """)

    @Argument(help: "The app's mount point.", completion: Completions.mountPoints)
    var mountPoint: String
    @Flag(help: "Take the mount out of sight now; it ends when the last file in it is closed.")
    var lazy = false
    @OptionGroup var trustedOwner: TrustOption

    func run() async throws {
        try await MountedHome.unmount(mountPoint, lazy: lazy)
    }
}
