// Archives that agree with their manifest and are wrong all the same: somebody made them so.

import BackupModel
import SandboxModel
import TestSupport

@testable import TarBackup

/// An entry as its maker likes it.
struct Forged {
    var header: [UInt8]
    var content: [UInt8] = []
    /// With its holes, where it has any.
    var whole: [UInt8]?
    /// What the manifest says of it; the digests are made to agree.
    var kind: ManifestLine.Kind
    var path: [UInt8]

    /// As it would be written, at another path.
    static func sample(_ sample: Sample, at path: String? = nil) -> Forged {
        let own = try! ArchivePath.bytes(sample.entry.domain, sample.entry.path)
        let path = path.map { Array($0.utf8) } ?? own
        let header = try! EntryHeader(sample.entry, at: path, given: .standard)
        return Forged(
            header: header.bytes, content: sample.data, whole: sample.content,
            kind: ManifestLine.Kind(sample.entry.kind), path: path)
    }

    /// One with a header and records of its own.
    static func raw(
        _ path: String, _ kind: TarHeader.Kind = .file, as line: ManifestLine.Kind = .file, link: String = "",
        content: [UInt8] = [], size: Int64? = nil, records: [(String, [UInt8])] = [],
        change: (inout [UInt8]) -> Void = { _ in }
    ) -> Forged {
        var header = TarHeader(name: Array(path.utf8), kind: kind)
        header.linkTarget = Array(link.utf8)
        header.size = size ?? Int64(content.count)
        var bytes: [UInt8] = []
        if !records.isEmpty {
            var all = PaxRecords()
            for (keyword, value) in records { all.append(Array(keyword.utf8), value) }
            var extended = TarHeader(name: EntryHeader.extendedName, kind: .extended)
            extended.size = Int64(all.bytes.count)
            extended.append(to: &bytes)
            bytes += all.bytes + [UInt8](repeating: 0, count: Int(TarHeader.padded(extended.size) - extended.size))
        }
        var block: [UInt8] = []
        header.append(to: &block)
        change(&block)
        return Forged(header: bytes + block, content: content, kind: line, path: Array(path.utf8))
    }
}

extension Forged {
    /// Makes the sums right again of every block that is a header.
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
}

enum Forgery {
    static func archive(
        _ entries: [Forged], description: String? = nil, lines: ([ManifestLine]) -> [ManifestLine] = { $0 }
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        var all: [ManifestLine] = []
        let text = description.map { Array($0.utf8) } ?? (try! BackupDescription(apps: [notes], base: nil).encoded())
        var first = TarHeader(name: BackupDescription.path, kind: .file)
        first.size = Int64(text.count)
        var header: [UInt8] = []
        first.append(to: &header)
        for entry in [Forged(header: header, content: text, kind: .file, path: BackupDescription.path)] + entries {
            bytes += entry.header + entry.content
            bytes += [UInt8](repeating: 0, count: (512 - entry.content.count % 512) % 512)
            all.append(
                ManifestLine(
                    isHere: true, kind: entry.kind, header: digest(of: entry.header),
                    content: entry.kind == .file ? digest(of: entry.whole ?? entry.content) : nil, path: entry.path))
        }
        let body = lines(all).flatMap(\.encoded)
        var end = ManifestEnd(lines: Int64(lines(all).count), bytes: Int64(body.count), digest: [])
        end.digest = digest(of: body + end.beginning)
        let manifest = body + end.encoded
        bytes += Manifest.header(length: Int64(manifest.count)) + manifest
        bytes += [UInt8](repeating: 0, count: (512 - manifest.count % 512) % 512 + Manifest.endLength)
        return bytes
    }

    static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = SHA256()
        digest.update(bytes)
        return digest.finish()
    }
}
