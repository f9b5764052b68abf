// The decision whose devices a process serves.

import Glibc
public import Platform
public import SandboxModel

/// A device is served to its own user. Another user's device is refused unless the process names that user: the owner
/// of a device can replace every file in it, between two calls too, and has its keys.
public enum DeviceOwner {
    /// The variable of the environment that names the other user whose devices are served: a login name or a uid.
    public static let variable = "APPCONTAINER_TRUST_OWNER"

    /// Returns if this process serves the device. A superuser's process acts as a trusted owner from then on.
    /// - Parameters:
    ///   - device: the device directory.
    ///   - path: for messages.
    /// - Throws: ``Complaint`` of kind `notADevice`, `foreignOwner`; `notFound` where the variable names nobody.
    static func admit(_ device: borrowing Descriptor, at path: String) throws(Complaint) {
        let status = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in
            // A directory that is no device needs other advice, whoever owns it. It must not become one behind this
            // decision.
            try device.exists(DeviceDirectory.Name.record) ? device.status() : nil
        }
        guard let status else { throw DeviceDirectory.notADevice(path) }
        try requireOwner(status, of: device, at: path)
        try requireSafeAncestors(of: device, at: path)
    }

    private static func requireOwner(
        _ status: FileStatus, of device: borrowing Descriptor, at path: String
    ) throws(Complaint) {
        let user = geteuid()
        guard status.owner != user else {
            if user == 0 { try requireOwnPath(to: device, at: path) }
            return
        }
        let name = Account.name(of: status.owner)
        guard let trusted = try trusted(), trusted == status.owner, !ActingUser.isActing else {
            let words = name ?? "user \(status.owner)"
            throw Complaint(
                .foreignOwner,
                "\(path) belongs to \(words), who could lead this process to other files; do this as that user, or name the "
                    + "user with --trust-owner \(name ?? String(status.owner)), for mount(8) with "
                    + "-o trust-owner=\(name ?? String(status.owner))")
        }
        guard user == 0 else { return }
        let group = Account.named(String(status.owner))?.group ?? status.group
        try Complaint.wrap("cannot act as the owner of \(path)") { () throws(SystemError) in
            try ActingUser.become(status.owner, group: group)
        }
    }

    /// A link of another user leads the superuser to no device of his own, which a command on a user's device would
    /// erase, and to no template, whose keys another device would have.
    /// - Parameters:
    ///   - opened: the path leads to it.
    ///   - kind: of what was opened, for messages.
    /// - Throws: ``Complaint`` of kind `foreignOwner`.
    public static func requireOwnPath(
        to opened: borrowing Descriptor, at path: String, kind: String = "a device of this user"
    ) throws(Complaint) {
        let place = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in
            try HostPath.symbolicLinkTarget("/proc/self/fd/\(opened.number)")
        }
        guard ActingUser.leads(path, to: place) else {
            throw Complaint(
                .foreignOwner,
                "\(path) leads to \(place), \(kind), by way of a directory or a link of somebody else; "
                    + "name \(place) if it is meant")
        }
    }

    /// The user whom the environment names; nil for none.
    private static func trusted() throws(Complaint) -> uid_t? {
        guard let name = ProcessSettings.variable(variable), !name.isEmpty else { return nil }
        guard let account = Account.named(name) else {
            throw Complaint(
                .notFound, "there is no user \(name) on this machine, whom --trust-owner or \(variable) names")
        }
        return account.user
    }

    /// Looks at the directories above: where anybody may rename in one of them, the path soon leads elsewhere.
    private static func requireSafeAncestors(of device: borrowing Descriptor, at path: String) throws(Complaint) {
        let resolved = try Complaint.wrap("cannot look at \(path)") { () throws(SystemError) in
            try HostPath.symbolicLinkTarget("/proc/self/fd/\(device.number)")
        }
        for directory in HostPath.withAncestors(resolved).dropFirst() {
            guard let status = try? HostPath.status(directory, following: false),
                status.permissions & (S_IWOTH | S_ISVTX) == S_IWOTH
            else { continue }
            throw Complaint(
                .foreignOwner,
                "\(path) lies in \(directory), where any user may put another device in its place; "
                    + "close it with: chmod o-w \(directory), or chmod +t \(directory)")
        }
    }
}
