// Code directories from bytes, and the bytes of new ones.

import HashFunctions

extension CodeDirectory {
    /// Longer than any name that can be given. Without a limit a broken blob would be searched for its end as a whole.
    private static let longestText = 1024

    /// - Parameter bytes: the whole blob and nothing else.
    public init(decoding bytes: [UInt8]) throws(SealFault) {
        guard bytes.count >= CodeDirectory.headerSize(0) else { throw SealFault("the code directory is cut short") }
        guard bytes.word(at: 0) == CodeDirectory.magic else {
            throw SealFault("the code directory does not begin with its magic number")
        }
        let length = Int(bytes.word(at: 4))
        guard length <= bytes.count else { throw SealFault("the code directory is cut short") }
        guard length == bytes.count else { throw SealFault("bytes follow the code directory") }
        let version = bytes.word(at: 8)
        guard (Version.earliest...Version.limit).contains(version) else {
            throw SealFault("the code directory has a version that is not known")
        }
        let header = CodeDirectory.headerSize(version)
        guard length >= header else { throw SealFault("the code directory is cut short") }
        if version >= Version.scatter, bytes.word(at: 0x2C) != 0 {
            // Code in several pieces: what the pages cover would then not be the code from its beginning.
            throw SealFault("the code directory has a scatter vector, which is not supported")
        }

        let hash: HashFunction
        let hashSize = Int(bytes[0x24])
        switch bytes[0x25] {
        case 1: hash = .sha1
        case 2, 3: hash = .sha256
        case 4: hash = .sha384
        default: throw SealFault("the code directory has a hash function that is not known")
        }
        guard hashSize == (bytes[0x25] == 3 ? 20 : hash.length) else {
            throw SealFault("the code directory has hashes of a size that its hash function does not give")
        }
        // Offsets and counts have 32 bits and hash sizes 8, so that their products and sums fit.
        let hashOffset = Int(bytes.word(at: 0x10))
        let specialSlots = Int(bytes.word(at: 0x18))
        let codeSlots = Int(bytes.word(at: 0x1C))
        guard hashOffset - specialSlots * hashSize >= header, hashOffset + codeSlots * hashSize <= length else {
            throw SealFault("hashes of the code directory lie outside of it")
        }

        let shift = Int(bytes[0x27])
        guard shift <= 30 else { throw SealFault("the code directory has pages of a size that is not possible") }
        let pageSize = shift == 0 ? nil : 1 << shift
        var codeLimit = UInt64(bytes.word(at: 0x20))
        if version >= Version.codeLimit64, bytes.longWord(at: 0x38) != 0 { codeLimit = bytes.longWord(at: 0x38) }
        guard codeLimit <= UInt64(Int64.max),
            CodeDirectory.slots(for: codeLimit, pageSize: pageSize).contains(codeSlots)
        else { throw SealFault("the code directory has another number of hashes than its code has pages") }

        if version >= Version.preEncryption {
            // The hashes as they were before the store encrypted the pages; nothing here asks for them.
            let start = Int(bytes.word(at: 0x5C))
            guard start == 0 || start >= header && start + codeSlots * hashSize <= length else {
                throw SealFault("hashes of the code directory lie outside of it")
            }
        }
        if version >= Version.linkage {
            let (start, count) = (Int(bytes.word(at: 0x64)), Int(bytes.word(at: 0x68)))
            guard count == 0 || start >= header && start + count <= length else {
                throw SealFault("the linkage of the code directory lies outside of it")
            }
        }

        guard let identifier = CodeDirectory.text(in: bytes, at: Int(bytes.word(at: 0x14)), after: header) else {
            throw SealFault("the identifier of the code directory cannot be read")
        }
        var team: String?
        if version >= Version.team, bytes.word(at: 0x30) != 0 {
            team = CodeDirectory.text(in: bytes, at: Int(bytes.word(at: 0x30)), after: header)
            guard team != nil else { throw SealFault("the team identifier of the code directory cannot be read") }
        }

        self.bytes = bytes
        self.version = version
        flags = bytes.word(at: 0xC)
        self.identifier = identifier
        teamIdentifier = team
        self.hash = hash
        self.hashSize = hashSize
        self.codeLimit = codeLimit
        self.pageSize = pageSize
        self.codeSlots = codeSlots
        self.specialSlots = specialSlots
        self.hashOffset = hashOffset
    }

    /// How many pages code of a length may have: one answer, but for a single page without bytes. No hash then says
    /// that there is no code, and one says that it is empty.
    private static func slots(for codeLimit: UInt64, pageSize: Int?) -> ClosedRange<Int> {
        guard codeLimit > 0 else { return 0...(pageSize == nil ? 1 : 0) }
        guard let pageSize else { return 1...1 }
        let pages = Int((codeLimit - 1) / UInt64(pageSize)) + 1
        return pages...pages
    }

    /// Text that ends with a zero, which has to be there.
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

    /// A new directory over a bundle. Equal parts give equal bytes.
    ///
    /// Its code is one page: the program of such a bundle is checked as a file, not page by page as it runs.
    /// - Parameters:
    ///   - special: hashes by slot, of SHA-256.
    ///   - code: the hash and the length of the whole main executable; nil when there is none.
    public init(identifier: String, special: [Int: [UInt8]], code: (hash: [UInt8], length: UInt64)?) {
        let hash = HashFunction.sha256
        let slots = special.keys.max() ?? 0
        let name = Array(identifier.utf8)
        precondition(!name.isEmpty && name.count <= CodeDirectory.longestText && !name.contains(0), "no identifier")
        precondition(special.keys.allSatisfy { (1...0xFFF).contains($0) }, "no special slot")
        precondition(special.values.allSatisfy { $0.count == hash.length }, "no hash of this directory")
        precondition(code.map { $0.hash.count == hash.length && $0.length <= UInt64(Int64.max) } ?? true, "no hash")

        let version = Version.executableSegment
        let header = CodeDirectory.headerSize(version)
        let hashOffset = header + name.count + 1 + slots * hash.length
        let codeSlots = code == nil ? 0 : 1
        let codeLimit = code?.length ?? 0
        let narrow = UInt32(exactly: codeLimit)

        var bytes = [UInt8]()
        bytes.reserveCapacity(hashOffset + codeSlots * hash.length)
        bytes.append(word: CodeDirectory.magic)
        bytes.append(word: UInt32(hashOffset + codeSlots * hash.length))
        bytes.append(word: version)
        bytes.append(word: 0)  // flags
        bytes.append(word: UInt32(hashOffset))
        bytes.append(word: UInt32(header))  // the identifier follows at once
        bytes.append(word: UInt32(slots))
        bytes.append(word: UInt32(codeSlots))
        bytes.append(word: narrow ?? .max)
        bytes += [UInt8(hash.length), 2, 0, 0]  // SHA-256, of no platform, one page
        bytes.append(word: 0)  // spare
        bytes.append(word: 0)  // no scatter vector
        bytes.append(word: 0)  // no team
        bytes.append(word: 0)  // spare
        bytes.append(longWord: narrow == nil ? codeLimit : 0)
        for _ in 0..<3 { bytes.append(longWord: 0) }  // no executable segment
        bytes += name + [0]
        for slot in stride(from: slots, to: 0, by: -1) {
            bytes += special[slot] ?? [UInt8](repeating: 0, count: hash.length)
        }
        bytes += code?.hash ?? []

        self.bytes = bytes
        self.version = version
        flags = 0
        self.identifier = identifier
        teamIdentifier = nil
        self.hash = hash
        hashSize = hash.length
        self.codeLimit = codeLimit
        pageSize = nil
        self.codeSlots = codeSlots
        specialSlots = slots
        self.hashOffset = hashOffset
    }
}
