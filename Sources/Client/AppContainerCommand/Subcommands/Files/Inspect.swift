// appcontainer inspect: shows the rules and properties of a path in a mount.

import AppContainer
import ArgumentParser
import Daemon
import Platform
import SandboxModel

/// The device follows from the mount that contains the path. Ends at the first path that cannot be inspected, before it
/// prints anything.
struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what a path in a mount is, and which rules hold for it.",
        discussion: """
            Shows the part of the app's home that the path lies in, what the sandbox allows there, the protection \
            class of the content and whether it can be read now, the length and what it takes in the device \
            directory, whether it goes into a backup, and where it lies in the device directory.
            """)

    @Argument(help: "Paths in mounted homes.", completion: Completions.paths)
    var paths: [String]
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var trustedOwner: TrustOption

    func run() async throws {
        var inspections: [Inspection] = []
        for path in paths { inspections.append(try await Inspect.inspect(path)) }
        if answer.json {
            try Output.json(inspections)
            return
        }
        for (index, inspection) in inspections.enumerated() {
            if index > 0 { try Output.line("") }
            try show(inspection, as: paths[index])
        }
    }

    /// Asks the daemon that serves the mount. It starts none, as another daemon would not serve this mount.
    /// - Throws: ``Complaint`` of kind `notMounted`, `notFound`, `notAllowed` for a daemon of another user, or
    ///   `daemonUnreachable` for a mount whose daemon has ended.
    private static func inspect(_ path: String) async throws(Complaint) -> Inspection {
        let (home, inner) = try MountedHome.containing(path)
        let request = InspectRequest(app: home.app, path: inner)
        let inspection = try await DaemonLauncher.askRunning(home.device) { (client) throws(DeviceError) in
            try await client.send(request)
        }
        guard let inspection else {
            try ForeignDaemon.requireNone(of: home.device)
            throw Complaint(
                .daemonUnreachable, "the daemon of \(home.mountPoint) has ended; unmount it and mount it again")
        }
        return inspection
    }

    /// - Parameter path: as the user named it.
    private func show(_ inspection: Inspection, as path: String) throws(Complaint) {
        let owner = Account.name(of: inspection.owner) ?? "\(inspection.owner)"
        let size = Output.size(inspection.size)
        var fields = [
            ("Path", path), ("App", inspection.app), ("Kind", inspection.kind), ("Zone", inspection.zone),
            ("Rule", inspection.rule),
        ]
        // Only files have content. A directory's class is for the files that are made in it.
        if inspection.kind == "file" {
            fields.append(("Protection", inspection.protection ?? "none; stored as it is"))
            fields.append(("Readable now", inspection.readable ? "yes" : "no"))
            fields.append(("Size", "\(size), stored in \(Output.size(inspection.storedSize))"))
        } else if let protection = inspection.protection {
            fields.append(("Protection", "\(protection), for what is created here"))
        }
        if let signer = inspection.signer {
            fields.append(("Signed by", inspection.team.map { "\(signer), of the team \($0)" } ?? signer))
        }
        if let entitlements = inspection.entitlements, !entitlements.isEmpty {
            fields.append(("Entitled to", entitlements.keys.sorted().joined(separator: ", ")))
        }
        fields.append(("Backup", inspection.backup))
        fields.append(("Owner", "\(owner), mode \(inspection.mode)"))
        if let backing = inspection.backing { fields.append(("Backing", backing)) }
        try Output.fields(fields.map { (label: $0.0, value: $0.1) })
    }
}
