// appcontainer erase: resets a device.

import ArgumentParser
import DeviceLifecycle
import SandboxModel

/// Works in this process, after it has ended the daemon. Ends with exit code 41 while an app runs, 20 while one is
/// mounted.
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove every app and all content from a device.",
        discussion: """
            The device is as new: other keys, no passcode, no app; its settings stay. Nothing of it may be mounted. \
            A daemon that is running is shut down first.
            """)

    @OptionGroup var device: DeviceArgument

    func run() async throws {
        let path = try device.path()
        try await OfflineDevice.shutDown(path, toBe: "erased")
        try working("erasing") { (progress) throws(Complaint) in
            try StoredDevice.erase(path, progress: progress)
        }
    }
}
