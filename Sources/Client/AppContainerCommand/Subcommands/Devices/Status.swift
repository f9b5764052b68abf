// appcontainer status: shows the state of a device.

import AppContainer
import ArgumentParser
import BackingStore
import Daemon
import DeviceLifecycle
import SandboxModel

/// Works on a device that is on or off, and never starts the daemon. The exit code is 0 in every state.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a device's state, its daemon and its mounts.",
        discussion: """
            The state is off while no daemon serves the device, unknown while another user's does, else \
            beforeFirstUnlock, unlocked, locking or locked. This command never starts the daemon.

            The JSON has the daemon's process as daemon.pid, null when there is none, and the path of the control \
            socket, which speaks HTTP and JSON, as daemon.socket.
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let path = try device.path()
        let status = try await status(path)
        if answer.json {
            try Output.json(status)
            return
        }
        var fields = [
            ("Device", status.device),
            ("Identifier", status.identifier),
            ("State", state(status)),
            ("Passcode", (status.hasPasscode ? "yes" : "no") + (status.eraseAfterTen ? ", ten wrong ones erase" : "")),
            ("Apps", "\(status.apps)"),
        ]
        if status.hasBackupPassword { fields.append(("Backup password", "yes")) }
        if let seed = status.capricious { fields.append(("Capricious", "it disobeys, by the seed \(seed)")) }
        for identifier in status.waiting { fields.append(("Waiting", "data of \(identifier), which is not installed")) }
        if let space = status.space { fields += Status.fields(space) }
        // Only a daemon knows the state of the keys.
        if status.daemon.socket != nil { fields.append(("Readable", readable(status))) }
        if let pid = status.daemon.pid {
            fields.append(("Daemon", "process \(pid)\(status.daemon.socket == nil ? " of another user" : "")"))
            if let socket = status.daemon.socket { fields.append(("Socket", socket)) }
        } else {
            fields.append(("Daemon", "none"))
        }
        for mount in status.mounts {
            let options = [
                mount.readOnly ? "read-only" : nil, mount.allowOther ? "allow-other" : nil,
                mount.documents ? "documents" : nil, mount.cachedirTag ? "cachedir-tag" : nil,
            ]
            let list = options.compactMap { $0 }.joined(separator: ", ")
            fields.append(("Mount", "\(mount.app) on \(mount.mountPoint)\(list.isEmpty ? "" : " (\(list))")"))
            fields.append(("Transport", mount.transport.rawValue))
        }
        for app in status.running {
            fields.append(("Running", status.suspended.contains(app) ? "\(app) (suspended)" : app))
        }
        try Output.fields(fields.map { (label: $0.0, value: $0.1) }) { label in
            label == "State" ? Style(ofState: status.state) : nil
        }
    }

    /// Important and opportunistic usage are iOS's words: the first counts as available all that may be purged, the
    /// second leaves as much as the high-water mark says.
    private static func fields(_ space: SpaceStatus) -> [(String, String)] {
        let important = Output.size(space.availableForImportantUsage)
        let opportunistic = Output.size(space.availableForOpportunisticUsage)
        return [
            ("Capacity", "\(Output.size(space.capacity)), \(Output.size(space.used)) used"),
            (
                "Available",
                "\(Output.size(space.available)), \(important) for important, \(opportunistic) for opportunistic usage"
            ),
            ("Purgeable", Output.size(space.purgeable)),
        ]
    }

    /// The state, with the seconds that are left of a grace period, rounded up.
    private func state(_ status: DeviceStatus) -> String {
        guard let left = status.graceRemaining else { return status.state }
        return "\(status.state), locked in \(Int(left.rounded(.up))) s"
    }

    /// The readable classes by their names on the command line.
    private func readable(_ status: DeviceStatus) -> String {
        let names = status.readable.map { ProtectionClass(foundationName: $0)?.shortName ?? $0 }
        return (names.count == 1 ? "class " : "classes ") + names.joined(separator: ", ")
    }

    /// From the daemon, else from the device's records.
    private func status(_ path: String) async throws -> DeviceStatus {
        let status = try await DaemonLauncher.askRunning(path) { (client) throws(DeviceError) in
            try await client.status()
        }
        return try status ?? OfflineDevice.status(path)
    }
}
