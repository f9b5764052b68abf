// appcontainer backup-password: sets, changes or removes the password under which backups of a locked device are
// opened.

public import AppContainer
public import ArgumentParser
import DeviceLifecycle
import SandboxModel

/// The daemon has the class keys that are put under the password, which is asked for here, as only this process has the
/// user's terminal. Ends with exit code 63 to set one where there is one, or to change or remove one where there is
/// none, 48 for a wrong one, 28 to set one while the device is locked.
struct BackupPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup-password",
        abstract: "Set, change or remove a device's backup password.",
        discussion: """
            With a backup password, a backup that the device makes while it is locked can be restored onto any device, \
            with --password-file: such a backup has the device's class keys under that password. It is set while the \
            device is unlocked. An encrypted Finder backup is made with the same password. In a backup that is not \
            encrypted, everything but ciphertext stays readable.

            A password is the first line of its file. Without a file it is asked for as by "appcontainer passcode". It \
            is stored nowhere: a forgotten one goes with the content, by "appcontainer erase". A changed or removed \
            one still opens the backups that were made under it.

            Examples:
              appcontainer backup-password ~/phone set --new-file password
              appcontainer restore ~/other backup.tar --password-file password
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "The change to make.")
    var action: BackupPasswordRequest.Action
    @Option(help: "The file whose first line is the present password.", completion: .file())
    var oldFile: String?
    @Option(help: "The file whose first line becomes the password.", completion: .file())
    var newFile: String?
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        if action == .set && oldFile != nil {
            throw ValidationError("--old-file is for change and remove: set is for a device without a backup password")
        }
        if action == .remove && newFile != nil {
            throw ValidationError("--new-file is for set and change: remove leaves no backup password")
        }
    }

    func run() async throws {
        // Checked before asking for a password.
        let path = try device.path()
        let record = try OfflineDevice.backupPassword(path)
        if action == .set && record == .whole { throw Complaint.hasBackupPassword(path) }
        if action != .set && record == .none { throw Complaint.noBackupPassword(path) }
        var old: String?
        if action == .remove && record == .damaged {
            // No password opens it, and the device asks for none.
            old = ""
        } else if action != .set {
            old =
                try oldFile.map(PasscodeSource.password)
                ?? PasscodeSource.ask("Old backup password", orFile: "--old-file", for: .backupPassword)
        }
        var new: String?
        if action != .remove {
            new =
                try newFile.map(PasscodeSource.password)
                ?? PasscodeSource.askForNew(orFile: "--new-file", for: .backupPassword)
        }
        _ = try await device.send(BackupPasswordRequest(action, old: old, new: new))
        if answer.json { try Output.json(try await DeviceState(of: device)) }
    }
}

/// The words of the control API are those of the command line.
extension BackupPasswordRequest.Action: ExpressibleByArgument {}
