// Tests of files that are no Mach-O programs, have no signature, or have a signature that is refused.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct MalformedMachOTests {
    private let scratch = Scratch()

    private func readError(_ bytes: [UInt8]) throws -> MachOSignature.ReadError? {
        let file = try openFile(bytes, in: scratch)
        do throws(MachOSignature.ReadError) {
            _ = try MachOSignature.read(from: file)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file that is no program differs from a program without a signature`() throws {
        for bytes in [
            [], [0xCF], [0xCF, 0xFA, 0xED, 0xFE], Array("#!/bin/sh\n".utf8), [UInt8](repeating: 0, count: 99),
        ] {
            #expect(try readError(bytes) == .notMachO)
        }
        // Class files of Java 1.1 and 21.
        for version in [45, 65] as [UInt8] {
            #expect(
                try readError([0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, version] + [UInt8](repeating: 1, count: 999))
                    == .notMachO
            )
        }
        var fixture = MachOFixture()
        fixture.signed = false
        for kind in MachOFixture.Kind.allCases {
            fixture.kind = kind
            #expect(try readError(fixture.program().bytes) == .unsigned)
        }
        #expect(try readError(MachOFixture.fat([MachOFixture().program(), fixture.program()])) == .unsigned)
    }

    @Test func `an unreadable file is neither a program nor unsigned`() throws {
        let directory = try Descriptor.open(path: scratch.path, flags: O_RDONLY)
        #expect(throws: MachOSignature.ReadError.unreadable(SystemError(code: EISDIR))) {
            try MachOSignature.read(from: directory)
        }
    }

    struct Malformation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: String
        let change: @Sendable (MachOFixture.Program) -> [UInt8]

        init(_ name: String, _ reason: String, _ change: @escaping @Sendable (MachOFixture.Program) -> [UInt8]) {
            testDescription = name
            self.reason = reason
            self.change = change
        }
    }

    private static func little(_ value: Int) -> Int { Int(UInt32(value).byteSwapped) }

    // The header of a 64-bit program has 32 bytes.
    static let programs = [
        Malformation("a magic number and no more", "the Mach-O header is cut short") { Array($0.bytes.prefix(31)) },
        Malformation("a file that ends in the load commands", "the load commands are cut short") {
            Array($0.bytes.prefix(60))
        },
        Malformation("endless load commands", "the load commands are too long") { $0.bytes.with(-1, at: 20) },
        Malformation("load commands behind the end", "the load commands are cut short") {
            $0.bytes.with(little(4 << 20), at: 20)
        },
        Malformation("more load commands than there are", "the load commands are cut short") {
            $0.bytes.with(-1, at: 16)
        },
        Malformation("a load command without bytes", "a load command has a length that is not possible") {
            $0.bytes.with(0, at: 36)
        },
        Malformation("an endless load command", "a load command has a length that is not possible") {
            $0.bytes.with(-1, at: 36)
        },
        Malformation("a short signature command", "a load command has a length that is not possible") {
            $0.bytes.with(little(8), at: $0.command + 4)
        },
        Malformation("two signatures", "the program has two signatures") {
            $0.bytes.with(little(0x1D), at: $0.command + 16)
        },
        Malformation("a signature in the load commands", "the signature lies outside of the program") {
            $0.bytes.with(little(40), at: $0.command + 8)
        },
        Malformation("a signature behind the end", "the signature lies outside of the program") {
            $0.bytes.with(-1, at: $0.command + 8)
        },
        Malformation("an endless signature", "the signature lies outside of the program") {
            $0.bytes.with(-1, at: $0.command + 12)
        },
        Malformation("bytes behind the signature", "something follows the signature of the program") { $0.bytes + [0] },
        Malformation("a signature without bytes", "the signature is cut short") {
            Array($0.bytes.prefix($0.signature)).with(0, at: $0.command + 12)
        },
        Malformation("something else for a signature", "the signature does not begin with its magic number") {
            $0.bytes.with(0xFADE_0CC1, at: $0.signature)
        },
        Malformation("a signature longer than its reserved space", "the signature is cut short") {
            $0.bytes.with(24 * 1024 + 1, at: $0.signature + 4)
        },
        Malformation("a signature shorter than its table", "the signature is cut short") {
            $0.bytes.with(20, at: $0.signature + 4)
        },
        Malformation("too many blobs", "the signature has too many blobs") { $0.bytes.with(65, at: $0.signature + 8) },
        Malformation("endless blobs", "the signature has too many blobs") { $0.bytes.with(-1, at: $0.signature + 8) },
        Malformation("no blobs", "the signature has no code directory") { $0.bytes.with(0, at: $0.signature + 8) },
        Malformation("no code directory", "the signature has no code directory") {
            $0.bytes.with(9, at: $0.entry(0))
        },
        Malformation("an alternate code directory alone", "the signature has no code directory") {
            $0.bytes.with(0x1001, at: $0.entry(0))
        },
        Malformation("two blobs of a slot", "two blobs of the signature have the same slot") {
            $0.bytes.with(2, at: $0.entry(5))
        },
        Malformation("a blob in the table", "a blob lies outside of the signature") {
            $0.bytes.with(12, at: $0.entry(2) + 4)
        },
        Malformation("a blob behind the end", "a blob lies outside of the signature") {
            $0.bytes.with(-1, at: $0.entry(2) + 4)
        },
        Malformation("an endless blob", "a blob lies outside of the signature") {
            $0.bytes.with(-1, at: $0.blob(2).lowerBound + 4)
        },
        Malformation("a blob without a header", "a blob lies outside of the signature") {
            $0.bytes.with(7, at: $0.blob(2).lowerBound + 4)
        },
        Malformation("blobs that overlap", "blobs of the signature overlap") {
            $0.bytes.with($0.blob(2).count + 1, at: $0.blob(2).lowerBound + 4)
        },
        Malformation("requirements that are none", "a blob of the signature does not begin with its magic number") {
            $0.bytes.with(0, at: $0.blob(2).lowerBound)
        },
        Malformation("entitlements that are none", "a blob of the signature does not begin with its magic number") {
            $0.bytes.with(0xFADE_7172, at: $0.blob(5).lowerBound)
        },
        Malformation("a message that is none", "a blob of the signature does not begin with its magic number") {
            $0.bytes.with(0xFADE_0C01, at: $0.blob(0x10000).lowerBound)
        },
        Malformation("a broken code directory", "the code directory has a version that is not known") {
            $0.bytes.with(0, at: $0.blob(0).lowerBound + 8)
        },
        Malformation("a broken alternate", "the code directory does not begin with its magic number") {
            $0.bytes.with(0, at: $0.blob(0x1000).lowerBound)
        },
        Malformation("code behind the limit", "the code directory does not end where the signature begins") {
            $0.bytes.with($0.signature - 1, at: $0.blob(0).lowerBound + 0x20)
        },
        Malformation(
            "code behind the limit of an alternate", "the code directory does not end where the signature begins"
        ) {
            $0.bytes.with($0.signature - 1, at: $0.blob(0x1000).lowerBound + 0x20)
        },
        Malformation("a limit in the signature", "the code directory does not end where the signature begins") {
            $0.bytes.with($0.signature + 1, at: $0.blob(0).lowerBound + 0x20)
        },
    ]

    @Test(arguments: programs) func `a program with a broken signature is refused`(_ malformation: Malformation) throws
    {
        var fixture = MachOFixture()
        fixture.hashTypes = [1, 2]
        let program = fixture.program { _ in [1, 2, 3] }
        #expect(try readError(program.bytes) == nil)
        #expect(try readError(malformation.change(program)) == .malformed(malformation.reason))
    }

    // The first entry of the table of a fat file is at 8, the second at 28.
    static let fatFiles = [
        Malformation("no slices", "the table of slices is cut short") { $0.bytes.with(0, at: 4) },
        Malformation("a table behind the end", "the table of slices is cut short") {
            Array($0.bytes.prefix(30)).with(2, at: 4)
        },
        Malformation("a slice behind the end", "a slice of the file lies outside of it") { $0.bytes.with(-1, at: 16) },
        Malformation("a slice in the table", "a slice of the file lies outside of it") { $0.bytes.with(47, at: 16) },
        Malformation("an endless slice", "a slice of the file lies outside of it") { $0.bytes.with(-1, at: 20) },
        Malformation("a slice without bytes", "a slice of the file lies outside of it") { $0.bytes.with(0, at: 20) },
        Malformation("slices that overlap", "slices of the file overlap") {
            $0.bytes.with(Int($0.bytes.word(at: 20)) + 4096, at: 20)
        },
        Malformation("one slice twice", "slices of the file overlap") { $0.bytes.with(4096, at: 36) },
        Malformation("a gap that is too long", "slices of the file are far apart") {
            let moved = Int($0.bytes.word(at: 36)) + 2 << 20
            let second = Array($0.bytes[Int($0.bytes.word(at: 36))...])
            let first = Array($0.bytes[..<Int($0.bytes.word(at: 36))])
            return (first + [UInt8](repeating: 0, count: moved - first.count) + second).with(moved, at: 36)
        },
        Malformation("something before the first slice", "something lies between the slices of the file") {
            $0.bytes.with(1, at: 4095, width: 1)
        },
        Malformation("something between slices", "something lies between the slices of the file") {
            $0.bytes.with(1, at: Int($0.bytes.word(at: 36)) - 1, width: 1)
        },
        Malformation("something behind the last slice", "something follows the last slice of the file") {
            $0.bytes + [0]
        },
        Malformation("a slice that is no program", "a slice of the file is not a Mach-O program") {
            $0.bytes.with(0, at: 4096)
        },
        Malformation("a fat file in a fat file", "a slice of the file is not a Mach-O program") {
            $0.bytes.with(0xCAFE_BABE, at: 4096)
        },
        Malformation("a slice longer than its program", "something follows the signature of the program") {
            $0.bytes.with(Int($0.bytes.word(at: 20)) + 1, at: 20)
        },
    ]

    @Test(arguments: fatFiles) func `a fat file with bytes that nobody covers is refused`(_ malformation: Malformation)
        throws
    {
        let program = MachOFixture().program()
        let bytes = MachOFixture.fat([program, program])
        #expect(try readError(bytes) == nil)
        let file = MachOFixture.Program(bytes: bytes, command: 0, signature: 0)
        #expect(try readError(malformation.change(file)) == .malformed(malformation.reason))
    }

    @Test func `a file that only seems to be long is refused before it is read`() throws {
        var fixture = MachOFixture()
        fixture.reservedSpace = 256 << 20
        fixture.codeLength = 4096
        fixture.signed = false
        var bytes = fixture.program().bytes
        // The last load command becomes LC_CODE_SIGNATURE, with a blob of the whole reserved space.
        bytes = bytes.with(Self.little(0x1D), at: 56).with(Self.little(4096), at: 64).with(
            Self.little(fixture.reservedSpace), at: 68)
        bytes.append(word: 0xFADE_0CC0)
        bytes.append(word: UInt32(fixture.reservedSpace))
        let file = try openFile(bytes, in: scratch)
        try file.truncate(to: Int64(4096 + fixture.reservedSpace))
        #expect(throws: MachOSignature.ReadError.malformed("the signature is too long")) {
            try MachOSignature.read(from: file)
        }
    }

    // MARK: Random changes

    @Test(.timeLimit(.minutes(1))) func `changed files are understood or refused`() throws {
        let files = try mixedFiles()
        let count = rounds(1000, full: 4000)
        var understood = 0
        for seed in 1...UInt64(count) {
            var chance = SeededGenerator(seed: seed)
            let file = files[Int(seed % 4)]
            let change = try file.change(&chance)
            if try isUnderstood(file.shared.descriptor) { understood += 1 }
            try file.undo(change)
        }
        #expect((count / 10..<count * 9 / 10).contains(understood), "\(understood) of \(count) were understood")
    }

    /// Thin and fat files, of 32 and 64 bits, with several CodeDirectories and with one.
    private func mixedFiles() throws -> [ChangeableFile] {
        var fixture = MachOFixture()
        fixture.hashTypes = [1, 2]
        fixture.codeLength = 4096 + 256
        fixture.reservedSpace = 2048
        let little = fixture.program { _ in [1, 2, 3] }
        fixture.kind = .thin32
        return try [
            little.bytes, fixture.program { _ in [4] }.bytes,
            MachOFixture.fat([little, fixture.program()]), MachOFixture.fat([fixture.program(), little], wide: true),
        ].map { try ChangeableFile($0, descriptor: SharedDescriptor(openFile($0, in: Scratch()))) }
    }

    /// Whether a file has signatures that can be read. Calls every query of a signature.
    private func isUnderstood(_ file: borrowing Descriptor) throws -> Bool {
        guard let signatures = try? MachOSignature.read(from: file) else { return false }
        for signature in signatures {
            for directory in signature.codeDirectories {
                _ = signature.blobSlotsAgree(with: directory)
                _ = try signature.firstChangedPage(of: directory, in: file) { _ in true }
            }
        }
        return true
    }
}

/// A file in which random words are changed, or which is cut, and then restored.
private struct ChangeableFile {
    struct Change {
        var words: [Range<Int>] = []
        var isCut = false
    }

    private let original: [UInt8]
    let shared: SharedDescriptor
    /// Offsets of headers, tables and blobs; other bytes only change hashes.
    private let interesting: [Int]
    private let whole: PageBuffer
    private let word = PageBuffer(count: 4096)

    init(_ bytes: [UInt8], descriptor: SharedDescriptor) {
        original = bytes
        shared = descriptor
        interesting = bytes.indices.dropLast(3).filter { index in
            let page = index & 4095
            return page < 128 || bytes.count - index < 2048 && bytes[index...index + 3].contains { $0 != 0 }
        }
        whole = PageBuffer(count: bytes.count)
        whole.copy(bytes, to: 0)
    }

    func change(_ chance: inout SeededGenerator) throws -> Change {
        var change = Change()
        for _ in 0...Int.random(in: 0..<3, using: &chance) {
            let offset = interesting.randomElement(using: &chance)!
            let range = offset & ~3..<offset & ~3 + 4
            var value = [0, 1, 0x7FFF_FFFF, .max, 0x1000_0000, 0x1D00_0000, 0x1D, UInt32(original.count)]
                .randomElement(using: &chance)!
            if Bool.random(using: &chance) {
                value = original.word(at: range.lowerBound) ^ 1 << UInt32.random(in: 0..<32, using: &chance)
            }
            try write(value, at: range)
            change.words.append(range)
        }
        change.isCut = Int.random(in: 0..<10, using: &chance) == 0
        if change.isCut {
            try shared.descriptor.truncate(to: Int64.random(in: 0..<Int64(original.count), using: &chance))
        }
        return change
    }

    func undo(_ change: Change) throws {
        if change.isCut {
            try shared.descriptor.write(from: whole, count: original.count, to: 0)
        } else {
            for range in change.words { try write(original.word(at: range.lowerBound), at: range) }
        }
    }

    private func write(_ value: UInt32, at range: Range<Int>) throws {
        word.store(value.byteSwapped, at: 0)
        try shared.descriptor.write(from: word, count: 4, to: Int64(range.lowerBound))
    }
}
