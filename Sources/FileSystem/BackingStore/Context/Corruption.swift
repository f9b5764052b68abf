// The report of stored bytes that did not authenticate.

/// Stored bytes that did not authenticate.
public struct Corruption: Hashable, Sendable {
    public enum Place: Hashable, Sendable {
        case header
        case length
        case group(Int)
        case block(Int64)
        /// An entry of a bundle that is not what was installed.
        case entry
        /// The class that a directory gives to new entries.
        case directoryClass
    }

    /// Inode number of the backing file or directory.
    public let inode: UInt64
    public let place: Place
}
