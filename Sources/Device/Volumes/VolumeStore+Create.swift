// Making and removing volumes.

import AppContainer
import BackingStore
import DeviceLifecycle
import Glibc
import Platform
public import SandboxModel

extension VolumeStore {
    /// Makes a volume.
    /// - Parameters:
    ///   - options: as ``VolumeOptions`` reads them.
    ///   - isEphemeral: whether the volume goes with its last use.
    /// - Throws: ``Complaint`` of kind `badRequest`, `invalidIdentifier`, `notFound`, `unknownApp`, `invalidTemplate`,
    ///   `deviceExists` for a name that another volume has, `noSpace`; nothing is left then.
    public func create(
        _ name: String, options: [String: String], isEphemeral: Bool = false
    ) async throws(Complaint) {
        let name = try VolumeName(name)
        let wanted = try VolumeOptions(options)
        try await turns.run("volume \(name.text)") { () async throws(Complaint) in
            if let known = try state.volumes.record(name.text) {
                guard try VolumeOptions(known.options) == wanted else {
                    throw Complaint(
                        .deviceExists, "the volume \(name.text) is there with other options; remove it first")
                }
                return
            }
            if let secret = wanted.passcodeSecret { _ = try passcode(secret) }
            var record = VolumeRecord(name: name, options: options, device: name, app: nil)
            record.isEphemeral = isEphemeral
            switch wanted.source {
            case .template, .snapshot, .copy: try await createDevice(record, wanted)
            case .beside(let other), .control(let other):
                let shown = try required(other)
                try await onDevice(of: shown) { () async throws(Complaint) in
                    // It may have been removed before this turn.
                    record.device = try required(other).device
                    if case .beside = wanted.source {
                        record.app = try app(wanted.app, of: state.device(record.device)).text
                        try requireNoOther(record)
                    }
                    try state.volumes.write(record)
                }
            }
        }
    }

    /// A device shows an app at one place.
    private func requireNoOther(_ record: VolumeRecord) throws(Complaint) {
        let others = state.volumes(ofDevice: record.device)
        guard let other = others.first(where: { $0.app == record.app }) else { return }
        throw Complaint(
            .badRequest,
            "the volume \(other.name) shows the app \(record.app ?? "") of this device already; name another app")
    }

    private func createDevice(_ record: VolumeRecord, _ wanted: VolumeOptions) async throws(Complaint) {
        let place = state.device(record.name)
        try await onDevice(of: record) { () async throws(Complaint) in
            // Of a call that was interrupted.
            try await removeDevice(place)
            try await makeDevice(at: place, from: wanted.source)
            do throws(Complaint) {
                var record = record
                record.app = try app(wanted.app, of: place).text
                if wanted.capacity != nil || wanted.user != nil {
                    try await blocking { () throws(Complaint) in
                        try StoredDevice.configure(place, capacity: wanted.capacity, user: wanted.user)
                    }
                }
                try state.volumes.write(record)
            } catch {
                try? await removeDevice(place)
                throw error
            }
        }
    }

    private func makeDevice(at place: String, from source: VolumeOptions.Source) async throws(Complaint) {
        switch source {
        case .template(let template): try await templates.makeDevice(at: place, from: template)
        case .snapshot(let name):
            guard try state.snapshots.record(name.text) != nil else {
                throw Complaint(.notFound, "there is no snapshot \(name.text)")
            }
            try await clone(state.copy(name.text), to: place)
        case .copy(let name), .beside(let name), .control(let name):
            try await clone(state.device(try required(name).device), to: place)
        }
    }

    /// Clones a device, which is shut down.
    /// - Throws: ``Complaint`` of kind `deviceBusy` for one that is in use.
    func clone(_ device: String, to place: String) async throws(Complaint) {
        try await blocking { () throws(Complaint) in try StoredDevice.clone(device, to: place, counting: false) }
    }

    /// The app that a volume shows: the one that is asked for, or the only one of the device.
    /// - Throws: ``Complaint`` of kind `unknownApp` or `badRequest`.
    private func app(
        _ wanted: ContainerIdentifier?, of device: String
    ) throws(Complaint) -> ContainerIdentifier {
        let apps = try DeviceDirectory.open(at: device).apps()
        if let wanted {
            guard apps.contains(where: { $0.identifier == wanted }) else {
                throw Complaint(.unknownApp, "\(wanted) is not installed in the template of the volume")
            }
            return wanted
        }
        let own = apps.filter { $0.place == nil }
        guard let only = own.first, own.count == 1 else {
            let names = own.isEmpty ? "none" : own.map(\.identifier.text).joined(separator: ", ")
            throw Complaint(.badRequest, "name the app of the volume with the option app; the device has \(names)")
        }
        return only.identifier
    }

    /// - Throws: ``Complaint`` of kind `notFound` where there is no directory of secrets.
    func passcode(_ secret: FileName) throws(Complaint) -> String {
        guard let secrets else {
            throw Complaint(
                .notFound, "there are no secrets: volumes are served without the option --secrets, which has passcodes")
        }
        return try secrets.passcode(secret)
    }

    // MARK: Removing

    /// Removes a volume, with its device where that was made for it. One that is not there is no error.
    /// - Throws: ``Complaint`` of kind `inUse` while a container sees it, or another volume is on its device.
    public func remove(_ name: String) async throws(Complaint) {
        let name = try VolumeName(name)
        try await turns.run("volume \(name.text)") { () async throws(Complaint) in
            guard let record = try state.volumes.record(name.text) else {
                // The rest of a removal that failed behind the record.
                return try await onDevice(named: name.text) { () async throws(Complaint) in
                    try await removeDevice(state.device(name.text))
                }
            }
            try await onDevice(of: record) { () async throws(Complaint) in
                let others = state.volumes(ofDevice: name.text).filter { $0.name != name.text }
                if let first = others.first {
                    throw Complaint(
                        .inUse, "the volume \(first.name) is on the device of \(name.text); remove that one first")
                }
                try await remove(record)
            }
        }
    }

    private func remove(_ record: VolumeRecord) async throws(Complaint) {
        if !record.uses.isEmpty, isSeen(record) {
            throw Complaint(.inUse, "the volume \(record.name) is in use; stop the containers that have it")
        }
        try await hide(record)
        try state.volumes.remove(record.name)
        if record.device == record.name { try await removeDevice(state.device(record.device)) }
    }

    /// Removes a device that no volume has any more.
    func removeDevice(_ place: String) async throws(Complaint) {
        guard (try? HostPath.status(place, following: false)) != nil else { return }
        do throws(Complaint) {
            try await processes.end(place)
            try await blocking { () throws(Complaint) in try StoredDevice.delete(place) }
        } catch {
            // The remains of a removal that was interrupted.
            guard error.kind == .notADevice else { throw error }
            try await blocking { () throws(Complaint) in
                try Complaint.wrap("cannot remove \(place)") { () throws(SystemError) in
                    guard let (directory, name) = HostPath.place(of: place) else { return }
                    _ = try Descriptor.openDirectory(byOwnLinks: directory).removeTree(name)
                }
            }
        }
    }
}
