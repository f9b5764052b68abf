// The start on a state directory that another process has left.

import AppContainer
import BackingStore
import Glibc
import Platform
public import SandboxModel

extension VolumeStore {
    /// Removes what belongs to nobody: devices, mounts and imported templates that no record names, and uses from
    /// before the host's last boot. Mounts in use stay as they are.
    /// - Returns: what could not be removed, a line each.
    public func recover() async throws(Complaint) -> [String] {
        var failures: [String] = []
        func trying(_ body: () async throws(Complaint) -> Void) async {
            do throws(Complaint) { try await body() } catch { failures.append(error.message) }
        }
        for var record in state.volumes.records where !record.uses.isEmpty && record.boot != boot {
            record.uses = []
            await trying { () async throws(Complaint) in try state.volumes.write(record) }
        }
        // Of a volume whose record cannot be read nothing is known: all may be its own.
        guard !state.volumes.hasUnreadable else {
            failures.append("the record of a volume cannot be read, so nothing is removed; see \(state.path)/volumes")
            return failures
        }
        for record in state.volumes.records where record.isEphemeral && record.uses.isEmpty {
            await trying { () async throws(Complaint) in try await removeEphemeral(onDevice: record.device) }
        }
        let records = state.volumes.records
        let used = Set(records.filter { !$0.uses.isEmpty }.map(\.name))
        for name in try state.names(VolumeState.Name.mounts) where !used.contains(name) {
            if let record = records.first(where: { $0.name == name }) {
                await trying { () async throws(Complaint) in try await hide(record) }
            } else {
                removeMountPoint(name)
            }
        }
        let devices = Set(records.map(\.device))
        for name in try state.names(VolumeState.Name.devices) where !devices.contains(name) {
            await trying { () async throws(Complaint) in try await removeDevice(state.device(name)) }
        }
        let snapshots = Set(state.snapshots.records.map(\.name))
        for name in try state.names(VolumeState.Name.copies)
        where !snapshots.contains(name) && !state.snapshots.hasUnreadable {
            await trying { () async throws(Complaint) in try await removeDevice(state.copy(name)) }
        }
        let kept = try templates.imported()
        for name in try state.names(VolumeState.Name.templates) where !kept.contains(name) {
            await trying { () async throws(Complaint) in try await removeDevice(state.template(name)) }
        }
        return failures
    }
}
