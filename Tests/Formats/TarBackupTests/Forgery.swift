// A writer of forged archives, which agree with their manifest.

import BackupModel
import HashFunctions
import Platform
import SandboxModel
import TarFormat
import TestSupport

@testable import TarBackup

/// A forged entry.
struct Forged {
    /// The type flag of ustar and pax.
    enum Letter: Character {
        case file = "0"
        case hardLink = "1"
        case symbolicLink = "2"
        case directory = "5"
        case fifo = "6"
        case extended = "x"
    }

    var header: [UInt8]
    var content: [UInt8] = []
    /// The content with its map of holes.
    var whole: [UInt8]?
    /// The fields of the manifest's line; the digests agree with the entry.
    var kind: ManifestLine.Kind
    var path: [UInt8]

    /// The entry as TarWriter writes it, at another path.
    static func sample(_ sample: Sample, at path: String? = nil) -> Forged {
        let own = try! ArchivePath.bytes(sample.entry.domain, sample.entry.path)
        let path = path ?? String(decoding: own, as: UTF8.self)
        let entry = try! TarEntry(sample.entry, at: Array(path.utf8), inheriting: .standard)
        var (letter, map, target) = (Letter.file, [UInt8](), [UInt8]())
        var records: [(String, [UInt8])] = [("mtime", Array("1700000000.123456789".utf8))]
        switch entry.kind {
        case .file(let length, let data):
            guard entry.kind != TarEntry.file(length) else { break }
            map = Array("\(data.count)\n".utf8) + data.flatMap { Array("\($0.lowerBound)\n\($0.count)\n".utf8) }
            map += [UInt8](repeating: 0, count: 512 - map.count)
            records += sparse(path, length: "\(length)")
        case .directory: letter = .directory
        case .symbolicLink(let leads): (letter, target) = (.symbolicLink, leads)
        case .hardLink(let leads): (letter, target) = (.hardLink, leads)
        case .fifo: letter = .fifo
        }
        if !target.isEmpty { records += [("hdrcharset", Array("BINARY".utf8)), ("linkpath", target)] }
        records += entry.attributes.map { ("SCHILY.xattr." + String(decoding: $0.name, as: UTF8.self), $0.value) }
        var forged = raw(
            path, letter, as: ManifestLine.Kind(sample.entry.kind), link: target.isEmpty ? "" : "elsewhere",
            content: map + sample.data, records: records)
        forged.whole = sample.content
        return forged
    }

    static func sparse(_ path: String, length: String) -> [(String, [UInt8])] {
        [
            ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", path),
            ("GNU.sparse.realsize", length),
        ].map { ($0, Array($1.utf8)) }
    }

    /// An entry with a custom header and custom records.
    static func raw(
        _ path: String, _ letter: Letter = .file, as line: ManifestLine.Kind = .file, link: String = "",
        content: [UInt8] = [], size: Int64? = nil, records: [(String, [UInt8])] = [],
        change: (inout [UInt8]) -> Void = { _ in }
    ) -> Forged {
        var bytes: [UInt8] = []
        if !records.isEmpty {
            let all = records.flatMap { keyword, value in record(keyword, value) }
            bytes = block("././@PaxHeader", .extended, size: Int64(all.count)) + all
            bytes += [UInt8](repeating: 0, count: -all.count & 511)
        }
        var last = block(path, letter, link: link, size: size ?? Int64(content.count))
        change(&last)
        return Forged(header: bytes + last, content: content, kind: line, path: Array(path.utf8))
    }

    private static func record(_ keyword: String, _ value: [UInt8]) -> [UInt8] {
        let rest = Array(" \(keyword)=".utf8) + value + [10]
        let digits = (1...9).first { String(rest.count + $0).utf8.count == $0 }!
        return Array(String(rest.count + digits).utf8) + rest
    }

    /// A ustar header.
    private static func block(_ name: String, _ letter: Letter, link: String = "", size: Int64) -> [UInt8] {
        func field(_ text: String, _ width: Int) -> [UInt8] {
            let bytes = Array(text.utf8.prefix(width))
            return bytes + [UInt8](repeating: 0, count: width - bytes.count)
        }
        func octal(_ number: Int64, _ width: Int) -> [UInt8] {
            let digits = String(number, radix: 8)
            return field(String(repeating: "0", count: width - 1 - digits.utf8.count) + digits, width)
        }
        var bytes = field(name, 100) + octal(0o644, 8) + octal(501, 8) + octal(502, 8) + octal(size, 12)
        bytes += octal(1_700_000_000, 12) + field("", 8) + letter.rawValue.utf8 + field(link, 100)
        bytes += Array("ustar\u{0}00".utf8) + field("", 247)
        var forged = Forged(header: bytes, kind: .file, path: [])
        forged.repairChecksums()
        return forged.header
    }
}

extension Forged {
    /// Corrects the checksum of every header block.
    mutating func repairChecksums() {
        for start in stride(from: 0, to: header.count, by: 512)
        where header[(start + 257)..<(start + 262)].elementsEqual("ustar".utf8) {
            var sum = 0
            for index in 0..<512 { sum += (148..<156).contains(index) ? 32 : Int(header[start + index]) }
            let digits = Array(String(sum, radix: 8).utf8)
            header.replaceSubrange(
                (start + 148)..<(start + 155), with: [UInt8](repeating: 48, count: 6 - digits.count) + digits + [0])
        }
    }

    var bytes: [UInt8] { header + content + [UInt8](repeating: 0, count: -content.count & 511) }

    /// The entry as it is read; an arbitrary one if it cannot be read.
    var metadata: [UInt8] {
        let reader = try? TarReader(MemoryInput(bytes + [UInt8](repeating: 0, count: 1024)), from: .backup(""))
        return (try? reader?.next())?.digest ?? HashFunction.sha256.digest(of: [])
    }
}

/// An archive in memory.
private final class MemoryInput: ArchiveInput {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    func read(into buffer: PageBuffer) -> Int {
        let piece = bytes.prefix(buffer.count)
        buffer.copy(piece, to: 0)
        bytes = bytes.dropFirst(piece.count)
        return piece.count
    }

    func skip(_ count: Int64) -> Bool { false }
}

enum Forgery {
    static func archive(
        _ entries: [Forged], description: String? = nil, lines: ([ManifestLine]) -> [ManifestLine] = { $0 }
    ) -> [UInt8] {
        let text = description.map { Array($0.utf8) } ?? (try! BackupDescription(apps: [notes], base: nil).encoded())
        let all = [Forged.raw(".appcontainer/Backup.json", content: text)] + entries
        let body = lines(
            all.map { entry in
                ManifestLine(
                    isInThisArchive: true, kind: entry.kind, metadata: entry.metadata,
                    content: entry.kind == .file ? HashFunction.sha256.digest(of: entry.whole ?? entry.content) : nil,
                    path: entry.path)
            })
        let bytes = body.flatMap(\.encoded)
        var end = ManifestEnd(lines: Int64(body.count), bytes: Int64(bytes.count), digest: [])
        end.digest = HashFunction.sha256.digest(of: bytes + end.beginning)
        var manifest = Forged.raw(".appcontainer/Manifest", content: bytes + end.encoded)
        // Mode, owner and time of the manifest are constant.
        for (start, field) in [(100, "0000600"), (108, "0000000"), (116, "0000000"), (136, "00000000000")] {
            manifest.header.replaceSubrange(start..<(start + field.utf8.count), with: field.utf8)
        }
        manifest.repairChecksums()
        return (all + [manifest]).flatMap(\.bytes) + [UInt8](repeating: 0, count: TarManifest.endLength)
    }
}
