// The list after -o, as mount(8) and /etc/fstab write it.

import AppContainer
import SandboxModel

/// The options of a mount by mount(8). Options that are true of every mount of an app, and options that mount(8) or
/// systemd carries out itself, are taken and change nothing. All others are refused: a mount with another meaning than
/// its line in /etc/fstab would surprise.
struct MountOptions: Equatable {
    var readOnly = false
    var running = false
    var documents = false
    var allowOther = false
    var cachedirTag = false
    var passcodeFile: String?
    var transport: MountRequest.Transport?
    /// The value of `trust-owner`.
    var trustedOwner: String?

    /// - Parameters:
    ///   - lists: the values of all `-o`.
    ///   - isSloppy: whether unknown options are left out, as `mount -s` asks for.
    /// - Throws: ``Complaint`` of kind `badRequest` that names the first option that cannot be.
    init(_ lists: [String], isSloppy: Bool = false) throws(Complaint) {
        for list in lists {
            for option in try MountOptions.split(list) {
                let scalars = option.unicodeScalars
                let end = scalars.firstIndex(of: "=")
                let value = end.map { String(scalars[scalars.index(after: $0)...]) }
                try take(String(scalars[..<(end ?? scalars.endIndex)]), value: value, isSloppy)
            }
        }
    }

    /// Divides a list at its commas. As in mount(8), commas between double quotes are part of a value; as in libfuse, a
    /// backslash takes the next character as it is. Empty options are left out.
    private static func split(_ list: String) throws(Complaint) -> [String] {
        var options = [String.UnicodeScalarView()]
        var (isQuoted, isEscaped) = (false, false)
        for scalar in list.unicodeScalars {
            if !isEscaped {
                switch scalar {
                case "\\":
                    isEscaped = true
                    continue
                case "\"":
                    isQuoted.toggle()
                    continue
                case "," where !isQuoted:
                    options.append(String.UnicodeScalarView())
                    continue
                default: break
                }
            }
            isEscaped = false
            options[options.count - 1].append(scalar)
        }
        guard !isQuoted else { throw refused("a quote in the options '\(list)' has no end; close it") }
        return options.filter { !$0.isEmpty }.map { String($0) }
    }

    /// Options without a value.
    private static let flags: [String: any WritableKeyPath<MountOptions, Bool> & Sendable] = [
        "ro": \.readOnly, "running": \.running, "documents": \.documents, "allow_other": \.allowOther,
        "cachedir-tag": \.cachedirTag,
    ]

    private mutating func take(_ name: String, value: String?, _ isSloppy: Bool) throws(Complaint) {
        switch (name, value) {
        case ("rw", nil): readOnly = false
        case ("passcode-file", .some(let file)) where !file.isEmpty: passcodeFile = file
        case ("trust-owner", .some(let owner)) where !owner.isEmpty: trustedOwner = owner
        case ("transport", .some(let word)) where !word.isEmpty:
            guard let named = MountRequest.Transport(rawValue: word) else {
                throw MountOptions.refused("the option transport is auto, dev-fuse or io-uring, and not '\(word)'")
            }
            transport = named
        case ("passcode-file", _), ("trust-owner", _), ("transport", _):
            throw MountOptions.refused("the option \(name) needs a value, as in \(name)=…")
        default:
            guard let flag = MountOptions.flags[name] else {
                return try MountOptions.requireHarmless(name, value, isSloppy)
            }
            guard value == nil else { throw MountOptions.refused("the option \(name) takes no value") }
            self[keyPath: flag] = true
        }
    }

    /// Options with a meaning here, as an error lists them.
    private static let known =
        "ro, rw, running, documents, allow_other, cachedir-tag, passcode-file=FILE, transport=NAME and trust-owner=USER"

    /// Options that hold of each mount anyway: no program gets another user's rights, there are no devices, a read
    /// changes no time of access, and the kernel looks at modes.
    private static let always: Set = [
        "defaults", "nosuid", "nodev", "exec", "async", "noatime", "nodiratime", "relatime", "default_permissions",
        "silent", "loud", "nomand", "noiversion", "nostrictatime", "nolazytime",
    ]

    /// Options for mount(8), for systemd, or for people.
    private static let elsewhere: Set = [
        "auto", "noauto", "nofail", "fail", "_netdev", "user", "nouser", "users", "nousers", "owner", "noowner",
        "group", "nogroup", "comment", "uhelper", "helper",
    ]

    private static func requireHarmless(_ name: String, _ value: String?, _ isSloppy: Bool) throws(Complaint) {
        if always.contains(name) && value == nil { return }
        if elsewhere.contains(name) || name.hasPrefix("x-") || name.hasPrefix("X-") { return }
        switch name {
        case "noexec":
            throw refused(
                "the option noexec cannot be: an app's program runs from its bundle on the mount; in a line of "
                    + "/etc/fstab with user or users, which imply noexec, say exec after them")
        case "remount":
            throw refused("a mounted app cannot be remounted; unmount it, and mount it with other options")
        case "suid", "dev":
            throw refused("the option \(name) cannot be: mounts of an app are nosuid and nodev; leave it out")
        case _ where isSloppy: return
        default:
            throw refused("there is no option '\(name)'; an app is mounted with \(known)")
        }
    }

    private static func refused(_ message: String) -> Complaint { Complaint(.badRequest, message) }
}
