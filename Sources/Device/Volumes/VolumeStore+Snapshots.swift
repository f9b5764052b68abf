// Snapshots: devices as they were, which volumes are made of.

import BackingStore
import Glibc
import Platform
public import SandboxModel

extension VolumeStore {
    public struct Snapshot: Sendable {
        public let name: String
        /// The volume that it was made of, which may be gone.
        public let volume: String
        /// Nanoseconds since 1970.
        public let created: Int64
        /// The capacity of its device in bytes; 0 for that of the host's filesystem.
        public let capacity: Int64
    }

    private func snapshot(_ record: SnapshotRecord) -> Snapshot {
        Snapshot(name: record.name, volume: record.volume, created: record.created, capacity: record.capacity)
    }

    /// All snapshots, by name.
    public var snapshots: [Snapshot] { state.snapshots.records.map(snapshot) }

    /// Makes a snapshot of a volume's device, which no container may have in use.
    /// - Throws: ``Complaint`` of kind `invalidIdentifier`, `notFound`, `deviceExists` for a name that a snapshot of
    ///   another volume has, `deviceBusy`, `noSpace`; nothing is left then.
    public func createSnapshot(_ name: String, of volume: String) async throws(Complaint) -> Snapshot {
        let name = try VolumeName(name)
        let source = try VolumeName(volume)
        return try await turns.run("snapshot \(name.text)") { () async throws(Complaint) in
            if let known = try state.snapshots.record(name.text) {
                guard known.volume == source.text else {
                    throw Complaint(.deviceExists, "the snapshot \(name.text) is there, of the volume \(known.volume)")
                }
                return snapshot(known)
            }
            let volume = try required(source)
            let place = state.copy(name.text)
            return try await onDevice(of: volume) { () async throws(Complaint) in
                // Of a call that was interrupted.
                try await removeDevice(place)
                try await clone(state.device(try required(source).device), to: place)
                let capacity = try DeviceDirectory.open(at: place).settings.capacity ?? 0
                let record = SnapshotRecord(
                    name: name.text, volume: source.text, created: HostTime.now.nanoseconds, capacity: capacity)
                try state.snapshots.write(record)
                return snapshot(record)
            }
        }
    }

    /// Removes a snapshot. Volumes that were made of it stay. One that is not there is no error.
    public func removeSnapshot(_ name: String) async throws(Complaint) {
        let name = try VolumeName(name)
        try await turns.run("snapshot \(name.text)") { () async throws(Complaint) in
            if try state.snapshots.record(name.text) != nil { try state.snapshots.remove(name.text) }
            try await removeDevice(state.copy(name.text))
        }
    }
}
