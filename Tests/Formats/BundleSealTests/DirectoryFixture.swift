// Code directories of any version, written without the code that reads them.

import HashFunctions

@testable import BundleSeal

/// The parts of a code directory, and its bytes (xnu, osfmk/kern/cs_blobs.h).
struct DirectoryFixture {
    var version: UInt32 = 0x20400
    var flags: UInt32 = 0
    var identifier = "com.example.Notes"
    var team: String? = "A1B2C3D4E5"
    /// 1 SHA-1, 2 SHA-256, 3 SHA-256 cut to 20 bytes, 4 SHA-384.
    var hashType: UInt8 = 2
    /// 0: the whole code is one page.
    var pageShift: UInt8 = 12
    /// What is sealed under the special slots.
    var special: [Int: [UInt8]] = [:]
    var code: [UInt8] = []
    /// The length of the code in the field of 64 bits.
    var inLongField = false

    func digest(_ bytes: [UInt8]) -> [UInt8] {
        switch hashType {
        case 1: HashFunction.sha1.digest(of: bytes)
        case 3: Array(HashFunction.sha256.digest(of: bytes).prefix(20))
        case 4: HashFunction.sha384.digest(of: bytes)
        default: HashFunction.sha256.digest(of: bytes)
        }
    }

    private var pages: [[UInt8]] {
        guard pageShift > 0 else { return code.isEmpty ? [] : [code] }
        let size = 1 << Int(pageShift)
        return stride(from: 0, to: code.count, by: size).map { Array(code[$0..<min($0 + size, code.count)]) }
    }

    var headerSize: Int {
        switch version {
        case 0x20600...: 0x6C
        case 0x20500...: 0x60
        case 0x20400...: 0x58
        case 0x20300...: 0x40
        case 0x20200...: 0x34
        case 0x20100...: 0x30
        default: 0x2C
        }
    }

    var bytes: [UInt8] {
        let size = digest([]).count
        let slots = special.keys.max() ?? 0
        let texts = Array(identifier.utf8) + [0] + (hasTeam ? Array(team!.utf8) + [0] : [])
        let hashOffset = headerSize + texts.count + slots * size
        let pages = pages
        var all = [UInt8](repeating: 0, count: headerSize)
        func put(_ value: Int, at offset: Int, width: Int = 4) {
            for index in 0..<width {
                all[offset + index] = UInt8(truncatingIfNeeded: value >> ((width - 1 - index) * 8))
            }
        }
        put(0xFADE_0C02, at: 0)
        put(hashOffset + pages.count * size, at: 4)
        put(Int(version), at: 8)
        put(Int(flags), at: 0xC)
        put(hashOffset, at: 0x10)
        put(headerSize, at: 0x14)
        put(slots, at: 0x18)
        put(pages.count, at: 0x1C)
        put(inLongField ? 0xFFFF_FFFF : code.count, at: 0x20)
        put(size, at: 0x24, width: 1)
        put(Int(hashType), at: 0x25, width: 1)
        put(Int(pageShift), at: 0x27, width: 1)
        if hasTeam { put(headerSize + identifier.utf8.count + 1, at: 0x30) }
        if inLongField { put(code.count, at: 0x38, width: 8) }
        all += texts
        for slot in stride(from: slots, to: 0, by: -1) {
            all += special[slot].map(digest) ?? [UInt8](repeating: 0, count: size)
        }
        for page in pages { all += digest(page) }
        return all
    }

    private var hasTeam: Bool { team != nil && version >= 0x20200 }
}

extension [UInt8] {
    /// These bytes with a big-endian integer put over some of them.
    func with(_ value: Int, at offset: Int, width: Int = 4) -> [UInt8] {
        var bytes = self
        for index in 0..<width {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> ((width - 1 - index) * 8))
        }
        return bytes
    }
}
