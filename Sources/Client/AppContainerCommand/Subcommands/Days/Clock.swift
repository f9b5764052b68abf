// appcontainer clock: tells, advances or resets a device's clock.

import AppContainer
import ArgumentParser

/// Ends with the exit code of a scheduled backup that failed; the clock is advanced all the same.
struct Clock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the time of a device, or advance it.",
        discussion: """
            "advance" moves the device's clock, and what comes due meanwhile happens in its order: a pending lock, \
            scheduled backups, the removal of items of tmp that were not used for three days, the end of the wait \
            after wrong passcodes. "real" sets it to the host's time again. Files and processes have the time of the \
            host.

            Example:
              appcontainer clock ~/phone advance 8h
            """)

    enum Change: String, CaseIterable, ExpressibleByArgument {
        case advance, real
    }

    @OptionGroup var device: DeviceArgument
    @Argument(help: "advance or real; without it the time is printed.")
    var change: Change?
    @Argument(help: "A duration: digits and s, m, h, d or w, such as 90s, 15m, 8h, 3d, 2w.")
    var duration: ClockDuration?
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        switch (change, duration) {
        case (.advance?, nil): throw ValidationError("say by how much, such as: advance 8h")
        case (.real?, _?): throw ValidationError("real takes no duration")
        default: return
        }
    }

    func run() async throws {
        let request = ClockRequest(
            advance: change == .advance ? duration?.seconds : nil, real: change == .real)
        let report = try await device.send(request)
        if answer.json { return try Output.json(report) }
        let lines = report.happened.map { event in
            let words = [
                event.deviceTime ?? event.time, event.event.rawValue, event.app, event.path,
                event.event == .cleaned ? nil : event.reason.map { "(\($0))" },
            ]
            return words.compactMap { $0 }.joined(separator: " ").onOneLine
        }
        try Output.lines(lines + [report.time])
    }
}
