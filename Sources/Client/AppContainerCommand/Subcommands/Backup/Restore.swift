// appcontainer restore: restores a backup.

import AppContainer
import ArgumentParser
import SandboxModel

/// The daemon reads the backup. The password is read here, from a file, so that it appears in no process list. Ends
/// with exit code 41 or 20 while an app that would be replaced runs or is mounted, 46 for a backup that is damaged.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a backup's containers onto a device.",
        discussion: """
            Takes a backup of either form, and a Finder or iTunes backup of a phone. Each container replaces the one \
            that the device has; Library/Caches and tmp are empty then. The data of an app that is not installed \
            waits, and the app has it when it is installed. Apps that are concerned must not be mounted or run.

            A restore that fails before it replaces containers leaves the device as it was. If only the former \
            containers cannot be removed, the restored ones stay.
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "A tar, or the directory that holds Manifest.db.", completion: .file())
    var input: String
    @Option(
        help: ArgumentHelp(
            "Decrypt the backup, or its ciphertext, with the first line of this file.", valueName: "file"))
    var passwordFile: String?
    @Option(
        help: ArgumentHelp("Restore this container only, such as AppDomain-com.example.Notes.", valueName: "domain"))
    var domain: String?
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let password = try passwordFile.map { (file) throws(Complaint) in try PasscodeSource.password(inFile: file) }
        let request = RestoreRequest(input: try absolute(input), password: password, domain: domain)
        let report = try await showingProgress { line in
            try await device.send(request, progress: line.report)
        }
        if answer.json { return try Output.json(report) }
        var rows = report.apps.map { ["restored", $0] }
        // `uninstall` removes data that waits.
        rows += report.waiting.map { ["waits for its installation", $0] }
        rows += report.groups.map { ["restored", $0] }
        try Output.table(rows)
        var line = "\(report.files) \(report.files == 1 ? "file" : "files"), \(Output.size(report.bytes))"
        if report.leftOut > 0 { line += "; \(report.leftOut) entries have no place in a container" }
        try Output.line(line)
    }
}
