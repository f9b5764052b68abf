// The report of stored bytes that did not authenticate.

public import SandboxModel

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
        /// A record of the device, by its name.
        case record(FileName)
    }

    /// Inode number of the backing file or directory; 0 for a record, which may be missing.
    public let inode: UInt64
    public let place: Place

    /// A record of the device that is missing, or that the device did not write.
    public static func ofRecord(_ name: FileName) -> Corruption { Corruption(inode: 0, place: .record(name)) }
}
