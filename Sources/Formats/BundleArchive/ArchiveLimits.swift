// How much an archive may ask for.

extension AppArchive {
    /// Bounds on what an archive makes of disk and memory, whatever it says of itself.
    public struct Limits: Sendable {
        /// Entries, and directories that only the names of others tell of. The largest apps have some 50,000 files.
        public var entries = 1 << 18
        /// Symbolic links: apps for a device have next to none, and the targets are held in memory.
        public var links = 1 << 14
        /// Bytes of the table of contents, which is held in memory: 256 for each entry, more than names take.
        public var table: Int64 = 64 << 20
        /// Bytes of all files. App Store apps end at 4 GB; this leaves room for those that never go there.
        public var bytes: Int64 = 64 << 30
        /// How many times its own size an archive may unpack to. Deflate reaches 1032, but whole apps 2 to 5.
        public var ratio: Int64 = 200
        /// The ratio is asked for above this many bytes: less harms nobody, and small archives may be all zeros.
        public var bytesOfAnyRatio: Int64 = 64 << 20
        /// Names in a path.
        public var depth = 128

        public static let standard = Limits()

        public init() {}
    }

    /// PATH_MAX: what a longer name tells of, no program reaches by its path.
    static let longestPath = 4096
    /// Longer ones cannot be made (symlink(2)).
    static let longestTarget: Int64 = 4095
}
