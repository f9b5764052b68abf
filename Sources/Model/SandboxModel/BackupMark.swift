// The fact that something stays out of backups, as Apple's tools and the host keep it.

/// The mark of `URLResourceValues.isExcludedFromBackup`. That it is there is what counts, not its value.
public enum BackupMark {
    /// The host's attribute that holds it, on the backing file or directory. `com_apple_backup_excludeItem` is the name
    /// that Technical Q&A QA1719 gives; the host needs the prefix `user.`.
    public static let attributeName = "user.com.apple.metadata:com_apple_backup_excludeItem"

    /// What it reads back as, and what is stored: the binary property list of the string `com.apple.backupd`.
    public static let canonicalValue: [UInt8] =
        Array("bplist00".utf8) + [0x5F, 0x10, 0x11] + Array("com.apple.backupd".utf8) + [8]
        + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 28]
}
