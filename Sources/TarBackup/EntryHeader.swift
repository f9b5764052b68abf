// The blocks that come before an entry's content. An entry has one form, so that the same entry gives the same bytes.

import BackupModel
import Glibc
import SandboxModel

/// An entry as an archive has it, but for its content.
struct EntryHeader {
    /// Whole blocks: the extended records if there are any, the header, the map of a file with holes.
    let bytes: [UInt8]
    /// Of a plain file, nil for every other entry.
    let map: SparseMap?
    /// Bytes of content that follow.
    let contentLength: Int64

    /// The device holds files of 2 TiB.
    static let longestContent: Int64 = 4 << 40

    /// - Parameter given: the class that the directory above gives to what is made in it.
    init(_ entry: BackupEntry, at path: [UInt8], given: ProtectionClass) throws(BackupFlaw) {
        let isDirectory = entry.kind == .directory
        var header = TarHeader(name: isDirectory ? path + [UInt8(ascii: "/")] : path, kind: .file)
        var target: [UInt8] = []
        var map: SparseMap?
        var contentLength: Int64 = 0
        switch entry.kind {
        case .file(let content):
            contentLength = content.length
            if case .plain(let length, let data) = content {
                let whole = try SparseMap(length: length, data: data)
                (map, contentLength) = (whole, whole.dataLength)
            }
            guard content.length <= EntryHeader.longestContent else {
                throw BackupFlaw("cannot hold \(path.shown): a file has at most \(EntryHeader.longestContent) bytes")
            }
        case .directory: header.kind = .directory
        case .symbolicLink(let leads): (header.kind, target) = (.symbolicLink, leads)
        case .hardLink(let names):
            (header.kind, target) = (.hardLink, try ArchivePath.bytes(entry.domain, names))
            guard ArchivePath.precedes(target, path) else {
                throw BackupFlaw("cannot hold \(path.shown): the file that it is a further name of comes later")
            }
        case .fifo: header.kind = .fifo
        case .socket: break
        }
        let mapBytes = map.flatMap { $0.isWhole ? nil : $0.encoded } ?? []
        header.permissions = entry.permissions & 0o7777
        header.size = contentLength + Int64(mapBytes.count)

        var records = PaxRecords()
        EntryHeader.place(&header, target, isSparse: !mapBytes.isEmpty, into: &records)
        EntryHeader.number(&header, entry, into: &records)
        if let map, !mapBytes.isEmpty {
            records.append("GNU.sparse.major", "1")
            records.append("GNU.sparse.minor", "0")
            records.append("GNU.sparse.name", path)
            records.append("GNU.sparse.realsize", String(map.length))
        }
        try EntryHeader.attributes(of: entry, at: path, given: given, into: &records)
        guard records.bytes.count <= PaxRecords.longest else {
            throw BackupFlaw("cannot hold \(path.shown): its attributes take more than \(PaxRecords.longest) bytes")
        }

        var bytes: [UInt8] = []
        if !records.bytes.isEmpty {
            var extended = TarHeader(name: EntryHeader.extendedName, kind: .extended)
            extended.size = Int64(records.bytes.count)
            extended.append(to: &bytes)
            bytes += records.bytes
            bytes.append(contentsOf: repeatElement(0, count: Int(TarHeader.padded(extended.size) - extended.size)))
        }
        header.append(to: &bytes)
        self.bytes = bytes + mapBytes
        (self.map, self.contentLength) = (map, contentLength)
    }

    /// What Python's writer calls it. It tells nothing of the entry, nor of the process that wrote it.
    static let extendedName = Array("././@PaxHeader".utf8)

    /// Name and link target: in records where the fields hold them not, or hold no such bytes for certain.
    private static func place(
        _ header: inout TarHeader, _ target: [UInt8], isSparse: Bool, into records: inout PaxRecords
    ) {
        let isText = { (bytes: [UInt8]) in String(validating: bytes, as: UTF8.self) != nil }
        let fits = { (bytes: [UInt8]) in bytes.count <= TarHeader.longestName && !bytes.contains { $0 >= 0x80 } }
        if !isText(header.name) || !isText(target) { records.append("hdrcharset", "BINARY") }
        if isSparse {
            // Seen only by programs that do not know sparse files, and would take the map for content.
            header.name = Array("GNUSparseFile.0/".utf8) + header.name
        } else if !fits(header.name) {
            records.append("path", header.name)
        }
        header.name = Array(header.name.prefix(TarHeader.longestName))
        if !fits(target) { records.append("linkpath", target) }
        header.linkTarget = Array(target.prefix(TarHeader.longestName))
    }

    private static func number(_ header: inout TarHeader, _ entry: BackupEntry, into records: inout PaxRecords) {
        if header.size > TarHeader.largestNumber {
            records.append("size", String(header.size))
            header.size = 0
        }
        if entry.owner <= TarHeader.largestIdentifier {
            header.owner = entry.owner
        } else {
            records.append("uid", String(entry.owner))
        }
        if entry.group <= TarHeader.largestIdentifier {
            header.group = entry.group
        } else {
            records.append("gid", String(entry.group))
        }
        let seconds = Int64(entry.modificationTime.tv_sec)
        let fits = (0...TarHeader.largestNumber).contains(seconds)
        if fits { header.modified = seconds }
        if !fits || entry.modificationTime.tv_nsec != 0 { records.append("mtime", entry.modificationTime.decimal) }
    }
}

extension timespec {
    /// Seconds since 1970 as a decimal number, with nine digits behind the point unless all are zeros.
    fileprivate var decimal: String {
        guard tv_nsec != 0 else { return String(tv_sec) }
        let isNegative = tv_sec < 0
        let fraction = String(isNegative ? 1_000_000_000 - tv_nsec : tv_nsec)
        let whole = isNegative ? "-\(-(tv_sec + 1))" : "\(tv_sec)"
        return whole + "." + String(repeating: "0", count: 9 - fraction.utf8.count) + fraction
    }
}
