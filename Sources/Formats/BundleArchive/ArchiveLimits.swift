// Limits for archives.

extension AppArchive {
    /// Limits of the disk space and memory that an archive can take.
    public struct Limits: Sendable {
        /// Entries, and directories that have no entry of their own. The largest apps have some 50,000 files.
        public var entries = 1 << 18
        /// Symbolic links: apps for a device have next to none, and the targets are held in memory.
        public var links = 1 << 14
        /// Bytes of the table of contents, which is held in memory: 256 for each entry, more than names take.
        public var table: Int64 = 64 << 20
        /// Bytes of all files. App Store apps have at most 4 GB; other apps may have more.
        public var bytes: Int64 = 64 << 30
        /// The unpacked size by the archive's size. Deflate reaches 1032, but whole apps 2 to 5.
        public var ratio: Int64 = 200
        /// The unpacked size in bytes up to which any ratio is allowed: small archives may be all zeros.
        public var bytesOfAnyRatio: Int64 = 64 << 20
        /// Names in a path.
        public var depth = 128

        public static let standard = Limits()

        public init() {}
    }

    /// PATH_MAX: no program can open a file by a longer path.
    static let longestPath = 4096
    /// The limit of symlink(2).
    static let longestTarget: Int64 = 4095
}
