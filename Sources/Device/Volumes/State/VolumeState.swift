// The state directory: the devices of the volumes, their records and their mount points.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// A directory that one process at a time has:
///
/// - `volumes/NAME.json`: the record of each volume
/// - `devices/NAME`: the device that was made for a volume
/// - `mounts/NAME`: where the volume is seen
/// - `templates/DIGEST`: devices that were imported from templates, which the devices are clones of
/// - `snapshots/NAME.json`, `copies/NAME`: the record of each snapshot, and its device
///
/// A record is the last that is made of a volume, and the first that is removed: what has none belongs to nobody.
final class VolumeState: Sendable {
    enum Name {
        static let lock: FileName = "lock"
        static let volumes: FileName = "volumes"
        static let devices: FileName = "devices"
        static let mounts: FileName = "mounts"
        static let templates: FileName = "templates"
        static let snapshots: FileName = "snapshots"
        static let copies: FileName = "copies"
        static let all = [volumes, devices, mounts, templates, snapshots, copies]
    }

    /// Resolved.
    let path: String
    let root: SharedDescriptor
    let volumes: RecordTable<VolumeRecord>
    let snapshots: RecordTable<SnapshotRecord>
    /// Held for the life of this value.
    private let lock: SharedDescriptor

    /// Makes the directory, or opens it.
    /// - Throws: ``Complaint`` of kind `inUse` where another process has it, `fileExists` where something else is in
    ///   it, `notAllowed` where it is another user's or below a directory of another user's.
    init(_ path: String) throws(Complaint) {
        let doing = "cannot use \(path) for the state of volumes"
        let opened = try Complaint.wrapNamed(doing) { () throws(SystemError) in
            let absolute = HostPath.withoutTrailingSlashes(try HostPath.absolute(path))
            try HostDirectory.make(absolute)
            return SharedDescriptor(try Descriptor.openDirectory(byOwnLinks: absolute))
        }
        root = opened
        try VolumeState.requireOwnPlace(opened.descriptor, path, doing)
        // The start removes all that belongs to nobody.
        guard try Complaint.wrap(doing, { () throws(SystemError) in try VolumeState.isUsable(opened.descriptor) })
        else {
            throw Complaint(.fileExists, "\(doing): it has other files; name a directory that is empty, or to be made")
        }
        let held = try Complaint.wrap(doing) { () throws(SystemError) in
            let status = try opened.descriptor.status()
            guard status.owner == geteuid(), status.permissions & (S_IWGRP | S_IWOTH) == 0 else {
                throw .notPermitted
            }
            // The first that is made: it tells that the rest is of volumes.
            let lock = try opened.descriptor.openRecord(Name.lock, flags: O_RDWR | O_CREAT, mode: 0o600)
            for name in Name.all where try !opened.descriptor.exists(name) {
                try opened.descriptor.makeDirectory(name, mode: S_IRWXU)
            }
            return SharedDescriptor(lock)
        }
        let (place, tables) = try Complaint.wrap(doing) { () throws(SystemError) in
            (
                try HostPath.symbolicLinkTarget("/proc/self/fd/\(opened.descriptor.number)"),
                [try VolumeState.table(Name.volumes, in: opened), try VolumeState.table(Name.snapshots, in: opened)]
            )
        }
        guard try Complaint.wrap(doing, { () throws(SystemError) in try held.descriptor.tryLock() }) else {
            throw Complaint(.inUse, "\(path) is in use by another process that serves volumes; end that first")
        }
        (self.path, lock) = (place, held)
        volumes = try RecordTable(tables[0], path: "\(place)/\(Name.volumes.text)")
        snapshots = try RecordTable(tables[1], path: "\(place)/\(Name.snapshots.text)")
    }

    /// Whether a directory is one of this kind, or empty.
    private static func isUsable(_ directory: borrowing Descriptor) throws(SystemError) -> Bool {
        if try directory.exists(Name.lock) { return true }
        // The root of a filesystem has that one.
        return try directory.names { $0 != "lost+found" }.isEmpty
    }

    /// Paths below a directory are used again and again: nobody else may put another one in its place.
    static func requireOwnPlace(
        _ directory: borrowing Descriptor, _ path: String, _ doing: String
    ) throws(Complaint) {
        let found: String?
        do throws(SystemError) {
            found = try directory.directoryOfOthers()
        } catch {
            throw Complaint(error, doing: doing)
        }
        guard let found else { return }
        throw Complaint(
            .notAllowed,
            "\(doing): other users can rename what is in \(found); name a place where the superuser and you alone can")
    }

    private static func table(_ name: FileName, in root: SharedDescriptor) throws(SystemError) -> SharedDescriptor {
        SharedDescriptor(try root.descriptor.openDirectory(name).reopen(flags: O_RDONLY | O_DIRECTORY))
    }

    // MARK: Places

    /// Removes what lies in a volume's mount point, at which nothing is mounted, and the mount point.
    func removeMountPoint(_ name: String) {
        guard let name = FileName(name) else { return }
        _ = try? root.descriptor.openDirectory(Name.mounts).removeTree(name)
    }

    func device(_ name: String) -> String { "\(path)/\(Name.devices.text)/\(name)" }

    func mountPoint(_ name: String) -> String { "\(path)/\(Name.mounts.text)/\(name)" }

    func template(_ name: String) -> String { "\(path)/\(Name.templates.text)/\(name)" }

    func copy(_ name: String) -> String { "\(path)/\(Name.copies.text)/\(name)" }

    /// The names in one of the directories.
    func names(_ directory: FileName) throws(Complaint) -> [String] {
        try Complaint.wrap("cannot list \(path)/\(directory.text)") { () throws(SystemError) in
            try root.descriptor.openDirectory(directory).names { _ in true }.map(\.text).sorted()
        }
    }

    /// The volumes of the device that was made for a volume.
    func volumes(ofDevice name: String) -> [VolumeRecord] { volumes.records.filter { $0.device == name } }
}
