// appcontainer backup: makes a backup, or lists its content.

import AppContainer
import ArgumentParser
import SandboxModel

/// The daemon writes the backup, as it has the keys and knows the open files. The password is read here, from a file,
/// so that it appears in no process list.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Back the containers up that a phone would back up.",
        discussion: """
            Takes in Documents, Library without Caches, and group containers; nothing of the bundle, Library/Caches, \
            tmp and iCloud, and nothing that is marked as excluded. Apps may be in use: data that they wrote \
            before is in the backup.

            A tar is one file, the same for the same content. With --since it holds only what is not in the earlier \
            tar, which it then needs to be restored. A Finder backup is the directory that holds Manifest.db; with \
            --password-file it is encrypted, and with --since it takes what is unchanged from the earlier one.

            On a locked device, files that cannot be read go in as ciphertext, which only this device can restore, or \
            with a backup password any ("appcontainer backup-password"). A Finder backup is then encrypted with that \
            password, or not at all.

            With --list --excluded, other tools back a mount up as a phone would. The manual has a line for each:
              appcontainer backup ~/phone --list --excluded --for restic >list
              restic backup --exclude-file list ~/home
            """)

    /// The raw values are the words on the command line.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case tar, finder
    }

    @OptionGroup var device: DeviceArgument
    @Argument(help: "The file or directory to make; not with --list.", completion: .file())
    var output: String?
    @Option(
        help: ArgumentHelp("Back up this app only, with its groups.", valueName: "id"), completion: Completions.apps)
    var app: String?
    @Option(help: "The form of the backup.")
    var format = Format.tar
    @Option(
        help: ArgumentHelp("Encrypt a Finder backup with the first line of this file.", valueName: "file"),
        completion: .file())
    var passwordFile: String?
    @Flag(help: "Tell what would go in, with sizes, and what would not and why.")
    var list = false
    @OptionGroup var excludeList: ExcludeListOptions
    @Flag(help: "Take in what is marked as excluded, too.")
    var ignoreExclusions = false
    @Option(
        help: ArgumentHelp("Take what has not changed from this earlier backup.", valueName: "backup"),
        completion: .file())
    var since: String?
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        try excludeList.check(list: list, app: app, json: answer.json, ignoreExclusions: ignoreExclusions)
        guard list || output != nil else {
            throw ValidationError("Name the file or directory to make, or give --list")
        }
        guard !list || output == nil else {
            throw ValidationError("--list makes no backup: give either --list or a path to make one at")
        }
        guard !list || since == nil && passwordFile == nil else {
            throw ValidationError("--list makes no backup, so it goes with neither --since nor --password-file")
        }
        guard passwordFile == nil || format == .finder else {
            throw ValidationError("Only a Finder backup is encrypted: add --format finder")
        }
    }

    func run() async throws {
        if excludeList.excluded {
            let homes = try await device.send(BackupExcludedRequest(app: app))
            return answer.json ? try Output.json(homes) : try excludeList.show(homes, app: app)
        }
        guard !list, let output else {
            return try await show(device.send(BackupListRequest(app: app, ignoreExclusions: ignoreExclusions)))
        }
        let password = try passwordFile.map { (file) throws(Complaint) in try PasscodeSource.password(inFile: file) }
        let request = BackupRequest(
            output: try absolute(output), format: format == .tar ? .tar : .finder, app: app, password: password,
            ignoreExclusions: ignoreExclusions, since: try since.map(absolute))
        let report = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        if answer.json { return try Output.json(report) }
        var line = "\(report.files) \(report.files == 1 ? "file" : "files"), \(Output.size(report.bytes))"
        if since != nil { line += ", \(report.unchanged) unchanged" }
        if report.sealed > 0 { line += "; \(report.sealed) as ciphertext, because the device is locked" }
        try Output.line(line)
    }

    /// Prints one line for each entry, with its length as the app sees it.
    private func show(_ items: [BackupItem]) throws(Complaint) {
        if answer.json { return try Output.json(items) }
        try Output.table(
            items.map { item in
                let path = item.path.isEmpty ? item.domain : "\(item.domain)/\(item.path)"
                let verdict =
                    item.leftOut.map { "left out: \(Backup.reasons[$0]!)" } ?? (item.sealed ? "as ciphertext" : "")
                return [Output.size(item.size), path, verdict]
            })
    }

    /// The words for the reasons of `BackupListing` to leave an entry out.
    private static let reasons: [BackupItem.Reason: String] = [
        .excluded: "it is excluded",
        .place: "it is never backed up",
        .kind: "no backup holds its kind",
    ]
}
