// The device behind the control API, as the API sees it.

import AppContainer
import SandboxModel

/// Takes the progress of long work; the client receives some of the reports.
/// - Returns: false when the client has gone: the work ends and takes back what it did.
typealias ProgressReport = @Sendable (WorkProgress) -> Bool

/// A device that the control API serves: ``DeviceService``, or a fake of a test.
protocol ServedDevice: Sendable {
    /// The requests that the device carries out. Those that block may come from several threads at once.
    /// ``ShutdownRequest`` is not among them: it ends the server as well, so ``ControlResponder`` has its route.
    static var routes: [Route<Self>] { get }

    /// The device's UUID.
    var identifier: String { get }

    /// Whether time that passes on the device's clock writes backups to the host.
    var hasScheduledBackups: Bool { get }

    /// Unmounts everything and ends the session. Errors go to the log: nothing keeps a device from ending. Blocks.
    func shutdown()
}
