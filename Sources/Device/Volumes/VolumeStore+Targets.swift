// Volumes at places that somebody else names, as an orchestrator does for each pod.

import Glibc
import Platform
public import SandboxModel

extension VolumeStore {
    /// Shows a volume at a directory, which is made where it is missing. Each target is a use of the volume.
    /// - Parameters:
    ///   - target: an absolute path.
    ///   - isReadOnly: whether it is read-only there.
    ///   - isAlone: whether no other target may show the volume meanwhile.
    ///   - passcode: as for ``begin(_:of:isAlone:passcode:)``.
    /// - Throws: ``Complaint`` of kind `notFound`, `inUse`, `fileExists` where something else is mounted there, or of
    ///   the device.
    public func publish(
        _ name: String, at target: String, isReadOnly: Bool, isAlone: Bool = false, passcode: String? = nil
    ) async throws(Complaint) {
        do throws(Complaint) {
            let place = try await begin(target, of: name, isAlone: isAlone, passcode: passcode)
            try await blocking { () throws(Complaint) in
                try VolumeStore.bind(place, at: target, isReadOnly: isReadOnly)
            }
        } catch {
            // A target that shows the volume already keeps its use.
            if error.kind != .fileExists || MountInfo.topmost(at: target) == nil {
                try? await end(target, of: name, mayBeAnother: false)
            }
            throw error
        }
    }

    /// Takes the volume away that a directory shows, and removes the directory. A volume that is gone already is no
    /// error; neither is a target of another volume, which stays.
    /// - Parameter name: of the volume, or another name for one that goes with its last use.
    public func unpublish(_ name: String, from target: String) async throws(Complaint) {
        let records = state.volumes.records
        let isOthers = records.contains { $0.name != name && !$0.isEphemeral && $0.uses.contains(target) }
        guard !isOthers || !records.contains(where: { $0.name == name }) else { return }
        try await blocking { () throws(Complaint) in
            try VolumeStore.unmountAll(at: target)
            do throws(SystemError) {
                try HostDirectory.remove(target)
            } catch {
                guard error == .noEntry else { throw Complaint(error, doing: "cannot remove \(target)") }
            }
        }
        for record in state.volumes.records where record.uses.contains(target) {
            try await end(target, of: record.name, mayBeAnother: false)
        }
    }

    private static func bind(_ place: String, at target: String, isReadOnly: Bool) throws(Complaint) {
        if let found = MountInfo.topmost(at: target) {
            let isAlways = MountInfo.topmost(at: place)?.options.contains("ro") ?? false
            guard isBind(found, of: place), found.options.contains("ro") == (isReadOnly || isAlways) else {
                throw Complaint(.fileExists, "\(target) is a mount point of something else already")
            }
            return
        }
        try Complaint.wrapNamed("cannot show the volume at \(target)") { () throws(SystemError) in
            try HostDirectory.make(target, mode: 0o750)
            if isReadOnly {
                try HostMount.bindReadOnly(place, at: target)
            } else {
                try HostMount.bind(place, at: target)
            }
        }
    }

    /// Whether a mount shows a directory: that of a mount, or of a control socket.
    private static func isBind(_ mount: MountInfo, of place: String) -> Bool {
        let shown = try? HostPath.status(mount.mountPoint).identity
        return shown != nil && shown == (try? HostPath.status(place).identity)
    }
}
