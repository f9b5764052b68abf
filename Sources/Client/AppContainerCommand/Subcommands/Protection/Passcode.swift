// appcontainer passcode: sets, changes or removes the passcode.

public import AppContainer
public import ArgumentParser
import DeviceLifecycle
import SandboxModel

/// The daemon changes the passcode; it is asked for here, as only this process has the user's terminal. Ends with exit
/// code 34 to set one where there is one, 31 to change or remove one where there is none, 17 for a wrong one, 32 during
/// a delay, 58 for the one that has erased the device.
struct Passcode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set, change or remove a device's passcode.",
        discussion: """
            A passcode is the first line of its file. Without a file the command asks for a passcode on the terminal, \
            where it is not shown, and twice for a new one. Without a terminal it reads a line of standard input for \
            each, the old passcode before the new one. No file of the device is rewritten: only its keys are wrapped \
            anew.

            After "set" and "remove" the device is unlocked; "change" leaves it as it is. The first five wrong \
            passcodes are free. Then each has to wait, 1, 5, 15 and from then on 60 minutes.

            With --erase-after-ten on, the tenth wrong passcode erases the device, as "appcontainer erase" does and \
            whatever runs or is mounted: exit code 58. The setting stays until it is turned off, also over an erase.

            Examples:
              appcontainer passcode ~/phone set
              appcontainer passcode ~/phone change --old-file code --new-file code --erase-after-ten on
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "The change to make.")
    var action: PasscodeRequest.Action
    @Option(help: "The file whose first line is the present passcode.", completion: .file())
    var oldFile: String?
    @Option(help: "The file whose first line becomes the passcode.", completion: .file())
    var newFile: String?
    @Option(help: ArgumentHelp("Erase the device after ten wrong passcodes, or not.", valueName: "on|off"))
    var eraseAfterTen: SwitchPosition?
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        if action == .set && oldFile != nil {
            throw ValidationError("--old-file is for change and remove: set is for a device without a passcode")
        }
        if action == .remove && newFile != nil {
            throw ValidationError("--new-file is for set and change: remove leaves no passcode")
        }
    }

    func run() async throws {
        // Checked before asking for a passcode.
        let path = try device.path()
        let hasPasscode = try OfflineDevice.hasPasscode(path)
        if action == .set && hasPasscode { throw Complaint.hasPasscode(path) }
        if action != .set && !hasPasscode { throw Complaint.noPasscode(path) }
        var old: String?
        if action != .set {
            old = try oldFile.map(PasscodeSource.read) ?? PasscodeSource.ask("Old passcode", orFile: "--old-file")
        }
        var new: String?
        if action != .remove {
            new = try newFile.map(PasscodeSource.read) ?? PasscodeSource.askForNew(orFile: "--new-file")
        }
        _ = try await device.send(
            PasscodeRequest(action, old: old, new: new, eraseAfterTen: eraseAfterTen.map { $0 == .on }))
        if answer.json { try Output.json(try await DeviceState(of: device)) }
    }
}

/// The words of the control API are those of the command line.
extension PasscodeRequest.Action: ExpressibleByArgument {}
