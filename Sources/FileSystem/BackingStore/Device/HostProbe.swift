// The probe of a host filesystem: each ability that a device needs is tried out.

import Glibc
public import Platform
public import SandboxModel

/// The abilities of a host filesystem that containers need. The raw values are words for messages.
public enum HostAbility: String, CaseIterable, Sendable {
    /// For attributes of applications, and for facts of an entry that the mount hides, such as its last use.
    case userAttributes = "user.* extended attributes"
    /// Holes of an application's file take no space on the host either.
    case sparseFiles = "sparse files"
    case holePunching = "hole punching"
    /// For moves that must not replace an entry.
    case renameKeeping = "rename without replacing (RENAME_NOREPLACE)"
    case renameExchanging = "exchanging two names (RENAME_EXCHANGE)"
    case longNames = "names of 255 bytes"
}

/// Tries the abilities of a host filesystem.
public enum HostProbe {
    /// Tries every ability in an empty directory, and leaves it empty.
    /// - Throws: errors of calls that any filesystem serves, such as ENOSPC.
    public static func missingAbilities(in directory: borrowing Descriptor) throws(SystemError) -> [HostAbility] {
        var missing: [HostAbility] = []
        for ability in HostAbility.allCases where try !has(ability, directory) { missing.append(ability) }
        return missing
    }

    /// The type of a directory's filesystem, as mount(8) names it; `unknown` without /proc.
    public static func filesystemType(of directory: borrowing Descriptor) -> String {
        directory.mountInfo?.type ?? "unknown"
    }

    private static func has(_ ability: HostAbility, _ directory: borrowing Descriptor) throws(SystemError) -> Bool {
        switch ability {
        case .userAttributes: try hasUserAttributes(directory)
        case .sparseFiles: try hasSparseFiles(directory)
        case .holePunching: try hasHolePunching(directory)
        case .renameKeeping: try hasRename(directory, .keeping)
        case .renameExchanging: try hasRename(directory, .exchanging)
        case .longNames: try hasLongNames(directory)
        }
    }

    private static let first: FileName = "probe-1"
    private static let second: FileName = "probe-2"

    /// Tries a file and a directory, as containers need both.
    private static func hasUserAttributes(_ directory: borrowing Descriptor) throws(SystemError) -> Bool {
        let name = Array("user.appcontainer.probe".utf8)
        return try withFile(first, directory) { (_) throws(SystemError) in
            for holder in [AttributeHolder(first, in: directory), AttributeHolder(directory)] {
                do throws(SystemError) {
                    try holder.set(name, to: [1, 2, 3])
                    guard try holder.value(of: name) == [1, 2, 3] else { return false }
                    try holder.remove(name)
                } catch {
                    return false
                }
            }
            return true
        }
    }

    /// Whether a file of 64 MiB with one byte at its end takes less than half of that.
    private static func hasSparseFiles(_ directory: borrowing Descriptor) throws(SystemError) -> Bool {
        try withFile(first, directory) { (file) throws(SystemError) in
            let length: Int64 = 64 << 20
            do throws(SystemError) {
                try file.truncate(to: length)
                try file.write(from: PageBuffer(count: 1), count: 1, to: length - 1)
            } catch {
                // Without sparse files the host may lack the space.
                return false
            }
            return try file.status().blocks < length / 512 / 2
        }
    }

    /// Whether the middle one of three pages reads as zeros, and the bytes beside it are as before.
    private static func hasHolePunching(_ directory: borrowing Descriptor) throws(SystemError) -> Bool {
        try withFile(first, directory) { (file) throws(SystemError) in
            let page = PageBuffer.pageSize
            let buffer = PageBuffer(count: 3 * page)
            buffer.copy([UInt8](repeating: 0xA5, count: buffer.count), to: 0)
            try file.write(from: buffer, count: buffer.count, to: 0)
            do throws(SystemError) {
                try file.punchHole(Int64(page), count: Int64(page))
            } catch {
                return false
            }
            guard try file.read(into: buffer, count: buffer.count, from: 0) == buffer.count else { return false }
            return buffer.load(UInt8.self, at: page - 1) == 0xA5 && buffer.isZero(page, count: page)
                && buffer.load(UInt8.self, at: 2 * page) == 0xA5
        }
    }

    /// Whether the flag has its effect, rather than only that the call succeeds.
    private static func hasRename(
        _ directory: borrowing Descriptor, _ mode: Descriptor.RenameMode
    ) throws(SystemError) -> Bool {
        try withFile(first, directory) { (_) throws(SystemError) in
            try withFile(second, directory) { (file) throws(SystemError) in
                do throws(SystemError) {
                    try directory.rename(first, to: second, in: directory, mode: mode)
                    guard mode == .exchanging else { return false }
                    return try directory.status(of: first).inode == file.status().inode
                } catch {
                    return mode == .keeping && error == .exists
                }
            }
        }
    }

    /// Looks for the name in the listing, in case the filesystem has shortened it.
    private static func hasLongNames(_ directory: borrowing Descriptor) throws(SystemError) -> Bool {
        let name = FileName([UInt8](repeating: UInt8(ascii: "n"), count: FileName.maximumLength))!
        do throws(SystemError) {
            return try withFile(name, directory) { (_) throws(SystemError) in
                let reader = try directory.entries()
                while let entry = try reader.next() { if entry.name == name { return true } }
                return false
            }
        } catch {
            if [.nameTooLong, .invalid, .noEntry].contains(error) { return false }
            throw error
        }
    }

    /// Runs `body` with a new file, and removes the file.
    private static func withFile(
        _ name: FileName, _ directory: borrowing Descriptor,
        _ body: (borrowing Descriptor) throws(SystemError) -> Bool
    ) throws(SystemError) -> Bool {
        let file = try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        defer { try? directory.removeFile(name) }
        return try body(file)
    }
}
