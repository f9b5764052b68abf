// appcontainer list: lists the devices that are served.

import AppContainer
import ArgumentParser
import SandboxModel

/// Asks the processes that listen in the user's runtime directory, all at once. Starts none, and clears nothing away.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the devices that are served, of this user.",
        discussion: """
            A device is served from the first command that needs its daemon until its shutdown, and a test's as long \
            as the test has it. One whose daemon says nothing within two seconds is listed as notAnswering. Devices \
            that are off are directories like any others, and not in the list.
            """)

    @OptionGroup var answer: AnswerOptions
    @OptionGroup var trustedOwner: TrustOption

    func run() async throws {
        let devices = await Device.served()
        if answer.json { return try Output.json(devices) }
        guard !devices.isEmpty else {
            return StandardError.tell("no device is served; start one with: appcontainer boot DEVICE")
        }
        let rows = devices.map { device in
            [
                device.device ?? "-", device.isThere ? device.state : "\(device.state), directory gone",
                device.pid.map { "\($0)" } ?? "-", "\(device.apps)", "\(device.mounts.count)",
                device.running.isEmpty ? "-" : device.running.joined(separator: ", "),
            ]
        }
        try Output.table(rows, under: ["DEVICE", "STATE", "PID", "APPS", "MOUNTS", "RUNNING"]) { row, column in
            column == 1 ? Style(ofState: devices[row].isThere ? devices[row].state : DeviceStatus.unknown) : nil
        }
    }
}
