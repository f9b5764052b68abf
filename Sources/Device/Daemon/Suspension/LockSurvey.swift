// The locks that processes hold on files of group containers.

import AppContainer
import ContainerMount
import ContainerVolume
import Glibc
import Platform
import SandboxModel
import SandboxPolicy

/// A look at processes and their locks. The kernel keeps the locks of a mount by itself, so they are read from /proc,
/// and no call goes to the mount.
struct LockSurvey {
    private let volumes: [UInt64: Volume]
    /// The files that were looked up, by device and inode; nil for one in no group container.
    private var files: [FileNumber: LockedFile?] = [:]

    private struct FileNumber: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    init(_ mounts: Mounts) {
        volumes = mounts.table.volumesByDevice
    }

    /// The locks for which a process would be ended.
    /// - Throws: as ``Platform/HeldFileLock/all(of:)``.
    mutating func breaches(by process: pid_t) throws(SystemError) -> [SuspensionBreach] {
        guard !volumes.isEmpty else { return [] }
        var locked: [LockedFile] = []
        for held in try HeldFileLock.all(of: process) {
            guard var file = file(of: held) else { continue }
            file.locks = [held.lock]
            locked.append(file)
        }
        return SandboxPolicy.breachesOfSuspension(by: locked)
    }

    private mutating func file(of held: HeldFileLock) -> LockedFile? {
        let number = FileNumber(device: held.device, inode: held.inode)
        if let known = files[number] { return known }
        let file = volumes[held.device]?.fileInGroup(inode: held.inode)
        files[number] = .some(file)
        return file
    }
}
