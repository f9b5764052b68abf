// What a Finder backup keeps of one file beside its name.

import BackupModel

/// One row's MBFile: Apple's fields by Apple's names, and what this project adds to them.
struct FileRecord: Equatable {
    /// With the type, as stat(2) has it. Zero in the type's place for what no other tool is to take for a file.
    var mode: Int64
    var owner: Int64
    var group: Int64
    var size: Int64 = 0
    /// Seconds since 1970.
    var modified: Int64
    /// The same for all names of one file, in backups of our own; it is a running number.
    var inode: Int64 = 0
    /// A `ProtectionClass`, or 0 where there is none.
    var protection: Int64 = 0
    var target: String?
    /// The class in four bytes, then the key wrapped under it.
    var encryptionKey: [UInt8]?
    /// By Apple's names, which lack the host's `user.`.
    var attributes: [String: [UInt8]] = [:]
    var addition: Addition?

    /// What MBFile has no place for. Other tools pass over it.
    struct Addition: Equatable {
        var nanoseconds: Int64 = 0
        /// Of the time of modification where it lies outside the years that tools can show.
        var seconds: Int64?
        /// Of the content as it is before it is encrypted, holes as zeros.
        var digest: [UInt8]?
        /// Where the content is no hole: begin and end in turns; nil for all of it.
        var dataRanges: [Int64]?
        /// The identifier of the keybag whose device alone can make something of the content.
        var sealedBy: [UInt8]?
        /// Of a further name of a file the path of the first, in the same domain.
        var hardLinkOf: [UInt8]?
        /// Where the path is not UTF-8.
        var path: [UInt8]?
        /// Where the target is not UTF-8.
        var target: [UInt8]?
        /// Attributes that Apple's names cannot express, by the host's names.
        var attributes: [BackupEntry.Attribute] = []
        /// All attributes lie in the table `Properties`, because a row with them would be larger than tools take.
        var hasAttributesApart = false
    }

    /// The key of the addition among MBFile's own: data, itself a binary property list.
    static let additionKey = "appcontainer"

    /// A tool that is much used refuses a backup in which any row is larger than 100 KiB.
    static let largestRow = 96 << 10

    /// The years 1 to 9999 in seconds since 1970. With a time outside of them a tool lists nothing of the backup at all.
    static let presentableTimes = Int64(-62_135_596_800)...253_402_300_799
}
