// The file of a template, as the user named it.

import BackingStore
import Glibc
public import Platform
public import SandboxModel

extension StoredDevice {
    /// Opens a template.
    /// - Throws: ``Complaint`` of kind `notFound`, `badRequest` or `foreignOwner`, or with the host's error.
    public static func openTemplate(_ path: String) throws(Complaint) -> SharedDescriptor {
        let reading = "cannot read \(path)"
        // Nothing is read before it is known where the path leads.
        let found = try Complaint.wrapNamed(reading) { () throws(SystemError) in
            SharedDescriptor(try Descriptor.openNode(path: path, following: true))
        }
        if geteuid() == 0 { try requireOwn(found.descriptor, at: path) }
        return try Complaint.wrapNamed(reading) { () throws(SystemError) in
            SharedDescriptor(try found.descriptor.reopen(flags: O_RDONLY))
        }
    }

    /// The superuser is led to no template by another user's link, and waits for no other user's pipe.
    private static func requireOwn(_ found: borrowing Descriptor, at path: String) throws(Complaint) {
        let number = found.number
        let place = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in
            try HostPath.symbolicLinkTarget("/proc/self/fd/\(number)")
        }
        // A shell's pipe has no path.
        guard place.hasPrefix("/") else { return }
        try DeviceOwner.requireOwnPath(to: found, at: path, kind: "which lies elsewhere")
        let status = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in try found.status() }
        guard status.kind != .fifo || status.owner == 0 else {
            throw Complaint(
                .foreignOwner,
                "\(path) is a pipe of user \(status.owner), who could let this command wait; name a file, or give the "
                    + "template by standard input")
        }
    }
}
