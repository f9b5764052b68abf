// The uses of volumes: shown to containers, and hidden after the last.

import AppContainer
import Daemon
import Glibc
import Platform
public import SandboxModel

extension VolumeStore {
    /// Shows a volume to a container.
    /// - Parameters:
    ///   - use: the engine's identifier of the use.
    ///   - isAlone: whether the volume may have no other use.
    ///   - passcode: to unlock the device with, in place of the volume's secret; nil for that.
    /// - Returns: the directory to give to the container.
    /// - Throws: ``Complaint`` of kind `notFound`, `inUse`, or of the device.
    public func begin(
        _ use: String, of name: String, isAlone: Bool = false, passcode: String? = nil
    ) async throws(Complaint) -> String {
        let name = try VolumeName(name)
        let known = try required(name)
        return try await onDevice(of: known) { () async throws(Complaint) in
            // It may have been removed before its turn.
            var record = try required(name)
            guard !isAlone || record.uses.allSatisfy({ $0 == use }) else {
                throw Complaint(.inUse, "the volume \(name.text) is in use, and is for one user at a time")
            }
            do throws(Complaint) {
                try await show(record, passcode: passcode)
                begun.insert(use)
                record.begin(use, boot: boot)
                try state.volumes.write(record)
            } catch {
                if record.uses.isEmpty { try? await hide(record) }
                throw error
            }
            return state.mountPoint(name.text)
        }
    }

    /// Ends a use. After the last the volume is hidden, and its device shut down once it shows no other.
    /// - Parameter mayBeAnother: whether an identifier that is unknown means the last use, as Podman's do.
    public func end(_ use: String, of name: String, mayBeAnother: Bool = true) async throws(Complaint) {
        let name = try VolumeName(name)
        let known = try required(name)
        try await onDevice(of: known) { () async throws(Complaint) in
            var record = try required(name)
            let before = record.uses
            // No container has the last use any more.
            if before.contains(use) || mayBeAnother && !isSeen(record) { record.end(use) }
            // Of those that ended while no process served them nobody tells.
            if !record.uses.isEmpty, !begun.hasAny(of: record.uses), !isSeen(record) { record.uses = [] }
            begun.remove(before.filter { !record.uses.contains($0) })
            if record.uses.isEmpty { try await hide(record) }
            try state.volumes.write(record)
        }
        if known.isEphemeral { try await removeEphemeral(onDevice: known.device) }
    }

    /// Removes the volumes of a device that go with their last use, those on the device of another first.
    func removeEphemeral(onDevice device: String) async throws(Complaint) {
        let ended = state.volumes(ofDevice: device).filter { $0.isEphemeral && $0.uses.isEmpty }
        for record in ended where record.name != device { try await remove(record.name) }
        // The device's own volume waits for all others.
        guard state.volumes(ofDevice: device).allSatisfy({ $0.name == device && $0.isEphemeral && $0.uses.isEmpty })
        else {
            return
        }
        try await remove(device)
    }

    /// Starts the device, unlocks it where there is a secret, and shows the volume at its mount point.
    private func show(_ record: VolumeRecord, passcode given: String?) async throws(Complaint) {
        let options = try VolumeOptions(record.options)
        let client = try await processes.client(of: state.device(record.device))
        if let given {
            try await processes.unlock(client, with: given)
        } else if let secret = try secret(of: record, options) {
            try await processes.unlock(client, with: try passcode(secret))
        }
        let mountPoint = state.mountPoint(record.name)
        try Complaint.wrap("cannot make \(mountPoint)") { () throws(SystemError) in
            try HostDirectory.make(mountPoint, mode: 0o755)
        }
        guard let app = record.app else { return try await showSocket(record, options, client) }
        guard mount(of: record) == nil || HostMount.isAbandoned(mountPoint) else { return }
        try await processes.send(
            MountRequest(
                app: app, mountPoint: mountPoint, allowOther: geteuid() == 0, readOnly: options.isReadOnly,
                running: options.isRunning),
            to: client)
    }

    /// A container's superuser may write where the container has no user namespace: so the socket is in a filesystem
    /// of its own, which is read-only before any container has it, for good. An ordinary user's has no more rights than
    /// that user.
    private func showSocket(
        _ record: VolumeRecord, _ options: VolumeOptions, _ client: DeviceClient
    ) async throws(Complaint) {
        let place = state.mountPoint(record.name)
        let request = OpenControlSocketRequest(socket: socket(record), user: options.user ?? geteuid())
        guard geteuid() == 0 else { return try await processes.send(request, to: client) }
        if HostMount.isReadOnly(place), (try? Descriptor.connected(toSocket: socket(record))) != nil { return }
        // That of a process that has ended, or of a begin that was interrupted.
        try VolumeStore.unmountAll(at: place)
        try Complaint.wrap("cannot mount \(place)") { () throws(SystemError) in try HostMount.mountMemory(at: place) }
        do throws(Complaint) {
            try await processes.send(request, to: client)
            try Complaint.wrap("cannot mount \(place)") { () throws(SystemError) in
                try HostMount.makeMemoryReadOnly(place)
            }
        } catch {
            try? VolumeStore.unmountAll(at: place)
            throw error
        }
    }

    /// Takes away all that is mounted at a place.
    static func unmountAll(at place: String) throws(Complaint) {
        try Complaint.wrap("cannot unmount \(place)") { () throws(SystemError) in
            while MountInfo.topmost(at: place) != nil { try HostMount.unmount(place, .lazily) }
        }
    }

    /// The secret of the volume, or of the one that its device was made for.
    private func secret(of record: VolumeRecord, _ options: VolumeOptions) throws(Complaint) -> FileName? {
        if let own = options.passcodeSecret { return own }
        guard record.app != nil, let first = try state.volumes.record(record.device) else { return nil }
        return try VolumeOptions(first.options).passcodeSecret
    }

    /// Takes the volume out of sight, and shuts its device down unless another volume of it is in use. A volume that
    /// is hidden already is left as it is.
    func hide(_ record: VolumeRecord) async throws(Complaint) {
        let device = state.device(record.device)
        let mountPoint = state.mountPoint(record.name)
        if let client = await DaemonLauncher.running(device) {
            if record.app == nil {
                try await processes.send(CloseControlSocketRequest(socket: socket(record)), to: client)
            } else if mount(of: record) != nil {
                try await processes.send(UnmountRequest(mountPoint: mountPoint, lazy: true), to: client)
            }
        }
        let isNeeded = state.volumes(ofDevice: record.device).contains { $0.name != record.name && !$0.uses.isEmpty }
        if !isNeeded, (try? HostPath.status(device)) != nil { try await processes.end(device) }
        removeMountPoint(record.name)
    }

    /// Removes a mount point, with the mount that nobody serves any more.
    func removeMountPoint(_ name: String) {
        guard (try? VolumeStore.unmountAll(at: state.mountPoint(name))) != nil else { return }
        state.removeMountPoint(name)
    }

    // MARK: Facts

    /// The name of the control socket in its volume.
    static let socketName = "control.sock"

    private func socket(_ record: VolumeRecord) -> String {
        "\(state.mountPoint(record.name))/\(VolumeStore.socketName)"
    }

    /// The mount at the volume's mount point.
    private func mount(of record: VolumeRecord) -> MountInfo? {
        MountInfo.topmost(at: state.mountPoint(record.name))
    }

    /// Whether a container has the volume: a bind of its mount, or of the directory of a control socket.
    func isSeen(_ record: VolumeRecord) -> Bool {
        // Of an orchestrator each use is the path of a target.
        if record.uses.contains(where: { $0.hasPrefix("/") && MountInfo.topmost(at: $0) != nil }) { return true }
        let place = state.mountPoint(record.name)
        guard let around = (try? Descriptor.openDirectory(path: place))?.mountInfo else { return false }
        // Of an ordinary user's control socket the directory itself is shown.
        guard let root = HostPath.rest(of: place, in: around.mountPoint).map({ around.root(at: $0) }) else {
            return false
        }
        let isElsewhere = try? MountNamespaces.showElsewhere {
            // Services with mount namespaces of their own have the host's mounts where the host has them. Containers
            // that watch the host have them below a directory.
            $0.minor == around.minor && $0.root == root && $0.type == around.type && !$0.mountPoint.hasSuffix(place)
        }
        // A volume of which that cannot be told stays.
        return isElsewhere ?? true
    }
}
