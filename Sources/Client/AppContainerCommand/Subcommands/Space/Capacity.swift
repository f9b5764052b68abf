// appcontainer capacity: shows or changes the capacity of a device.

import AppContainer
import ArgumentParser
import BackingStore

/// Without a size or a mark it only shows. Ends with exit code 64 for a size below 1M, 27 for marks that are no
/// percentages or in the wrong order, which the daemon finds.
struct Capacity: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or change how much a device holds.",
        discussion: """
            A device holds SIZE bytes, or what the host's filesystem does. When less than the low-water mark is \
            available, the device purges until the high-water mark is available; both are percentages of the \
            capacity, 5 and 10 if nothing else was chosen. Existing content stays, even if it exceeds a new capacity.

            Example:
              appcontainer capacity ~/phone 2G
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "Bytes, or with K, M, G, T (times 1024).")
    var size: ByteCount?
    @Flag(help: "Hold what the host's filesystem does.")
    var host = false
    @Option(help: ArgumentHelp("The low-water mark: 0 to 100.", valueName: "percent"))
    var lowWater: Double?
    @Option(help: ArgumentHelp("The high-water mark: 0 to 100.", valueName: "percent"))
    var highWater: Double?
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        if host && size != nil { throw ValidationError("--host and a size contradict each other") }
        try Capacity.validate(size)
    }

    /// For `create` too.
    static func validate(_ size: ByteCount?) throws {
        if let size, !DeviceSettings.capacities.contains(size.bytes) {
            throw ValidationError("a capacity is from 1M to 1E (1048576T); give one of these")
        }
    }

    func run() async throws {
        let report = try await device.send(
            CapacityRequest(capacity: size?.bytes, hostCapacity: host, lowWater: lowWater, highWater: highWater))
        if answer.json { return try Output.json(report) }
        try Output.fields([
            (label: "Capacity", value: report.capacity.map(Output.size) ?? "that of the host"),
            (label: "Total", value: Output.size(report.total)),
            (label: "Used", value: Output.size(report.used)),
            (label: "Available", value: Output.size(report.available)),
            (label: "Marks", value: "purge below \(report.lowWater) % available, up to \(report.highWater) %"),
        ])
    }
}
