// The JSON of commands that change a state: the state afterwards, by the keys that `status` and `apps` have for it.

import AppContainer
import SandboxModel

/// The state of a device after `lock`, `unlock`, `restart`, `passcode` and `backup-password`.
struct DeviceState: Encodable {
    private let status: DeviceStatus

    /// Asks the device.
    init(of device: DeviceArgument) async throws(Complaint) {
        status = try await device.send(StatusRequest())
    }

    private enum CodingKeys: CodingKey {
        case state, graceRemaining, hasPasscode, eraseAfterTen, hasBackupPassword
    }

    /// Writes null where there is no grace period, so that a script finds the keys in every answer.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status.state, forKey: .state)
        try container.encode(status.graceRemaining, forKey: .graceRemaining)
        try container.encode(status.hasPasscode, forKey: .hasPasscode)
        try container.encode(status.eraseAfterTen, forKey: .eraseAfterTen)
        try container.encode(status.hasBackupPassword, forKey: .hasBackupPassword)
    }
}

/// The state of an app after `resume` and `terminate`.
struct AppState: Encodable {
    private let app: String
    /// Whether it runs, and where; nil if it does not.
    private let state: App.State?

    /// Asks the device.
    init(of app: String, on device: DeviceArgument) async throws(Complaint) {
        let found = try await device.send(AppsRequest()).first { $0.identifier == app }
        self.app = app
        state = found?.running == true ? found?.state : nil
    }

    private enum CodingKeys: CodingKey {
        case app, running, state
    }

    /// Writes null for an app that does not run.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(app, forKey: .app)
        try container.encode(state != nil, forKey: .running)
        try container.encode(state, forKey: .state)
    }
}
