// Decoding code directories, refusing malformed ones, and encoding new ones.

import HashFunctions
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct CodeDirectoryTests {
    private var fixture: CodeDirectoryFixture {
        var fixture = CodeDirectoryFixture()
        fixture.special = [1: [1], 2: [2], 3: [3], 5: [5]]
        fixture.code = [UInt8](repeating: 7, count: 9000)
        return fixture
    }

    private func reason(_ bytes: [UInt8]) -> String? {
        do throws(SealFault) {
            _ = try CodeDirectory(decoding: bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    // MARK: Reading

    @Test(arguments: [0x20001, 0x20100, 0x20200, 0x20300, 0x20400, 0x20500, 0x20600, 0x2F000] as [UInt32])
    func `every version is read`(version: UInt32) throws {
        var fixture = fixture
        fixture.version = version
        fixture.flags = 0x10002
        let directory = try CodeDirectory(decoding: fixture.bytes)
        #expect(directory.bytes == fixture.bytes)
        #expect(directory.version == version)
        #expect(directory.flags == 0x10002)
        #expect(directory.isAdHoc)
        #expect(directory.identifier == "com.example.Notes")
        #expect(directory.teamIdentifier == (version >= 0x20200 ? "A1B2C3D4E5" : nil))
        #expect(directory.codeLimit == 9000)
        #expect(directory.pageSize == 4096)
        #expect(directory.codeSlots == 3)
        #expect(directory.specialSlots == 5)
    }

    @Test(
        arguments: [(1, .sha1, 20), (2, .sha256, 32), (3, .sha256, 20), (4, .sha384, 48)]
            as [(UInt8, HashFunction, Int)])
    func `every hash function is read`(type: UInt8, hash: HashFunction, size: Int) throws {
        var fixture = fixture
        fixture.hashType = type
        let directory = try CodeDirectory(decoding: fixture.bytes)
        #expect(directory.hash == hash)
        #expect(directory.hashSize == size)
        #expect(directory.digest(of: [9]) == fixture.digest([9]))
        #expect(directory.special(CodeDirectory.infoSlot) == fixture.digest([1]))
        #expect(directory.special(CodeDirectory.resourcesSlot) == fixture.digest([3]))
        #expect(directory.special(CodeDirectory.entitlementsSlot) == fixture.digest([5]))
        #expect(directory.codeHash(0) == fixture.digest([UInt8](repeating: 7, count: 4096)))
        #expect(directory.codeHash(2) == fixture.digest([UInt8](repeating: 7, count: 808)))
        #expect(directory.codeDirectoryHash == Array(hash.digest(of: fixture.bytes).prefix(20)))
        #expect(directory.codeDirectoryHash.count == 20)
    }

    @Test func `a slot of zeros and a slot beyond the last one are absent`() throws {
        let directory = try CodeDirectory(decoding: fixture.bytes)
        for slot in [-1, 0, 4, 6, 7, .max, .min] { #expect(directory.special(slot) == nil) }
    }

    @Test func `code can be a single page, and its length have 64 bits`() throws {
        var fixture = fixture
        fixture.pageShift = 0
        fixture.inLongField = true
        let directory = try CodeDirectory(decoding: fixture.bytes)
        #expect(directory.pageSize == nil)
        #expect(directory.codeSlots == 1)
        #expect(directory.codeLimit == 9000)
        #expect(directory.codeHash(0) == fixture.digest(fixture.code))
    }

    @Test func `a page may end with the code`() throws {
        var fixture = fixture
        fixture.code = [UInt8](repeating: 7, count: 8192)
        #expect(try CodeDirectory(decoding: fixture.bytes).codeSlots == 2)
        fixture.code = []
        #expect(try CodeDirectory(decoding: fixture.bytes).codeSlots == 0)
    }

    // MARK: Refusing

    struct Malformation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: String
        let change: @Sendable ([UInt8]) -> [UInt8]

        init(_ name: String, _ reason: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]) {
            testDescription = name
            self.reason = reason
            self.change = change
        }

        /// A field of the blob with another value.
        init(_ name: String, _ reason: String, at offset: Int, _ value: Int, width: Int = 4) {
            self.init(name, reason) { $0.with(value, at: offset, width: width) }
        }
    }

    static let malformations = [
        Malformation("nothing", "the code directory is cut short") { _ in [] },
        Malformation("a magic number alone", "the code directory is cut short") { Array($0.prefix(4)) },
        Malformation("a byte fewer", "the code directory is cut short") { Array($0.dropLast()) },
        Malformation("a byte more", "bytes follow the code directory") { $0 + [0] },
        Malformation("a huge length", "the code directory is cut short", at: 4, 0xFFFF_FFFF),
        Malformation("no length", "bytes follow the code directory", at: 4, 0),
        Malformation("another magic", "the code directory does not begin with its magic number", at: 0, 0xFADE_0CC0),
        Malformation("an early version", "the code directory has a version that is not known", at: 8, 0x20000),
        Malformation("a late version", "the code directory has a version that is not known", at: 8, 0x2F001),
        Malformation("a header longer than the blob", "the code directory is cut short") {
            Array($0.prefix(0x50)).with(0x50, at: 4)
        },
        Malformation(
            "a scatter vector", "the code directory has a scatter vector, which is not supported", at: 0x2C, 0x58),
        Malformation(
            "no hash function", "the code directory has a hash function that is not known", at: 0x25, 0, width: 1),
        Malformation(
            "a hash function of the future", "the code directory has a hash function that is not known", at: 0x25, 5,
            width: 1),
        Malformation(
            "short hashes", "the code directory has hashes of a size that its hash function does not give", at: 0x24,
            20, width: 1),
        Malformation(
            "hashes without bytes", "the code directory has hashes of a size that its hash function does not give",
            at: 0x24, 0, width: 1),
        Malformation("hashes behind the end", "hashes of the code directory lie outside of it", at: 0x10, 0xFFFF_FFFF),
        Malformation("hashes a byte too far", "hashes of the code directory lie outside of it") {
            $0.with(Int($0.word(at: 0x10)) + 1, at: 0x10)
        },
        Malformation(
            "special slots before the beginning", "hashes of the code directory lie outside of it", at: 0x18, 99),
        Malformation(
            "endless special slots", "hashes of the code directory lie outside of it", at: 0x18, 0xFFFF_FFFF),
        Malformation("special slots in the header", "hashes of the code directory lie outside of it") {
            $0.with(0x57 + 5 * 32, at: 0x10)
        },
        Malformation("endless pages", "hashes of the code directory lie outside of it", at: 0x1C, 0xFFFF_FFFF),
        Malformation(
            "impossible pages", "the code directory has pages of a size that is not possible", at: 0x27, 31, width: 1),
        Malformation(
            "pages of another size", "the code directory has another number of hashes than its code has pages",
            at: 0x27, 14, width: 1),
        Malformation(
            "a page fewer", "the code directory has another number of hashes than its code has pages", at: 0x1C, 2),
        Malformation(
            "no pages", "the code directory has another number of hashes than its code has pages", at: 0x1C, 0),
        Malformation(
            "code of another length", "the code directory has another number of hashes than its code has pages",
            at: 0x20, 12289),
        Malformation(
            "code without bytes", "the code directory has another number of hashes than its code has pages", at: 0x20, 0
        ),
        Malformation(
            "one page of code without bytes",
            "the code directory has another number of hashes than its code has pages"
        ) { $0.with(0, at: 0x27, width: 1) },
        Malformation(
            "code of 2⁶⁴ bytes", "the code directory has another number of hashes than its code has pages", at: 0x38,
            -1, width: 8),
        Malformation(
            "an identifier in the header", "the identifier of the code directory cannot be read", at: 0x14, 0x57),
        Malformation(
            "an identifier behind the end", "the identifier of the code directory cannot be read", at: 0x14,
            0xFFFF_FFFF),
        Malformation(
            "an empty identifier", "the identifier of the code directory cannot be read", at: 0x58, 0, width: 1),
        Malformation(
            "an identifier that is not UTF-8", "the identifier of the code directory cannot be read", at: 0x59, 0xFF,
            width: 1),
        Malformation("an identifier without an end", "the identifier of the code directory cannot be read") {
            var bytes = $0
            for index in 0x58..<bytes.count where bytes[index] == 0 { bytes[index] = 0x41 }
            return bytes
        },
        Malformation(
            "a team in the header", "the team identifier of the code directory cannot be read", at: 0x30, 0x2C),
        Malformation(
            "a team behind the end", "the team identifier of the code directory cannot be read", at: 0x30, 0x7FFF_FFFF),
    ]

    @Test(arguments: malformations) func `a malformed code directory is refused`(_ malformation: Malformation) {
        #expect(reason(fixture.bytes) == nil)
        #expect(reason(malformation.change(fixture.bytes)) == malformation.reason)
    }

    @Test func `hashes before encryption and linkage lie inside`() {
        var fixture = fixture
        fixture.version = 0x20600
        let bytes = fixture.bytes
        #expect(reason(bytes) == nil)
        #expect(reason(bytes.with(bytes.count - 95, at: 0x5C)) == "hashes of the code directory lie outside of it")
        #expect(reason(bytes.with(4, at: 0x5C)) == "hashes of the code directory lie outside of it")
        #expect(reason(bytes.with(bytes.count - 96, at: 0x5C)) == nil)
        let linkage = "the linkage of the code directory lies outside of it"
        #expect(reason(bytes.with(0x6C, at: 0x64).with(0xFFFF_FFFF, at: 0x68)) == linkage)
        #expect(reason(bytes.with(0x10, at: 0x64).with(1, at: 0x68)) == linkage)
        #expect(reason(bytes.with(0x6C, at: 0x64).with(20, at: 0x68)) == nil)
    }

    @Test func `an identifier has a longest length`() {
        var fixture = fixture
        fixture.identifier = String(repeating: "a", count: 1024)
        #expect(reason(fixture.bytes) == nil)
        fixture.identifier += "a"
        #expect(reason(fixture.bytes) == "the identifier of the code directory cannot be read")
    }

    // MARK: Writing

    @Test func `a new directory is read as it was made`() throws {
        func hash(_ byte: UInt8) -> [UInt8] { HashFunction.sha256.digest(of: [byte]) }
        for special in [[:], [1: hash(1)], [1: hash(1), 3: hash(3)], [7: hash(7)]] as [[Int: [UInt8]]] {
            for length in [nil, 0, 1, 4097, 0xFFFF_FFFF, 0x1_0000_0000, UInt64(Int64.max)] as [UInt64?] {
                let made = CodeDirectory(
                    identifier: "com.example.Notes", special: special, code: length.map { (hash(0), $0) })
                let read = try CodeDirectory(decoding: made.bytes)
                #expect(read == made)
                #expect(read.version == 0x20400)
                #expect(!read.isAdHoc)
                #expect(read.codeLimit == length ?? 0)
                #expect(read.codeSlots == (length == nil ? 0 : 1))
                if length != nil { #expect(read.codeHash(0) == hash(0)) }
                for slot in 0...8 { #expect(read.special(slot) == special[slot]) }
            }
        }
    }

    @Test func `a new directory has the bytes that the format asks for`() {
        var fixture = CodeDirectoryFixture()
        fixture.team = nil
        fixture.pageShift = 0
        fixture.special = [1: Array("list".utf8), 3: Array("resources".utf8)]
        fixture.code = Array("program".utf8)
        let made = CodeDirectory(
            identifier: fixture.identifier, special: fixture.special.mapValues(fixture.digest),
            code: (fixture.digest(fixture.code), 7))
        #expect(made.bytes == fixture.bytes)
    }

    // MARK: Random changes

    @Test(.timeLimit(.minutes(1))) func `changed bytes are understood or refused`() {
        var fixture = fixture
        var kinds: [[UInt8]] = []
        for (version, type, shift) in [(0x20001, 1, 12), (0x20400, 2, 12), (0x20600, 3, 0)] as [(UInt32, UInt8, UInt8)]
        {
            fixture.version = version
            fixture.hashType = type
            fixture.pageShift = shift
            kinds.append(fixture.bytes)
        }
        var understood = 0
        for seed in 1...3000 as ClosedRange<UInt64> {
            var chance = SeededGenerator(seed: seed)
            var bytes = kinds[Int(seed % 3)]
            for _ in 0...Int.random(in: 0..<3, using: &chance) {
                // Mostly the fixed fields: hashes may have any bytes.
                let offset = Int.random(in: 0..<(Bool.random(using: &chance) ? 0x6C : bytes.count - 4), using: &chance)
                switch Int.random(in: 0..<4, using: &chance) {
                case 0: bytes[offset] = UInt8.random(in: .min ... .max, using: &chance)
                case 1: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
                case 2:
                    let value = [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, bytes.count, 0x100].randomElement(using: &chance)!
                    bytes = bytes.with(value, at: offset & ~3)
                default:
                    if Int.random(in: 0..<8, using: &chance) == 0 { bytes.removeLast(min(offset, bytes.count - 0x70)) }
                }
            }
            guard let directory = try? CodeDirectory(decoding: bytes) else { continue }
            understood += 1
            // Every slot of a decoded directory can be read.
            for slot in 0...min(directory.specialSlots + 1, 16) { _ = directory.special(slot) }
            for page in 0..<min(directory.codeSlots, 16) {
                #expect(directory.codeHash(page).count == directory.hashSize)
            }
            if let last = (0..<directory.codeSlots).last { _ = directory.codeHash(last) }
            _ = directory.special(directory.specialSlots)
            #expect(directory.bytes == bytes, "seed \(seed)")
        }
        #expect((300..<2900).contains(understood), "\(understood) of 3000 were understood")
    }
}
