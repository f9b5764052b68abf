// The mode of a file as the mount shows it. No backing file carries a set-user-ID or set-group-ID bit.

import Glibc
public import Platform
public import SandboxModel

/// Set-ID bits of files, which are kept beside the backing file's mode.
///
/// A backing file lies on the host, where its set-ID bits would count: whatever gets such a bit there, in whatever way,
/// would be a program of its owner for everybody. So set-user-ID, set-group-ID and sticky bit are in an extended
/// attribute, and the backing file's sticky bit, which Linux ignores on files, is the sign that it has one. A file
/// without the sign costs no look at the attribute. Directories, fifos and sockets have their bits on the host: nobody
/// executes them. Modes are of the type mode_t.
public enum NodeModes {
    /// Holds the bits in octal digits.
    public static let attributeName = Array("user.appcontainer.mode".utf8)
    static let sign = S_ISVTX
    private static let kept = S_ISUID | S_ISGID | S_ISVTX

    /// Whether a file's attribute is to be looked at.
    @inline(__always)
    public static func hasSign(_ status: FileStatus) -> Bool { status.kind == .file && status.mode & sign != 0 }

    /// The status with the mode that the app gave the file.
    /// - Parameter attribute: the value of ``attributeName``; nil for none. Called for a file with the sign only.
    @inline(__always)
    public static func shown(_ status: FileStatus, _ attribute: () -> [UInt8]?) -> FileStatus {
        guard status.kind == .file, status.mode & kept != 0 else { return status }
        var shown = status
        shown.raw.st_mode &= ~kept
        if status.mode & sign != 0 { shown.raw.st_mode |= bits(attribute()) }
        return shown
    }

    /// The sign alone is a sticky bit: one that the file has from an older version, or from the host.
    private static func bits(_ value: [UInt8]?) -> mode_t {
        guard let value, value.count <= 4, let bits = mode_t(String(decoding: value, as: UTF8.self), radix: 8),
            bits & ~kept == 0
        else { return sign }
        return bits
    }

    /// The mode on the host of a file that is to have a mode.
    public static func stored(_ mode: UInt32) -> UInt32 { mode & 0o777 | (mode & kept == 0 ? 0 : sign) }

    /// The value of ``attributeName`` for a mode; nil where the file needs none.
    public static func attribute(of mode: UInt32) -> [UInt8]? {
        mode & kept == 0 ? nil : Array(String(mode & kept, radix: 8).utf8)
    }

    /// The permissions that write(2) and chown(2) leave a file, as ext4 clears set-ID bits.
    /// - Parameter inGroup: whether the caller is of the file's group, or has CAP_FSETID. Asked for set-group-ID where
    ///   the group may not execute.
    public static func cleared(_ permissions: UInt32, inGroup: () -> Bool) -> UInt32 {
        var mode = permissions & ~S_ISUID
        if mode & S_ISGID != 0, mode & S_IXGRP != 0 || !inGroup() { mode &= ~S_ISGID }
        return mode
    }

    /// Gives an entry that was just made, and that has no such attribute, a mode.
    /// - Parameter name: of a file, directory, fifo or socket; not of a link.
    public static func give(
        _ mode: UInt32, to name: FileName, kind: FileStatus.Kind, in directory: borrowing Descriptor
    ) throws(SystemError) {
        guard kind == .file else {
            return try directory.changeMode(of: name, to: mode)
        }
        if let value = attribute(of: mode) {
            // First: the sign without the attribute would be another mode.
            try AttributeHolder(name, in: directory).set(attributeName, to: value)
        }
        try directory.changeMode(of: name, to: stored(mode))
    }
}

extension FileStatus {
    /// The permissions for a mode that is changed for a moment and put back. Set-ID bits that somebody else gave a
    /// backing file are left out.
    public var hostPermissions: UInt32 { kind == .file ? permissions & 0o1777 : permissions }
}
