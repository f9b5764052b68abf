// appcontainer create

import ArgumentParser
import DeviceLifecycle
import SandboxModel

struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a device.",
        discussion: """
            DEVICE is a directory that does not exist yet, or an empty one, on ext4, xfs, btrfs or tmpfs. Without a \
            passcode the device is always unlocked; its files are encrypted all the same.

            Example:
              appcontainer create ~/phone
            """)

    @Argument(help: "The directory to make.", completion: .directory)
    var device: String
    @Option(help: "The file whose first line becomes the passcode.", completion: .file())
    var passcodeFile: String?
    @Flag(help: "Make a device without a passcode; the default.")
    var noPasscode = false

    func validate() throws {
        if noPasscode && passcodeFile != nil {
            throw ValidationError("--no-passcode and --passcode-file contradict each other")
        }
    }

    func run() async throws {
        let passcode = try passcodeFile.map(Passcode.read)
        try Device.create(at: device, passcode: passcode.map { Array($0.utf8) })
    }
}
