// The handlers of requests about the device as a whole.

import AppContainer
import BackingStore
import ContainerMount
import DeviceLifecycle
import Glibc
import Logging
import SandboxModel

extension DeviceService {
    /// The requests about the device as a whole.
    static let deviceRoutes: [Route<DeviceService>] = [
        .call(status), .call(activity), .wait(openControlSocket), .wait(closeControlSocket),
    ]

    /// Listens at a further control socket, for one user.
    /// - Throws: ``Complaint`` of kind `inUse`, `fileExists`, `notAllowed` or `notFound`.
    func openControlSocket(_ request: OpenControlSocketRequest) async throws(Complaint) {
        try await guests.add(request.socket, for: request.user, of: self, log: log)
        log.info("listening for user \(request.user)", metadata: ["socket": "\(request.socket)"])
    }

    /// Ends a further control socket.
    func closeControlSocket(_ request: CloseControlSocketRequest) async throws(Complaint) {
        await guests.remove(request.socket)
    }

    /// The requests that the mounts have served.
    func activity(_ request: ActivityRequest) throws(Complaint) -> Activity {
        Activity(requests: MountTable.servedRequests)
    }

    /// The state of the device, its space, its process and its mounts. Counts purgeable entries, which may take a
    /// while.
    func status(_ request: StatusRequest) throws(Complaint) -> DeviceStatus {
        let attempts = device.passcode.standing
        return DeviceStatus(
            state: locking.deviceState.rawValue, device: device.directory.path, identifier: device.directory.uuid,
            hasPasscode: device.hasPasscode, passcodeAttempts: attempts.wrong,
            passcodeWait: attempts.secondsLeft > 0 ? attempts.secondsLeft : nil,
            eraseAfterTen: device.directory.settings.eraseAfterTen ?? false,
            hasBackupPassword: device.backupPassword.isSet,
            capricious: device.directory.settings.capricious?.seed,
            graceRemaining: locking.graceRemaining,
            readable: ProtectionClass.allCases.filter { device.deviceState.canOpen($0) }.map(\.foundationName),
            apps: device.apps.count { $0.place == nil }, waiting: device.registry.waitingIdentifiers,
            space: SpaceStatus(device.context.space),
            daemon: DaemonStatus(pid: getpid(), socket: socket), mounts: mounts.all,
            running: running.all.sorted().map(\.text), suspended: lifecycle.suspended.sorted().map(\.text))
    }
}
