// New code directories, in the layout of CS_CodeDirectory (xnu, osfmk/kern/cs_blobs.h).

import HashFunctions

extension CodeDirectory {
    /// Whether a new directory can have a team: a text that a NUL ends.
    static func canName(_ team: String) -> Bool {
        !team.isEmpty && team.utf8.count < longestText && !team.utf8.contains(0)
    }

    /// Makes the directory of a bundle, with SHA-256. Equal arguments give equal bytes.
    ///
    /// The code is one page: the program of such a bundle is checked as a file, not page by page while it runs.
    /// - Parameters:
    ///   - team: the team identifier; nil for none.
    ///   - special: SHA-256 digests by special slot.
    ///   - code: the digest and the length in bytes of the whole main executable; nil if there is none.
    public init(
        identifier: String, team: String? = nil, special: [Int: [UInt8]], code: (hash: [UInt8], length: UInt64)?
    ) {
        let hash = HashFunction.sha256
        let slots = special.keys.max() ?? 0
        let name = Array(identifier.utf8)
        precondition(!name.isEmpty && name.count <= CodeDirectory.longestText && !name.contains(0), "no identifier")
        let teamName: [UInt8] = if let team { Array(team.utf8) + [0] } else { [] }
        precondition(team.map(CodeDirectory.canName) ?? true, "no team")
        precondition(special.keys.allSatisfy { (1...0xFFF).contains($0) }, "no special slot")
        precondition(special.values.allSatisfy { $0.count == hash.length }, "no hash of this directory")
        precondition(code.map { $0.hash.count == hash.length && $0.length <= UInt64(Int64.max) } ?? true, "no hash")

        let version = Version.executableSegment
        let header = CodeDirectory.headerSize(version)
        let hashOffset = header + name.count + 1 + teamName.count + slots * hash.length
        let codeSlots = code == nil ? 0 : 1
        let codeLimit = code?.length ?? 0
        let narrow = UInt32(exactly: codeLimit)

        // The fields of CS_CodeDirectory, in order; then identifier, special hashes from the last slot, code hashes.
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
        bytes.append(word: team == nil ? 0 : UInt32(header + name.count + 1))  // after the identifier
        bytes.append(word: 0)  // spare
        bytes.append(longWord: narrow == nil ? codeLimit : 0)
        for _ in 0..<3 { bytes.append(longWord: 0) }  // no executable segment
        bytes += name + [0] + teamName
        for slot in stride(from: slots, to: 0, by: -1) {
            bytes += special[slot] ?? [UInt8](repeating: 0, count: hash.length)
        }
        bytes += code?.hash ?? []

        self.bytes = bytes
        self.version = version
        flags = 0
        self.identifier = identifier
        teamIdentifier = team
        self.hash = hash
        hashSize = hash.length
        self.codeLimit = codeLimit
        pageSize = nil
        self.codeSlots = codeSlots
        specialSlots = slots
        self.hashOffset = hashOffset
    }
}
