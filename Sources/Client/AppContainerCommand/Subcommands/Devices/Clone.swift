// appcontainer clone: copies a device.

import ArgumentParser
import DeviceLifecycle
import SandboxModel

/// Works in this process, without a daemon: a device that is on is refused with exit code 8. Copies by reflink where
/// the host's filesystem has it.
struct Clone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a device that is shut down.",
        discussion: """
            The copy has the same apps, content and passcode, and a UUID of its own. Nothing that looks like a device \
            is left behind when the copy is interrupted.
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "The directory to make.", completion: .directory)
    var new: String

    func run() async throws {
        let path = try await device.pathWhenOff()
        try working("cloning") { (progress) throws(Complaint) in
            try StoredDevice.clone(path, to: new, progress: progress)
        }
    }
}
