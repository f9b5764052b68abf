// The facts of a moment that `top` shows.

import AppContainer
import SandboxModel

/// A device at one moment, and the requests that came since an earlier one.
struct TopSnapshot: Encodable, Sendable {
    /// An app that is installed.
    struct ListedApp: Encodable, Sendable {
        let identifier: String
        let name: String
        let running: Bool
        let state: App.State
        let mountPoint: String?

        init(_ app: App) {
            identifier = app.identifier
            name = app.name
            running = app.running
            state = app.state
            mountPoint = app.mountPoint
        }

        private enum CodingKeys: CodingKey {
            case identifier, name, running, state, mountPoint
        }

        /// Writes null where there is nothing, so that a script finds the keys in every answer.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(identifier, forKey: .identifier)
            try container.encode(name, forKey: .name)
            try container.encode(running, forKey: .running)
            try container.encode(state, forKey: .state)
            try container.encode(mountPoint, forKey: .mountPoint)
        }
    }

    /// As ``Event/time``.
    let time: String
    let status: DeviceStatus
    /// Running ones first, then by their identifiers.
    let apps: [ListedApp]
    /// The kernel's requests by kind since the device's process started.
    let requests: [String: UInt64]
    /// The same for each second of the time that was watched.
    let requestsPerSecond: [String: Double]
    /// The last refusals, the latest first.
    let refused: [Event]

    /// - Parameters:
    ///   - before: the requests of the same process at the beginning of the time that was watched, and its length.
    init(
        status: DeviceStatus, apps: [App], activity: Activity, before: (Activity, seconds: Double)?, refused: [Event]
    ) {
        time = Event.now
        self.status = status
        self.apps = apps.map { ListedApp($0) }.sorted { left, right in
            left.running == right.running ? left.identifier < right.identifier : left.running
        }
        requests = activity.requests
        self.refused = refused
        guard let (earlier, seconds) = before, seconds > 0 else {
            requestsPerSecond = [:]
            return
        }
        var rates: [String: Double] = [:]
        for (kind, count) in activity.requests {
            let known = earlier.requests[kind] ?? 0
            let new = count > known ? count - known : 0
            if new > 0 { rates[kind] = (Double(new) / seconds * 10).rounded() / 10 }
        }
        requestsPerSecond = rates
    }
}
