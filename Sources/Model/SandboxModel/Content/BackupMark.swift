// The mark of exclusion, which keeps a file out of backups.

/// The mark of `URLResourceValues.isExcludedFromBackup`. Its presence counts, not its value.
public enum BackupMark {
    /// The host's attribute of the backing file or directory. `com_apple_backup_excludeItem` is the name of Apple's
    /// Technical Q&A QA1719; Linux requires the prefix `user.`.
    public static let attributeName = "user.com.apple.metadata:com_apple_backup_excludeItem"

    /// The stored value: the binary property list of the string `com.apple.backupd`.
    public static let canonicalValue: [UInt8] =
        Array("bplist00".utf8) + [0x5F, 0x10, 0x11] + Array("com.apple.backupd".utf8) + [8]
        + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 28]
}
