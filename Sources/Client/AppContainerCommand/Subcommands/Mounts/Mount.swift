// appcontainer mount: mounts the home of an app.

public import AppContainer
public import ArgumentParser
import SandboxModel

/// The daemon mounts, as it serves the filesystem. The passcode is read first, so that a missing file changes nothing.
struct Mount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show an app's home at a mount point.",
        discussion: """
            Returns when the mount answers. The device's daemon is started if it is not running, and lives until \
            `appcontainer shutdown`.

            Example:
              appcontainer mount ~/phone com.example.Notes ~/notes --passcode-file ~/phone.passcode
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var app: AppArgument
    @Argument(help: "The directory to mount on.", completion: .directory)
    var mountPoint: String
    @Option(help: "Unlock the device first, with the passcode in the file's first line.", completion: .file())
    var passcodeFile: String?
    @Flag(help: "Stay until the mount ends; an interrupt ends it.")
    var foreground = false
    @Flag(help: "Let other users into the mount, as far as modes allow.")
    var allowOther = false
    @Flag(help: "Refuse every change, with EROFS.")
    var readOnly = false
    @Flag(help: "Let the app count as running for as long as it is mounted.")
    var running = false
    @Flag(help: "Show only Documents, as file sharing does.")
    var documents = false
    @Flag(help: "Show a CACHEDIR.TAG in Library/Caches and tmp, for tar, restic and kopia.")
    var cachedirTag = false
    @Option(
        help: ArgumentHelp(
            "Serve over io_uring where the kernel offers it, else /dev/fuse (auto, by default), or over one of them.",
            valueName: "transport"))
    var transport: MountRequest.Transport?

    func run() async throws {
        let passcode = try passcodeFile.map(PasscodeSource.read)
        let request = MountRequest(
            app: app.bundleID, mountPoint: try absolute(mountPoint), allowOther: allowOther, readOnly: readOnly,
            running: running, documents: documents, cachedirTag: cachedirTag, transport: transport)
        if let passcode { _ = try await device.send(UnlockRequest(passcode: passcode)) }
        let mount = try await device.send(request)
        if foreground { try await stay(mount.mountPoint) }
    }

    /// Waits for the mount's end; each signal asks for it anew.
    private func stay(_ mountPoint: String) async throws {
        let device = device
        let signals = Interrupts { Task { await Mount.end(mountPoint, on: device) } }
        defer { signals.end() }
        _ = try await device.send(MountEndRequest(mountPoint: mountPoint))
    }

    /// Unmounts. After a failure, as of a mount in use, prints it and takes the mount out of sight instead, so that ^C
    /// does not leave this command waiting.
    private static func end(_ mountPoint: String, on device: DeviceArgument) async {
        do throws(Complaint) {
            _ = try await device.send(UnmountRequest(mountPoint: mountPoint))
        } catch {
            StandardError.complain(error.message)
            _ = try? await device.send(UnmountRequest(mountPoint: mountPoint, lazy: true))
        }
    }
}

extension MountRequest.Transport: ExpressibleByArgument {}
