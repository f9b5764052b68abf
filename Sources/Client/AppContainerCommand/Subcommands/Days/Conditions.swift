// appcontainer conditions: tells or changes the surroundings of a device.

import AppContainer
import ArgumentParser

struct Conditions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or change whether a device has power and Wi-Fi.",
        discussion: """
            A device has both, unless something else was said. A scheduled backup waits for them.

            Example:
              appcontainer conditions ~/phone power on wifi off
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "power or wifi, each followed by on or off.", completion: .list(["power", "wifi", "on", "off"]))
    var changes: [String] = []
    @OptionGroup var answer: AnswerOptions

    func validate() throws { _ = try request() }

    private func request() throws(ValidationError) -> ConditionsRequest {
        var request = ConditionsRequest()
        var words = changes[...]
        while let name = words.popFirst() {
            guard let position = words.popFirst().flatMap(SwitchPosition.init) else {
                throw ValidationError("say on or off after \(name), such as: power on wifi off")
            }
            switch name {
            case "power": request.power = position == .on
            case "wifi": request.wifi = position == .on
            default: throw ValidationError("there is no condition \(name); the conditions are power and wifi")
            }
        }
        return request
    }

    func run() async throws {
        let conditions = try await device.send(try request())
        if answer.json { return try Output.json(conditions) }
        try Output.fields([
            (label: "Power", value: conditions.power ? "on" : "off"),
            (label: "Wi-Fi", value: conditions.wifi ? "on" : "off"),
        ])
    }
}
