// The record of one file in Manifest.db.

import BackupModel

/// The MBFile of a row: Apple's fields, and one field of this project.
///
/// Apple does not document MBFile; the names are those of the backups that Finder and iTunes make since iOS 10.2.
struct FileRecord: Equatable {
    /// Type and permissions, as `st_mode` of stat(2). The type is 0 for sealed files, so that other tools skip them.
    var mode: Int64
    var owner: Int64
    var group: Int64
    /// Bytes of the content.
    var size: Int64 = 0
    /// Seconds since 1970.
    var modified: Int64
    /// A running number in this project's backups, equal for all names of one file.
    var inode: Int64 = 0
    /// The number of the protection class; 0 for none.
    var protection: Int64 = 0
    /// The target of a symbolic link.
    var target: String?
    /// The class in four bytes, little-endian, then the file's key wrapped under the class key.
    var encryptionKey: [UInt8]?
    /// By Apple's names, which have no `user.`.
    var attributes: [String: [UInt8]] = [:]
    var addition: Addition?

    /// Facts that MBFile has no field for. Other tools ignore them.
    struct Addition: Equatable {
        var nanoseconds: Int64 = 0
        /// The modification time in seconds, if it is outside ``presentableTimes``.
        var seconds: Int64?
        /// SHA-256 of the content before encryption, holes as zeros.
        var digest: [UInt8]?
        /// The bounds of the ranges that are not holes; nil if there are no holes.
        var dataRanges: [Int64]?
        /// The identifier of the keybag of the only device that can decrypt the content of a sealed file.
        var sealedBy: [UInt8]?
        /// The first path of a file, in the same domain, if this is a further name.
        var hardLinkOf: [UInt8]?
        /// The path, if it is not UTF-8.
        var path: [UInt8]?
        /// The target, if it is not UTF-8.
        var target: [UInt8]?
        /// Attributes that have no form among Apple's names, by the host's names.
        var attributes: [BackupEntry.Attribute] = []
        /// Whether all attributes are in the table `Properties`, because the row would exceed ``largestRow``.
        var hasAttributesApart = false
    }

    /// The key of the addition in the MBFile: data, itself a binary property list.
    static let additionKey = "appcontainer"

    /// The limit of a row in bytes: a popular tool refuses backups with a row above 100 KiB.
    static let largestRow = 96 << 10

    /// The years 1 to 9999 in seconds since 1970: one tool cannot list a backup with a time outside them.
    static let presentableTimes = Int64(-62_135_596_800)...253_402_300_799
}
