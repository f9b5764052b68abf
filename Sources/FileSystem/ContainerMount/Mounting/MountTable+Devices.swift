// The volumes by the number of their device, by which the kernel names the file of a lock.

public import ContainerVolume
import Platform
import Synchronization

extension MountTable {
    /// The volumes that are mounted, by the device of their superblock as ``HeldFileLock`` has it.
    public var volumesByDevice: [UInt64: Volume] {
        let (whole, records) = state.withLock { ($0.device?.volume, $0.records.all) }
        var found: [UInt64: Volume] = [:]
        for mount in (try? MountInfo.all(from: "\(device):")) ?? [] where mount.type == MountPoint.type {
            let volume = whole ?? records.first { $0.mount.mountPoint == mount.mountPoint }?.volume
            // A filesystem without a block device has the major number 0.
            if let volume { found[HeldFileLock.device(major: 0, minor: UInt64(mount.minor))] = volume }
        }
        return found
    }
}
