// The owner of new entries: a superuser's daemon gives them to the caller.

import Glibc
import Platform
import SandboxModel

/// The effective user and group of the daemon.
struct DaemonCredentials: Sendable {
    let user: uid_t
    let group: gid_t

    init(user: uid_t = geteuid(), group: gid_t = getegid()) {
        self.user = user
        self.group = group
    }

    var isSuperuser: Bool { user == 0 }

    /// Owner and group that a new entry must be given; nil when the host gives it the right ones by itself.
    func newOwner(for caller: Caller, in directory: SharedDescriptor) throws(SystemError) -> (uid_t, gid_t)? {
        guard isSuperuser, caller.user != 0 || caller.group != group else { return nil }
        let passesGroup = try directory.descriptor.status().mode & S_ISGID != 0
        return (caller.user, passesGroup ? gid_t.max : caller.group)
    }

    /// Gives a new entry to the caller, as the host would have if the caller had made it.
    ///
    /// The kernel has applied the caller's umask. A directory with the set-group-ID bit passes its group on, and the
    /// host has done that already.
    ///
    /// - Parameter mode: the final mode; nil for a symbolic link, which has none.
    /// - Returns: the entry's status on the host.
    func give(
        _ name: FileName, in directory: SharedDescriptor, to caller: Caller, mode: FileMode?
    ) throws(SystemError) -> FileStatus {
        do throws(SystemError) {
            if let (owner, group) = try newOwner(for: caller, in: directory) {
                try directory.descriptor.changeOwner(of: name, to: owner, group: group)
            }
            var status = try directory.descriptor.status(of: name)
            if let mode {
                let inherited = status.kind == .directory ? status.mode & S_ISGID : 0
                if status.permissions != mode | inherited {
                    // The kernel has decided whether the caller may set the bits.
                    try SetIDCapability.raised { () throws(SystemError) in
                        try directory.descriptor.changeMode(of: name, to: mode | inherited)
                    }
                    status = try directory.descriptor.status(of: name)
                }
            }
            return status
        } catch {
            // The entry was never acknowledged: it must not stay behind with another owner.
            try? directory.descriptor.removeFile(name)
            try? directory.descriptor.removeDirectory(name)
            throw error
        }
    }
}
