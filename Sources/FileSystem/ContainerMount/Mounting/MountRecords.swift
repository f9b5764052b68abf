// The table of mounted apps, as a value without locks, threads or system calls.

import ContainerVolume
import FuseBridge
import Platform
import SandboxModel

/// One mount of the table.
struct MountRecord: Sendable {
    var mount: ActiveMount
    let place: MountPlace
    var home: Home
    let volume: Volume
    /// The mount's own session; nil for a bind of the device's mount.
    let session: Session?
    /// Unmounted lazily or from outside, but still in use.
    var isDetached = false
    /// The connection's number, for the guard of mounts.
    var connection: UInt32?
    /// nil where the kernel has no such numbers.
    var number: MountNumber?
}

/// The mounts of one device, by serial number.
struct MountRecords: Sendable {
    private var bySerial: [UInt64: MountRecord] = [:]
    private var lastSerial: UInt64 = 0

    /// Detached ones included, in the order in which they were mounted.
    var all: [MountRecord] { bySerial.values.sorted { $0.mount.serial < $1.mount.serial } }

    /// The mounts that are in sight, in the order in which they were mounted.
    var active: [ActiveMount] { all.filter { !$0.isDetached }.map(\.mount) }

    /// The record of an app, detached or not.
    func record(of app: ContainerIdentifier) -> MountRecord? { bySerial.values.first { $0.mount.app == app } }

    /// The mount in sight at one of the paths.
    func active(at paths: Set<String>) -> MountRecord? {
        bySerial.values.first { !$0.isDetached && paths.contains($0.mount.mountPoint) }
    }

    mutating func makeSerial() -> UInt64 {
        lastSerial += 1
        return lastSerial
    }

    mutating func add(_ record: MountRecord) { bySerial[record.mount.serial] = record }

    /// - Returns: nil if another thread has removed it.
    mutating func remove(_ serial: UInt64) -> MountRecord? { bySerial.removeValue(forKey: serial) }

    /// Marks a mount as out of sight.
    /// - Returns: false if it was so already, or is unknown.
    mutating func detach(_ serial: UInt64) -> Bool {
        guard let record = bySerial[serial], !record.isDetached else { return false }
        bySerial[serial]!.isDetached = true
        return true
    }

    /// Gives the records of an updated app its new home.
    mutating func update(_ update: HomeUpdate) {
        for (serial, record) in bySerial where record.mount.app == update.app {
            bySerial[serial]!.home = record.home.updated(update)
        }
    }

    /// Refuses a second mount of an app, and a second superblock of a container.
    /// - Parameter sharesSuperblock: all mounts are binds of one superblock, so they may show the same containers.
    /// - Throws: ``Complaint`` of kind `alreadyMounted` or `groupMounted`.
    func requireFree(_ home: Home, sharesSuperblock: Bool) throws(Complaint) {
        if let other = record(of: home.app) {
            throw Complaint(
                .alreadyMounted,
                other.isDetached
                    ? "\(home.app) is still in use where it was unmounted, at \(other.mount.mountPoint): "
                        + "close what is open there, in every mount namespace that has it"
                    : "\(home.app) is already mounted at \(other.mount.mountPoint)")
        }
        guard !sharesSuperblock else { return }
        for other in bySerial.values {
            let shared =
                Set(home.groups.keys).intersection(other.home.groups.keys)
                .union(Set(home.iCloud.keys).intersection(other.home.iCloud.keys))
            if let container = shared.min() {
                throw Complaint(
                    .groupMounted,
                    "\(container) is already shown by \(other.mount.app) at \(other.mount.mountPoint): "
                        + "unmount that first, or mount both as root")
            }
        }
    }
}
