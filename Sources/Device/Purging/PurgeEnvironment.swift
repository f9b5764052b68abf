// The process that serves the device, as far as purging asks for it, and its reports to that process.

public import ContainerVolume
public import SandboxModel

/// The mounts, running apps and operations of the process that serves a device. Every member may be called on any
/// thread.
public protocol PurgeEnvironment: Sendable {
    /// The apps that run now. Nothing of theirs is purged.
    var runningApps: Set<ContainerIdentifier> { get }

    func isRunning(_ app: ContainerIdentifier) -> Bool

    /// Carries out a short step on an app while no operation is at work on it.
    /// - Returns: nil if an operation is.
    func whileIdle<Result>(_ app: ContainerIdentifier, _ body: () -> Result) -> Result?

    /// The volume through which files of the app may be open; nil if there is none.
    func volume(of app: ContainerIdentifier) -> Volume?

    /// Records entries that went.
    func record(_ purged: [PurgeOutcome.Purged])

    /// Records what was done by caprice.
    func record(_ disobeyed: [PurgeOutcome.Disobeyed])

    /// Logs that entries which an earlier session has purged cannot be removed. The next session tries again.
    func logTrashFailure(_ error: SystemError)
}
