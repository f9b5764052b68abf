// The events of an app's way between foreground, background, suspension and end.

import AppContainer
import Platform
import SandboxModel

extension Event {
    static func entered(_ state: App.State, _ app: ContainerIdentifier, remaining: Double? = nil) -> Event {
        var event = Event(.entered, app: app.text)
        event.state = state.rawValue
        event.remaining = remaining
        return event
    }

    /// - Parameter remaining: the seconds until the suspension.
    static func expiring(_ app: ContainerIdentifier, remaining: Double) -> Event {
        var event = Event(.expiring, app: app.text)
        event.remaining = remaining
        return event
    }

    /// The end of a process that was suspended with a lock.
    static func terminated(_ app: ContainerIdentifier, by breach: SuspensionBreach, _ process: HostProcess) -> Event {
        var event = Event(
            .terminated, app: app.text, path: breach.path, pid: process.id, process: process.name,
            reason: SuspensionBreach.reason)
        event.lock = breach.lock.rawValue
        return event
    }

    static func terminated(_ ending: RunningApps.Ending) -> Event {
        Event(
            .terminated, app: ending.app.text, pid: ending.process?.id, process: ending.process?.name,
            reason: ending.reason.rawValue)
    }
}
