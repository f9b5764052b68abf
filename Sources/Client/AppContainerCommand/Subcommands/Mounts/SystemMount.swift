// mount.fuse.appcontainer: the program that mount(8) runs for the type fuse.appcontainer.

import AppContainer
import ArgumentParser
import BackingStore
import Glibc
import Platform
import SandboxModel

/// The same file as `appcontainer`, under another name: a link. Its arguments are those of mount(8) to its helpers, its
/// exit codes those of mount(8).
struct SystemMount: AsyncParsableCommand {
    /// The name by which mount(8) looks for it, in /sbin.
    static let program = "mount.fuse.appcontainer"

    static let configuration = CommandConfiguration(
        commandName: program, abstract: "Show an app's home at a mount point, for mount(8).",
        discussion: """
            mount(8) runs this program for the type fuse.appcontainer, also for a line of /etc/fstab:
              mount -t fuse.appcontainer ~/phone:com.example.Notes ~/notes -o running

            The options are ro, rw, running, documents, allow_other, cachedir-tag, passcode-file=FILE, \
            transport=NAME and trust-owner=USER.
            """,
        version: AppContainer.version)

    @Argument(help: ArgumentHelp("The device's directory, and the app in it.", valueName: "DEVICE:BUNDLE-ID"))
    var source: String
    @Argument(help: "The directory to mount on.", completion: .directory)
    var mountPoint: String
    @Option(name: .customShort("o"), help: ArgumentHelp("Options, with commas between them.", valueName: "options"))
    var options: [String] = []
    @Flag(name: .customShort("f"), help: "Look at the options and the device, but do not mount.")
    var fake = false
    @Flag(name: .customShort("s"), help: "Leave out options that are not known.")
    var sloppy = false
    @Flag(name: .customShort("v"), help: "Say what was mounted.")
    var verbose = false
    @Flag(name: .customShort("n"), help: "Changes nothing: there is no /etc/mtab to write.")
    var noTable = false
    @Option(name: .customShort("t"), help: ArgumentHelp("The type, as mount(8) tells it.", valueName: "type"))
    var type: String?
    @Option(name: .customShort("N"), help: ArgumentHelp("A mount namespace: not possible.", valueName: "namespace"))
    var namespace: String?

    /// Whether this process was started under the program's name.
    static var isCalled: Bool {
        CommandLine.arguments.first.flatMap { HostPath.names(of: $0).last } == program
    }

    /// Runs the program, and ends the process.
    static func main() async {
        AppContainerCommand.requireText(orEndWith: MountStatus.usage.rawValue)
        do {
            let command = try parse()
            try await command.run()
            Glibc.exit(EXIT_SUCCESS)
        } catch let complaint as Complaint {
            end(with: complaint)
        } catch let error as SystemError {
            end(with: Complaint(error, doing: "cannot mount"))
        } catch  where exitCode(for: error).isSuccess {
            // --help and --version.
            exit(withError: error)
        } catch {
            StandardError.complain("\(AppContainerCommand.clause(of: error)); see: \(program) --help")
            Glibc.exit(MountStatus.usage.rawValue)
        }
    }

    /// Prints a complaint, and ends the process with the exit code that mount(8) has for its kind.
    static func end(with complaint: Complaint) -> Never {
        StandardError.complain(complaint.message)
        Glibc.exit(MountStatus(of: complaint.kind).rawValue)
    }

    func run() async throws {
        let options = try MountOptions(options, isSloppy: sloppy)
        guard namespace == nil else {
            throw Complaint(
                .badRequest, "an app cannot be mounted in another mount namespace; run mount there, with nsenter(1)")
        }
        let (device, app) = try SystemMount.parts(of: source)
        if let owner = options.trustedOwner { try ProcessSettings.setVariable(DeviceOwner.variable, to: owner) }
        let passcode = try options.passcodeFile.map(PasscodeSource.read)
        let path = try DeviceArgument.resolve(device)
        if !fake {
            let request = MountRequest(
                app: app, mountPoint: try absolute(mountPoint), allowOther: options.allowOther,
                readOnly: options.readOnly, running: options.running, documents: options.documents,
                cachedirTag: options.cachedirTag, transport: options.transport)
            if let passcode { _ = try await DeviceArgument.send(UnlockRequest(passcode: passcode), to: path) }
            _ = try await DeviceArgument.send(request, to: path)
        }
        guard verbose else { return }
        // The mount is there, whether anybody reads of it or not.
        try? Output.line(
            fake
                ? "the options are right, and \(path) is a device; nothing was mounted"
                : "\(app) of \(path) is mounted on \(mountPoint)")
    }

    /// The device and the app of DEVICE:BUNDLE-ID. A directory may have colons in its name, an identifier has none.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    static func parts(of source: String) throws(Complaint) -> (device: String, app: String) {
        guard let colon = source.utf8.lastIndex(of: UInt8(ascii: ":")), colon != source.startIndex,
            source.utf8.index(after: colon) != source.endIndex
        else {
            throw Complaint(
                .badRequest,
                "'\(source)' is not DEVICE:BUNDLE-ID; name the device's directory and the app, as in "
                    + "/srv/phone:com.example.Notes")
        }
        return (String(source[..<colon]), String(decoding: source.utf8[colon...].dropFirst(), as: UTF8.self))
    }
}

/// The exit codes of mount(8).
enum MountStatus: Int32 {
    /// Incorrect invocation or permissions.
    case usage = 1
    /// System error: out of memory, cannot fork, and so on.
    case system = 2
    /// Mount failure.
    case failure = 32

    init(of kind: Complaint.Kind) {
        self =
            switch kind {
            case .badRequest, .notAllowed, .foreignOwner, .invalidIdentifier: .usage
            case .unexpected, .hostFilesystem, .noSpace, .fuseMissing, .fuseConfiguration, .procMissing: .system
            default: .failure
            }
    }
}
