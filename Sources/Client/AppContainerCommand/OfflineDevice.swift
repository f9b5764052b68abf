// Reads a device's records without its daemon, and ends the daemon before the device changes as a whole.

import AppContainer
import BackingStore
import Daemon
import DataProtection
import DeviceLifecycle
import SandboxModel

/// Commands that need no daemon. The records of a device can be read at any time, as they are replaced atomically; a
/// device may be changed as a whole only after its daemon has ended.
enum OfflineDevice {
    /// The status of a device without a daemon that this user can reach: `off`, or `unknown` where another user's
    /// daemon serves it. Space and the readable classes are known to a daemon only.
    /// - Throws: ``Complaint`` of kind `damaged` or `newerFormat` for a keybag or a registry that cannot be read.
    static func status(_ path: String) throws(Complaint) -> DeviceStatus {
        let directory = try DeviceDirectory.open(at: path)
        let keybag = try directory.openKeybag().0
        let foreign = ForeignDaemon(of: path)
        let registry = try directory.registry()
        return DeviceStatus(
            state: foreign == nil ? DeviceStatus.off : DeviceStatus.unknown, device: path,
            identifier: directory.uuid, hasPasscode: keybag.hasPasscode,
            eraseAfterTen: directory.settings.eraseAfterTen ?? false,
            hasBackupPassword: directory.hasPasswordKeybag,
            capricious: directory.settings.capricious?.seed, apps: registry.apps.count,
            waiting: registry.waitingIdentifiers, daemon: DaemonStatus(pid: foreign?.pid, socket: nil), mounts: [])
    }

    /// Whether a device has a passcode, by its keybag.
    /// - Throws: ``Complaint`` of kind `damaged` or `newerFormat`.
    static func hasPasscode(_ path: String) throws(Complaint) -> Bool {
        try DeviceDirectory.open(at: path).openKeybag().0.hasPasscode
    }

    /// The record of a device's backup password, as far as a command needs to know it.
    enum BackupPasswordRecord {
        case none, whole, damaged
    }

    /// - Throws: ``Complaint`` of kind `newerFormat`, and `damaged` for the device itself.
    static func backupPassword(_ path: String) throws(Complaint) -> BackupPasswordRecord {
        let directory = try DeviceDirectory.open(at: path)
        do throws(Complaint) {
            return try directory.passwordKeybag() == nil ? .none : .whole
        } catch {
            guard error.kind == .damaged else { throw error }
            return .damaged
        }
    }

    /// The installed apps, with their mounts if the device is on. A daemon that ends before it answers counts as none.
    static func apps(_ path: String) async throws(Complaint) -> [App] {
        if let client = await DaemonLauncher.running(path), let apps = try? await client.send(AppsRequest()) {
            return apps
        }
        return App.all(in: try DeviceDirectory.open(at: path).registry()) { _ in (nil, false, .foreground) }
    }

    /// An installed app.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    static func app(_ identifier: String, of path: String) throws(Complaint) -> InstalledApp {
        let apps = try DeviceDirectory.open(at: path).apps()
        guard let app = apps.first(where: { $0.identifier.text == identifier }) else {
            throw Complaint(.unknownApp, "\(identifier) is not installed; see: appcontainer apps \(path)")
        }
        return app
    }

    /// Ends the daemon of a device that is about to change as a whole.
    /// - Parameter change: the change as a participle, for error messages.
    /// - Throws: ``Complaint`` of kind `appRunning` while an app is running, `inUse` while one is mounted.
    static func shutDown(_ path: String, toBe change: String) async throws(Complaint) {
        let served = try await DaemonLauncher.askRunning(path) { (client) throws(DeviceError) in
            (client: client, status: try await client.status())
        }
        guard let (client, status) = served else {
            try DaemonLauncher.clearAbandoned(path)
            return await DaemonLauncher.waitForEnding(path)
        }
        if let app = status.running.first {
            throw Complaint(
                .appRunning,
                "\(app) is running; end it before the device is \(change), with: appcontainer terminate \(path) \(app)")
        }
        if let mount = status.mounts.first {
            throw Complaint(
                .inUse, "\(mount.app) is mounted at \(mount.mountPoint); unmount it before the device is \(change)")
        }
        try await DaemonLauncher.shutDown(path, client)
    }
}
