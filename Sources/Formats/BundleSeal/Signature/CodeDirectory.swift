// What a code signature seals: digests of a program's pages and of what belongs to it.

public import HashFunctions

/// A code directory: the blob that a signature is made over (xnu, osfmk/kern/cs_blobs.h; Apple, TN3126).
///
/// It holds a hash for each page of the code, and hashes of what lies elsewhere under special slots, which count
/// backwards from the first page. Who trusts the hash of the directory can check everything else.
public struct CodeDirectory: Equatable, Sendable {
    /// The blob as it is.
    public let bytes: [UInt8]
    public let version, flags: UInt32
    public let identifier: String
    public let teamIdentifier: String?
    public let hash: HashFunction
    /// Bytes of each hash. SHA-256 may be cut to 20, to fit where SHA-1 was.
    public let hashSize: Int
    /// Bytes of the code, from the beginning of the program.
    public let codeLimit: UInt64
    /// Bytes of a page, of which the last may have fewer; nil when the whole code is one.
    public let pageSize: Int?
    public let codeSlots: Int
    /// How many special slots there is room for; any of them may be absent.
    public let specialSlots: Int
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

    /// The hash under a special slot; nil when there is none, which the format says with zeros.
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

    /// The hash of something as this directory would hold it.
    public func digest(of bytes: [UInt8]) -> [UInt8] {
        cut(hash.digest(of: bytes))
    }

    /// A digest cut to the size of the directory's hashes.
    func cut(_ digest: [UInt8]) -> [UInt8] {
        digest.count == hashSize ? digest : Array(digest.prefix(hashSize))
    }

    /// The directory's own hash, by which everybody else names the program (TN3126, "cdhash"): the first 20 bytes of
    /// its digest, whatever its hash function is.
    public var codeDirectoryHash: [UInt8] {
        Array(hash.digest(of: bytes).prefix(20))
    }

    /// CS_ADHOC: nobody has signed the directory.
    public var isAdHoc: Bool { flags & 0x2 != 0 }
}

/// What the blob looks like.
extension CodeDirectory {
    static let magic: UInt32 = 0xFADE_0C02
    /// The version that brought a field. Earlier blobs have other bytes there.
    enum Version {
        static let earliest: UInt32 = 0x20001
        static let scatter: UInt32 = 0x20100
        static let team: UInt32 = 0x20200
        static let codeLimit64: UInt32 = 0x20300
        static let executableSegment: UInt32 = 0x20400
        static let preEncryption: UInt32 = 0x20500
        static let linkage: UInt32 = 0x20600
        /// The last that a reader of these fields understands: later ones may mean something else by them.
        static let limit: UInt32 = 0x2F000
    }

    /// Bytes of the fixed fields.
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
