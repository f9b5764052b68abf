// The handlers of requests about the device as a whole.

import AppContainer
import BackingStore
import ContainerMount
import DeviceLifecycle
import Glibc
import SandboxModel

extension DeviceService {
    /// The requests about the device as a whole.
    static let deviceRoutes: [Route<DeviceService>] = [
        .call(status), .call(activity),
    ]

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
