// USER on the command line: the owner of a container.

import Glibc
import Platform
import SandboxModel

/// A user of the host, with the numbers that the container's files will have.
struct HostUser {
    /// The uid.
    let user: UInt32
    /// The gid: the user's primary group.
    let group: UInt32

    /// - Parameter name: a name or a number.
    /// - Throws: ``Complaint`` of kind `notFound`, or `notAllowed` if a user other than root names another user.
    static func named(_ name: String) throws(Complaint) -> HostUser {
        guard let account = Account.named(name) else {
            throw Complaint(.notFound, "there is no user \(name) on this machine")
        }
        guard geteuid() == 0 || account.user == geteuid() else {
            throw Complaint(.notAllowed, "only root can give a container to another user; leave --owner out")
        }
        return HostUser(user: account.user, group: account.group)
    }
}
