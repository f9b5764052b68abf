// appcontainer ui: serves a page on which a device can be watched and handled.

import AppContainer
import ArgumentParser
import BackingStore
import Daemon
import DevicePage
import Glibc
import Platform
import SandboxModel

/// Serves the page until it is interrupted. The device may be off, and be turned on and off meanwhile.
struct UserInterface: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui",
        abstract: "Open a page on which a device can be watched and handled.",
        discussion: """
            Serves the page on 127.0.0.1, prints a link as the first line, and opens it in a browser where there is \
            one. A link works once; on a terminal, Enter prints another. Only processes of this user get in.

            The page shows the device, its apps, their files and the record of events as they change. It handles the \
            device by its control API, and shows the command line that does the same. With --read-only it only looks. \
            It ends with this command.
            """)

    @OptionGroup var device: DeviceArgument
    @Option(help: ArgumentHelp("The port, instead of one that is free.", valueName: "number"))
    var port: UInt16 = 0
    @Flag(name: .customLong("no-browser"), help: "Open no browser.")
    var noBrowser = false
    @Flag(help: "Refuse every request that would change something.")
    var readOnly = false

    func run() async throws {
        let path = try device.path()
        try ForeignDaemon.requireNone(of: path)
        let identifier = try DeviceDirectory.open(at: path).uuid
        let server = try PageServer(
            UserInterface.reach(path, identifier), path: path, identifier: identifier, isReadOnly: readOnly,
            users: UserInterface.users)
        let ended = Monitor(false)
        // To the end of the process: timeout(1) sends one signal to the process, and another to its group.
        let signals = Interrupts { ended.access { $0 = true } }
        try await server.start(port: Int(port))
        let link = server.makeLink()
        try Output.line(link)
        if !noBrowser { Browser.open(link) }
        UserInterface.printLinksOnEnter(server)
        await WorkQueue().run { _ = ended.wait { $0 ? true : nil } }
        await server.stop()
        withExtendedLifetime(signals) {}
    }

    /// The way to the device, which may be removed meanwhile, and another one made in its place.
    private static func reach(_ path: String, _ identifier: String) -> DeviceReach {
        DeviceReach(off: "the device is off; turn it on with: appcontainer boot \(path)") { () throws(DeviceError) in
            let found: String
            do throws(Complaint) {
                found = try DeviceDirectory.open(at: path).uuid
            } catch {
                throw DeviceError(error)
            }
            let client = await DaemonLauncher.running(path)
            guard found == identifier, client?.identifier ?? identifier == identifier else {
                throw DeviceError(
                    .otherDevice, "\(path) is another device now; end this command, and run it again for that one")
            }
            // One that is on, but answers no other user.
            if client == nil {
                do throws(Complaint) {
                    try ForeignDaemon.requireNone(of: path)
                } catch {
                    throw DeviceError(.inUse, error.message)
                }
            }
            return client
        }
    }

    /// This user, and the one who has become root by sudo(8): the browser is that user's.
    private static var users: Set<UInt32> {
        var users: Set<UInt32> = [ActingUser.starter]
        if getuid() == 0, let user = ProcessSettings.variable("SUDO_UID").flatMap({ UInt32($0) }) { users.insert(user) }
        return users
    }

    /// Prints another link for each line of a terminal's input. The end of the input ends nothing.
    private static func printLinksOnEnter(_ server: PageServer) {
        guard Terminal.isTerminal(STDIN_FILENO) else { return }
        // A job in the background that reads is stopped, and the page with it: then the read fails instead.
        signal(SIGTTIN, SIG_IGN)
        let thread = try? HostThread(name: "links") {
            while true {
                do throws(SystemError) {
                    guard try Terminal.readLine(silently: false) != nil else { return }
                    try? Output.line(server.makeLink())
                } catch {
                    // It may come to the foreground, which nothing tells.
                    sleep(1)
                }
            }
        }
        thread?.detach()
    }
}
