// Reading signatures of Mach-O programs, and finding changed pages.

import Foundation
import HashFunctions
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

/// An open file of a test.
func openFile(_ bytes: [UInt8], in scratch: Scratch) throws -> Descriptor {
    try Data(bytes).write(to: URL(filePath: scratch["program"]))
    return try Descriptor.open(path: scratch["program"], flags: O_RDWR)
}

@Suite struct MachOSignatureTests {
    private let scratch = Scratch()

    private func signatures(_ bytes: [UInt8]) throws -> [MachOSignature] {
        try MachOSignature.read(from: openFile(bytes, in: scratch))
    }

    private var fixture: MachOFixture {
        var fixture = MachOFixture()
        fixture.hashTypes = [1, 2]
        fixture.derEntitlements = [0x70, 0]
        fixture.informationList = Array("list".utf8)
        fixture.resources = Array("resources".utf8)
        return fixture
    }

    /// The first changed page by each of the code directories of each program.
    private func changes(_ signatures: [MachOSignature], _ bytes: [UInt8]) throws -> [Int?] {
        let file = try openFile(bytes, in: scratch)
        var pages: [Int?] = []
        for signature in signatures {
            for directory in signature.codeDirectories {
                pages.append(try signature.firstChangedPage(of: directory, in: file) { _ in true })
            }
        }
        return pages
    }

    // MARK: Reading

    @Test(arguments: MachOFixture.Kind.allCases) func `a program of either kind is read`(kind: MachOFixture.Kind) throws
    {
        var fixture = fixture
        fixture.kind = kind
        let program = fixture.program { directories in Array("CMS".utf8) + directories[0].suffix(4) }
        let signature = try #require(signatures(program.bytes).first)
        #expect(signature.slice == 0..<Int64(program.bytes.count))
        #expect(signature.codeDirectories.map(\.hash) == [.sha1, .sha256])
        #expect(signature.codeDirectories.map(\.bytes) == [0, 0x1000].map { Array(program.bytes[program.blob($0)]) })
        #expect(signature.blobs.keys.sorted() == [2, 5, 7])
        for (slot, blob) in signature.blobs { #expect(blob == Array(program.bytes[program.blob(slot)])) }
        #expect(signature.cms == Array("CMS".utf8) + signature.codeDirectories[0].bytes.suffix(4))
        for directory in signature.codeDirectories {
            #expect(directory.identifier == "com.example.Notes")
            #expect(directory.special(CodeDirectory.infoSlot) == directory.digest(of: Array("list".utf8)))
            #expect(directory.special(CodeDirectory.resourcesSlot) == directory.digest(of: Array("resources".utf8)))
            #expect(directory.codeLimit == UInt64(program.signature))
            #expect(signature.blobSlotsAgree(with: directory))
        }
        #expect(try changes([signature], program.bytes) == [nil, nil])
    }

    @Test(arguments: [false, true]) func `a fat file has a signature for each program`(wide: Bool) throws {
        var old = fixture
        old.kind = .thin32
        old.codeLength = 5000
        old.identifier = "com.example.Old"
        let bytes = MachOFixture.fat([fixture.program(), old.program { _ in [1] }], wide: wide)
        let signatures = try signatures(bytes)
        #expect(signatures.map(\.codeDirectories.first?.identifier) == ["com.example.Notes", "com.example.Old"])
        #expect(signatures.map(\.cms) == [[], [1]])
        #expect(signatures.map(\.slice.lowerBound) == [4096, 45056])
        #expect(signatures.last?.slice.upperBound == Int64(bytes.count))
        #expect(try changes(signatures, bytes) == [nil, nil, nil, nil])
        #expect(signatures.allSatisfy { one in one.codeDirectories.allSatisfy(one.blobSlotsAgree) })
    }

    @Test func `a program made of its parts has the signature that was given`() throws {
        var directory: [UInt8] = []
        let bytes = MachOFixture.executable(informationList: [1], resources: [2], identifier: "a.b") {
            directory = $0
            return [3]
        }
        let signature = try #require(signatures(bytes).first)
        #expect(signature.codeDirectories.map(\.bytes) == [directory])
        #expect(signature.cms == [3])
        #expect(signature.codeDirectories[0].special(1) == signature.codeDirectories[0].digest(of: [1]))
        #expect(signature.codeDirectories[0].special(3) == signature.codeDirectories[0].digest(of: [2]))
    }

    // MARK: Changes

    @Test(arguments: [0, 12, 14]) func `a changed byte is found in its page`(pageShift: UInt8) throws {
        var fixture = fixture
        fixture.pageShift = pageShift
        fixture.hashTypes = [1, 2, 3, 4]
        let bytes = fixture.program().bytes
        let signatures = try signatures(bytes)
        for offset in [40, 4095, 4096, 8191, 8192, 12287, 12288, fixture.codeLength - 1] {
            var changed = bytes
            changed[offset] ^= 1
            let page = pageShift == 12 ? offset / 4096 : 0
            #expect(try changes(signatures, changed) == [page, page, page, page], "at \(offset)")
        }
    }

    @Test func `a changed byte is found in its program of a fat file`() throws {
        let program = fixture.program()
        let bytes = MachOFixture.fat([program, program])
        let signatures = try signatures(bytes)
        var changed = bytes
        changed[Int(signatures[1].slice.lowerBound) + 5000] ^= 0x80
        #expect(try changes(signatures, changed) == [nil, nil, 1, 1])
    }

    @Test func `pages are compared beyond what is read at once`() throws {
        var fixture = MachOFixture()
        fixture.codeLength = 2 << 20 | 100
        fixture.reservedSpace = 64 << 10
        // A page size that does not divide the size of a read.
        fixture.pageShift = 21
        let bytes = fixture.program().bytes
        let signatures = try signatures(bytes)
        #expect(try changes(signatures, bytes) == [nil])
        for (offset, page) in [(1 << 20, 0), (2 << 20, 1), (2 << 20 | 99, 1)] {
            var changed = bytes
            changed[offset] ^= 1
            #expect(try changes(signatures, changed) == [page])
        }
    }

    @Test func `a file that became shorter has changed where it ends`() throws {
        let bytes = fixture.program().bytes
        let signatures = try signatures(bytes)
        #expect(try changes(signatures, Array(bytes.prefix(8200))) == [2, 2])
        #expect(try changes(signatures, Array(bytes.prefix(8192))) == [2, 2])
        #expect(try changes(signatures, []) == [0, 0])
    }

    @Test func `a comparison tells how far it is, and can be ended`() throws {
        var fixture = MachOFixture()
        fixture.codeLength = 3 << 20
        fixture.reservedSpace = 64 << 10
        let file = try openFile(fixture.program().bytes, in: scratch)
        let signature = try #require(MachOSignature.read(from: file).first)
        let directory = signature.codeDirectories[0]
        var told: [Int64] = []
        let page = try signature.firstChangedPage(of: directory, in: file) { count in
            told.append(count)
            return true
        }
        #expect(page == nil)
        #expect(told.count > 1 && told.reduce(0, +) == 3 << 20)
        told = []
        #expect(throws: SystemError(code: ECANCELED)) {
            try signature.firstChangedPage(of: directory, in: file) { count in
                told.append(count)
                return told.count < 2
            }
        }
        #expect(told.count == 2)
    }

    @Test(arguments: [2, 5, 7] as [UInt32]) func `a changed blob does not agree`(slot: UInt32) throws {
        let program = fixture.program()
        var changed = program.bytes
        changed[program.blob(slot).upperBound - 1] ^= 1
        let signature = try #require(signatures(changed).first)
        for directory in signature.codeDirectories { #expect(!signature.blobSlotsAgree(with: directory)) }
    }

    @Test func `a blob that is missing or has no hash does not agree`() throws {
        let program = fixture.program()
        func agrees(_ bytes: [UInt8]) throws -> [Bool] {
            let signature = try #require(signatures(bytes).first)
            return signature.codeDirectories.map(signature.blobSlotsAgree)
        }
        // In a slot that code directories do not cover, a blob counts as removed.
        #expect(try agrees(program.bytes.with(0x10001, at: program.entry(5))) == [false, false])
        #expect(try agrees(program.bytes.with(8, at: program.entry(5))) == [false, false])
        // Only the first directory lacks the hash.
        let directory = program.blob(0)
        let hash = directory.lowerBound + Int(program.bytes.word(at: directory.lowerBound + 0x10)) - 5 * 20
        var unsealed = program.bytes
        for index in hash..<hash + 20 { unsealed[index] = 0 }
        #expect(try agrees(unsealed) == [false, true])
        // The hash of an unknown blob.
        unsealed = program.bytes
        unsealed[hash + 20] = 1
        #expect(try agrees(unsealed) == [false, true])
    }

    @Test func `a signature may have no blobs but its code directory`() throws {
        var fixture = MachOFixture()
        fixture.requirements = nil
        fixture.entitlements = nil
        fixture.flags = 2
        let signature = try #require(signatures(fixture.program().bytes).first)
        #expect(signature.blobs.isEmpty)
        #expect(signature.cms.isEmpty)
        #expect(signature.codeDirectories[0].isAdHoc)
        #expect(signature.blobSlotsAgree(with: signature.codeDirectories[0]))
    }
}
