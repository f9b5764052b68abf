// Code directories from bytes, in the layout of CS_CodeDirectory (xnu, osfmk/kern/cs_blobs.h). Integers are big-endian.

import HashFunctions

extension CodeDirectory {
    /// The limit of identifier and team identifier, in bytes. Without one, a malformed blob without a NUL would be
    /// searched to its end.
    static let longestText = 1024

    /// Decodes a code directory, and checks that everything it refers to lies within it.
    /// - Parameter bytes: the whole blob and nothing else.
    /// - Throws: ``SealFault`` with the first flaw, for people.
    public init(decoding bytes: [UInt8]) throws(SealFault) {
        let version = try CodeDirectory.decodeVersion(bytes)
        let header = CodeDirectory.headerSize(version)
        let (hash, hashSize) = try CodeDirectory.decodeHashFunction(bytes)
        let slots = try SlotTable(decoding: bytes, hashSize: hashSize, after: header)
        let (codeLimit, pageSize) = try CodeDirectory.decodeCodeExtent(bytes, version, slots: slots.code)
        try CodeDirectory.checkUnusedTables(bytes, version, codeHashesLength: slots.code * hashSize)
        let (identifier, team) = try CodeDirectory.decodeIdentifiers(bytes, version)

        self.bytes = bytes
        self.version = version
        flags = bytes.word(at: 0xC)
        self.identifier = identifier
        teamIdentifier = team
        self.hash = hash
        self.hashSize = hashSize
        self.codeLimit = codeLimit
        self.pageSize = pageSize
        codeSlots = slots.code
        specialSlots = slots.special
        hashOffset = slots.offset
    }

    /// Checks magic number, length and version, and that all fields of the version are there.
    private static func decodeVersion(_ bytes: [UInt8]) throws(SealFault) -> UInt32 {
        guard bytes.count >= headerSize(0) else { throw SealFault("the code directory is cut short") }
        guard bytes.word(at: 0) == magic else {
            throw SealFault("the code directory does not begin with its magic number")
        }
        let length = Int(bytes.word(at: 4))
        guard length <= bytes.count else { throw SealFault("the code directory is cut short") }
        guard length == bytes.count else { throw SealFault("bytes follow the code directory") }
        let version = bytes.word(at: 8)
        guard (Version.earliest...Version.limit).contains(version) else {
            throw SealFault("the code directory has a version that is not known")
        }
        guard length >= headerSize(version) else { throw SealFault("the code directory is cut short") }
        if version >= Version.scatter, bytes.word(at: 0x2C) != 0 {
            // With a scatter vector, the pages are not the code from its beginning.
            throw SealFault("the code directory has a scatter vector, which is not supported")
        }
        return version
    }

    /// `hashType` and `hashSize`. Type 3 is SHA-256 cut to 20 bytes.
    private static func decodeHashFunction(_ bytes: [UInt8]) throws(SealFault) -> (HashFunction, size: Int) {
        let hash: HashFunction
        let size = Int(bytes[0x24])
        switch bytes[0x25] {
        case 1: hash = .sha1
        case 2, 3: hash = .sha256
        case 4: hash = .sha384
        default: throw SealFault("the code directory has a hash function that is not known")
        }
        guard size == (bytes[0x25] == 3 ? 20 : hash.length) else {
            throw SealFault("the code directory has hashes of a size that its hash function does not give")
        }
        return (hash, size)
    }

    /// The hashes: `hashOffset` is that of code slot 0, special slot N lies N hashes before it.
    private struct SlotTable {
        let offset: Int
        let special: Int
        let code: Int

        /// Offsets and counts have 32 bits and hash sizes 8, so that no product or sum overflows.
        init(decoding bytes: [UInt8], hashSize: Int, after header: Int) throws(SealFault) {
            offset = Int(bytes.word(at: 0x10))
            special = Int(bytes.word(at: 0x18))
            code = Int(bytes.word(at: 0x1C))
            guard offset - special * hashSize >= header, offset + code * hashSize <= bytes.count else {
                throw SealFault("hashes of the code directory lie outside of it")
            }
        }
    }

    /// `codeLimit` and `pageSize` in bytes, which have to give just as many pages as there are code slots.
    private static func decodeCodeExtent(
        _ bytes: [UInt8], _ version: UInt32, slots: Int
    ) throws(SealFault) -> (limit: UInt64, pageSize: Int?) {
        let shift = Int(bytes[0x27])
        guard shift <= 30 else { throw SealFault("the code directory has pages of a size that is not possible") }
        let pageSize = shift == 0 ? nil : 1 << shift
        var codeLimit = UInt64(bytes.word(at: 0x20))
        if version >= Version.codeLimit64, bytes.longWord(at: 0x38) != 0 { codeLimit = bytes.longWord(at: 0x38) }
        guard codeLimit <= UInt64(Int64.max), pageCounts(of: codeLimit, pageSize: pageSize).contains(slots)
        else { throw SealFault("the code directory has another number of hashes than its code has pages") }
        return (codeLimit, pageSize)
    }

    /// The numbers of pages that code of a length may have. Only empty code in a single page has two: no hash says that
    /// there is no code, one hash that the code is empty.
    private static func pageCounts(of codeLimit: UInt64, pageSize: Int?) -> ClosedRange<Int> {
        guard codeLimit > 0 else { return 0...(pageSize == nil ? 1 : 0) }
        guard let pageSize else { return 1...1 }
        let pages = Int((codeLimit - 1) / UInt64(pageSize)) + 1
        return pages...pages
    }

    /// Checks that the tables that nothing here reads lie within the blob: the hashes of pages before the App Store
    /// encrypted them, and the linkage.
    private static func checkUnusedTables(
        _ bytes: [UInt8], _ version: UInt32, codeHashesLength: Int
    ) throws(SealFault) {
        let header = headerSize(version)
        if version >= Version.preEncryption {
            let start = Int(bytes.word(at: 0x5C))
            guard start == 0 || start >= header && start + codeHashesLength <= bytes.count else {
                throw SealFault("hashes of the code directory lie outside of it")
            }
        }
        if version >= Version.linkage {
            let (start, count) = (Int(bytes.word(at: 0x64)), Int(bytes.word(at: 0x68)))
            guard count == 0 || start >= header && start + count <= bytes.count else {
                throw SealFault("the linkage of the code directory lies outside of it")
            }
        }
    }

    /// `identOffset`, and `teamOffset` where it is not 0.
    private static func decodeIdentifiers(
        _ bytes: [UInt8], _ version: UInt32
    ) throws(SealFault) -> (identifier: String, team: String?) {
        let header = headerSize(version)
        guard let identifier = text(in: bytes, at: Int(bytes.word(at: 0x14)), after: header) else {
            throw SealFault("the identifier of the code directory cannot be read")
        }
        guard version >= Version.team, bytes.word(at: 0x30) != 0 else { return (identifier, nil) }
        guard let team = text(in: bytes, at: Int(bytes.word(at: 0x30)), after: header) else {
            throw SealFault("the team identifier of the code directory cannot be read")
        }
        return (identifier, team)
    }

    /// Text that ends with a NUL.
    /// - Returns: nil if it is empty, not UTF-8, too long, or does not end within the blob.
    private static func text(in bytes: [UInt8], at start: Int, after header: Int) -> String? {
        guard start >= header, start < bytes.count else { return nil }
        var end = start
        while end < bytes.count, bytes[end] != 0 {
            end += 1
            guard end - start <= longestText else { return nil }
        }
        guard end > start, end < bytes.count else { return nil }
        return String(validating: bytes[start..<end], as: UTF8.self)
    }
}
