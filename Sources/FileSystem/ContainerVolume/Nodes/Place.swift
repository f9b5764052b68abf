// A node's location on the host, and the system calls on that location.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// A node's location on the host.
enum Place {
    /// A directory and the node's name in it.
    case entry(SharedDescriptor, FileName)
    /// A container's root, or a node without a name. The descriptor may have been opened with O_PATH.
    case descriptor(SharedDescriptor)
    /// A directory of this filesystem that the host does not have.
    case none
}

extension Place {
    /// The host's status of the node.
    func status() throws(SystemError) -> FileStatus {
        switch self {
        case .entry(let directory, let name): try directory.descriptor.status(of: name)
        case .descriptor(let node): try node.descriptor.status()
        case .none: throw .noEntry
        }
    }

    func changeOwner(_ owner: uid_t, group: gid_t) throws(SystemError) {
        switch self {
        case .entry(let directory, let name):
            try directory.descriptor.changeOwner(of: name, to: owner, group: group)
        case .descriptor(let node): try node.descriptor.changeOwnerOfNamed(owner, group: group)
        case .none: throw .notPermitted
        }
    }

    func changeMode(_ mode: mode_t) throws(SystemError) {
        switch self {
        case .entry(let directory, let name): try directory.descriptor.changeMode(of: name, to: mode)
        case .descriptor(let node): try node.descriptor.changeModeOfNamed(mode)
        case .none: throw .notPermitted
        }
    }

    func changeTimes(access: timespec, modification: timespec) throws(SystemError) {
        switch self {
        case .entry(let directory, let name):
            try directory.descriptor.changeTimes(of: name, access: access, modification: modification)
        case .descriptor(let node):
            try node.descriptor.changeTimesOfNamed(access: access, modification: modification)
        case .none: throw .notPermitted
        }
    }

    /// Makes a call that the kernel has allowed its caller, with permission bits that the daemon's own user may lack.
    /// The mode changes for the time of the call.
    func withPermission<Result>(
        _ bits: mode_t, _ body: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            guard error == .accessDenied else { throw error }
            let mode = try permissions()
            try changeMode(mode | bits)
            defer { try? changeMode(mode) }
            return try body()
        }
    }

    private func permissions() throws(SystemError) -> mode_t {
        switch self {
        case .entry(let directory, let name): try directory.descriptor.status(of: name).hostPermissions
        case .descriptor(let node): try node.descriptor.status().hostPermissions
        case .none: throw .accessDenied
        }
    }
}
