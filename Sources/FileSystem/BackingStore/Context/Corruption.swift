// The report of stored bytes that did not authenticate.

/// Stored bytes that did not authenticate.
public struct Corruption: Hashable, Sendable {
    public enum Place: Hashable, Sendable {
        /// The header, or a map page.
        case header
        /// The length of the backing file, which contradicts the header.
        case length
        /// The tag page of a group, by the group's number.
        case group(Int)
        /// A block of content, by its number in the file.
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
