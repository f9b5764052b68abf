// Code directories: the hashes that a code signature covers.

public import HashFunctions

/// A code directory: the blob that a signature is made over (xnu, osfmk/kern/cs_blobs.h; Apple, TN3126).
///
/// It has a hash for each page of the code, and hashes of other parts of the bundle in special slots, which count
/// backwards from the first page. The hash of the directory thus covers everything else.
public struct CodeDirectory: Equatable, Sendable {
    /// The whole blob.
    public let bytes: [UInt8]
    public let version, flags: UInt32
    /// The signing identifier: for a bundle its CFBundleIdentifier.
    public let identifier: String
    public let teamIdentifier: String?
    public let hash: HashFunction
    /// Bytes of each hash. SHA-256 may be cut to 20, the length of SHA-1.
    public let hashSize: Int
    /// Bytes of the code, from the beginning of the program.
    public let codeLimit: UInt64
    /// Bytes of a page (the last may be shorter); nil if the whole code is one page.
    public let pageSize: Int?
    /// The number of code hashes, one for each page.
    public let codeSlots: Int
    /// The number of special slots; any of them may be empty.
    public let specialSlots: Int
    /// The offset of the first page's hash in ``bytes``.
    let hashOffset: Int

    /// The Info.plist of the bundle.
    public static let infoSlot = 1
    /// The requirements blob.
    public static let requirementsSlot = 2
    /// The bundle's `_CodeSignature/CodeResources`.
    public static let resourcesSlot = 3
    /// The entitlements blob.
    public static let entitlementsSlot = 5
    /// The entitlements blob in DER, which newer systems read.
    public static let derEntitlementsSlot = 7

    /// The hash in a special slot; nil for an empty slot, which has zeros.
    public func special(_ slot: Int) -> [UInt8]? {
        guard slot >= 1, slot <= specialSlots else { return nil }
        let start = hashOffset - slot * hashSize
        let hash = Array(bytes[start..<start + hashSize])
        return hash.contains { $0 != 0 } ? hash : nil
    }

    /// The hash of a page.
    public func codeHash(_ index: Int) -> [UInt8] {
        precondition(index >= 0 && index < codeSlots, "no such page")
        let start = hashOffset + index * hashSize
        return Array(bytes[start..<start + hashSize])
    }

    /// The hash of some bytes, in this directory's function and size.
    public func digest(of bytes: [UInt8]) -> [UInt8] {
        cut(hash.digest(of: bytes))
    }

    /// A digest cut to the size of the directory's hashes.
    func cut(_ digest: [UInt8]) -> [UInt8] {
        digest.count == hashSize ? digest : Array(digest.prefix(hashSize))
    }

    /// The directory's own hash, which identifies the program (TN3126, "cdhash"): the first 20 bytes of its digest,
    /// with every hash function.
    public var codeDirectoryHash: [UInt8] {
        Array(hash.digest(of: bytes).prefix(20))
    }

    /// CS_ADHOC: the directory has no signer.
    public var isAdHoc: Bool { flags & 0x2 != 0 }
}

/// Constants of the blob's layout.
extension CodeDirectory {
    /// CSMAGIC_CODEDIRECTORY.
    static let magic: UInt32 = 0xFADE_0C02
    /// The versions that added fields. In earlier blobs other data lies there.
    enum Version {
        static let earliest: UInt32 = 0x20001
        static let scatter: UInt32 = 0x20100
        static let team: UInt32 = 0x20200
        static let codeLimit64: UInt32 = 0x20300
        static let executableSegment: UInt32 = 0x20400
        static let preEncryption: UInt32 = 0x20500
        static let linkage: UInt32 = 0x20600
        /// The last version that keeps the meaning of these fields.
        static let limit: UInt32 = 0x2F000
    }

    /// Bytes of the fixed fields of a version.
    static func headerSize(_ version: UInt32) -> Int {
        switch version {
        case Version.linkage...: 0x6C
        case Version.preEncryption...: 0x60
        case Version.executableSegment...: 0x58
        case Version.codeLimit64...: 0x40
        case Version.team...: 0x34
        case Version.scatter...: 0x30
        default: 0x2C
        }
    }
}
