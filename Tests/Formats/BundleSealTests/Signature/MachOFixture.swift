// Signed Mach-O programs, written without the code that reads them.

import TestSupport

@testable import BundleSeal

/// A program to be, with all that its signature seals (mach-o/loader.h; xnu, osfmk/kern/cs_blobs.h).
struct MachOFixture {
    enum Kind: CaseIterable {
        /// Little-endian, as devices have it.
        case thin64
        /// Big-endian, as they were before.
        case thin32
    }

    var kind = Kind.thin64
    var identifier = "com.example.Notes"
    var team: String? = "A1B2C3D4E5"
    var flags: UInt32 = 0
    /// Hash functions by their number in the format: that of the code directory, then those of its alternates.
    var hashTypes: [UInt8] = [2]
    var pageShift: UInt8 = 12
    /// With its header; the last page is a short one.
    var codeLength = 3 * 4096 + 816
    var informationList: [UInt8]?
    var resources: [UInt8]?
    /// What the blobs hold behind their headers.
    var requirements: [UInt8]? = [0, 0, 0, 0]
    var entitlements: [UInt8]? = Array("<plist><dict/></plist>".utf8)
    var derEntitlements: [UInt8]?
    /// Room for the signature, which is part of the load commands that the signature is over.
    var room = 24 * 1024
    var signed = true

    /// A main executable as it lies in a bundle.
    /// - Parameter sign: gives the CMS message over a code directory, of which there is one.
    static func executable(
        informationList: [UInt8], resources: [UInt8], identifier: String, sign: ([UInt8]) -> [UInt8]
    ) -> [UInt8] {
        var fixture = MachOFixture()
        fixture.identifier = identifier
        fixture.informationList = informationList
        fixture.resources = resources
        return fixture.program { sign($0[0]) }.bytes
    }

    /// The bytes of a program, and where its parts are.
    struct Program {
        var bytes: [UInt8]
        /// Where the load command begins that names the signature.
        let command: Int
        let signature: Int

        /// Where a blob of the signature lies.
        func blob(_ slot: UInt32) -> Range<Int> {
            let entry = entry(slot)
            let start = signature + Int(bytes.word(at: entry + 4))
            return start..<start + Int(bytes.word(at: start + 4))
        }

        /// Where the signature's table tells of a blob.
        func entry(_ slot: UInt32) -> Int {
            (0..<Int(bytes.word(at: signature + 8))).map { signature + 12 + $0 * 8 }
                .first { bytes.word(at: $0) == slot }!
        }
    }

    /// - Parameter sign: gives the CMS message over the first of the code directories, whose alternates follow it.
    ///   Nothing is put where it gives nothing.
    func program(sign: ([[UInt8]]) -> [UInt8] = { _ in [] }) -> Program {
        let (code, command) = code
        guard signed else { return Program(bytes: code, command: command, signature: code.count) }
        var blobs: [(slot: UInt32, bytes: [UInt8])] = []
        if let requirements { blobs.append((2, MachOFixture.blob(0xFADE_0C01, requirements))) }
        if let entitlements { blobs.append((5, MachOFixture.blob(0xFADE_7171, entitlements))) }
        if let derEntitlements { blobs.append((7, MachOFixture.blob(0xFADE_7172, derEntitlements))) }

        var directory = DirectoryFixture()
        directory.flags = flags
        directory.identifier = identifier
        directory.team = team
        directory.pageShift = pageShift
        directory.code = code
        directory.special[1] = informationList
        directory.special[3] = resources
        for blob in blobs { directory.special[Int(blob.slot)] = blob.bytes }
        let directories = hashTypes.map { type in
            directory.hashType = type
            return directory.bytes
        }
        blobs.insert((0, directories[0]), at: 0)
        for (index, bytes) in directories.dropFirst().enumerated() { blobs.append((0x1000 + UInt32(index), bytes)) }
        let message = sign(directories)
        if !message.isEmpty { blobs.append((0x10000, MachOFixture.blob(0xFADE_0B01, message))) }

        var table: [UInt8] = []
        var contents: [UInt8] = []
        table.append(word: UInt32(blobs.count))
        for blob in blobs {
            table.append(word: blob.slot)
            table.append(word: UInt32(12 + blobs.count * 8 + contents.count))
            contents += blob.bytes
        }
        let signature = MachOFixture.blob(0xFADE_0CC0, table + contents)
        precondition(signature.count <= room, "the signature needs more room")
        let rest = [UInt8](repeating: 0, count: room - signature.count)
        return Program(bytes: code + signature + rest, command: command, signature: code.count)
    }

    /// A fat file of programs, each at a multiple of a page.
    static func fat(_ programs: [Program], wide: Bool = false) -> [UInt8] {
        var header: [UInt8] = []
        var contents: [UInt8] = []
        header.append(word: wide ? 0xCAFE_BABF : 0xCAFE_BABE)
        header.append(word: UInt32(programs.count))
        for program in programs {
            contents += [UInt8](repeating: 0, count: -contents.count & 4095)
            header.append(word: 0x0100_000C)
            header.append(word: 0)
            if wide {
                header.append(longWord: UInt64(4096 + contents.count))
                header.append(longWord: UInt64(program.bytes.count))
                header.append(word: 12)
                header.append(word: 0)
            } else {
                header.append(word: UInt32(4096 + contents.count))
                header.append(word: UInt32(program.bytes.count))
                header.append(word: 12)
            }
            contents += program.bytes
        }
        return header + [UInt8](repeating: 0, count: 4096 - header.count) + contents
    }

    private static func blob(_ magic: UInt32, _ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(word: magic)
        bytes.append(word: UInt32(8 + content.count))
        return bytes + content
    }

    /// The header, load commands, and bytes of no meaning.
    private var code: (bytes: [UInt8], command: Int) {
        let swap = kind == .thin64
        var bytes: [UInt8] = []
        func put(_ words: [UInt32]) { for word in words { bytes.append(word: swap ? word.byteSwapped : word) } }
        let commands: [[UInt32]] =
            [[0x1B, 24, 1, 2, 3, 4]]
            + (signed ? [[0x1D, 16, UInt32(codeLength), UInt32(room)]] : []) + [[0x2A, 16, 0, 0]]
        // An executable file of no flags.
        put([kind == .thin64 ? 0xFEED_FACF : 0xFEED_FACE, kind == .thin64 ? 0x0100_000C : 12, 0, 2])
        put([UInt32(commands.count), UInt32(commands.joined().count * 4), 0])
        if kind == .thin64 { put([0]) }
        let command = bytes.count + 24
        for command in commands { put(command) }
        var chance = SeededGenerator(seed: UInt64(codeLength))
        return (bytes + chance.bytes(codeLength - bytes.count), command)
    }
}
