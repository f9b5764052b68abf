// appcontainer delete: deletes a device.

import ArgumentParser
import DeviceLifecycle
import SandboxModel

/// Works in this process, after it has ended the daemon. Ends with exit code 41 while an app runs, 20 while one is
/// mounted, 23 if the directory holds something else.
struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete a device and everything in it.",
        discussion: """
            Nothing of it may be mounted. A daemon that is running is shut down first. A directory that holds anything \
            but a device is left alone.
            """)

    @OptionGroup var device: DeviceArgument

    func run() async throws {
        let path = try device.path()
        try await OfflineDevice.shutDown(path, toBe: "deleted")
        try working("deleting") { (progress) throws(Complaint) in
            try StoredDevice.delete(path, progress: progress)
        }
    }
}
