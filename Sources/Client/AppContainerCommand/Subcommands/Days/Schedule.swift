// appcontainer schedule: tells, begins or ends the backups that a device makes by itself.

import AppContainer
import ArgumentParser
import Platform
import SandboxModel

struct Schedule: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have a device back itself up each day, or not any more.",
        discussion: """
            The first backup is due a day from now, and each later one a day after the one before. It is made once the \
            device is locked, on power and on Wi-Fi; a device without a passcode counts as locked. The directory gets \
            a Finder backup for each, under the device's time; none is removed. Of those that come due in one advance \
            of the clock the last seven are written.

            Example:
              appcontainer schedule ~/phone --backup ~/backups
            """)

    @OptionGroup var device: DeviceArgument
    @Option(help: "The directory that gets the backups.", completion: .directory)
    var backup: String?
    @Flag(help: "Make no more backups.")
    var off = false
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        if off && backup != nil { throw ValidationError("--backup and --off contradict each other") }
    }

    func run() async throws {
        let directory = try backup.map { (path) throws(Complaint) in
            try Complaint.wrap("cannot tell where \(path) is") { () throws(SystemError) in try HostPath.absolute(path) }
        }
        let schedule = try await device.send(ScheduleRequest(backup: directory, ends: off))
        if answer.json { return try Output.json(schedule) }
        guard let place = schedule.backup else { return try Output.line("no backups are scheduled") }
        try Output.fields([
            (label: "Backups in", value: place.onOneLine),
            (label: "Next", value: schedule.next ?? "-"),
            (
                label: "Waits for",
                value: schedule.missing.isEmpty ? "nothing" : schedule.missing.joined(separator: ", ")
            ),
        ])
    }
}
