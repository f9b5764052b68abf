// An entry, put together from what stands before its content. It is judged later: what the same entry would be
// written as has to be the same bytes.

import BackupModel
import Glibc
import SandboxModel

/// The header of an entry and what its extended records say, as they were read.
struct EntryReading {
    let header: TarHeader
    /// Of the content with the map of a file with holes.
    let size: Int64
    /// How long a file with holes is; nil for every other entry.
    let sparseLength: Int64?
    /// As the archive names it, a directory without the slash at its end.
    let path: [UInt8]

    private var linkTarget: [UInt8]
    private var owner: uid_t
    private var group: gid_t
    private var modified: timespec
    private var protection: ProtectionClass?
    private var isExcluded = false
    private var isSocket = false
    private var keybag: [UInt8]?
    private var attributes: [BackupEntry.Attribute] = []

    init(_ header: TarHeader, records: [UInt8]) throws(BackupFlaw) {
        self.header = header
        (linkTarget, owner, group) = (header.linkTarget, header.owner, header.group)
        modified = timespec(tv_sec: Int(header.modified), tv_nsec: 0)
        var (path, size) = (header.name, header.size)
        var sparseLength: Int64?
        for (keyword, value) in try PaxRecords.parse(records) {
            switch String(decoding: keyword, as: UTF8.self) {
            case "hdrcharset", "GNU.sparse.major", "GNU.sparse.minor": break
            case "path", "GNU.sparse.name": path = Array(value)
            case "linkpath": linkTarget = Array(value)
            case "size": size = try EntryReading.number(value, in: 0...EntryHeader.longestContent + Int64(1 << 30))
            case "uid": owner = uid_t(try EntryReading.number(value, in: 0...Int64(uid_t.max)))
            case "gid": group = gid_t(try EntryReading.number(value, in: 0...Int64(gid_t.max)))
            case "mtime": modified = try EntryReading.time(value)
            case "GNU.sparse.realsize":
                sparseLength = try EntryReading.number(value, in: 0...EntryHeader.longestContent)
            case EntryHeader.Keyword.protection:
                guard let known = ProtectionClass(attributeValue: Array(value)) else {
                    throw BackupFlaw("has \(path.shown) of an unknown protection class: \(value.shown)")
                }
                protection = known
            case EntryHeader.Keyword.mark: isExcluded = true
            case EntryHeader.Keyword.sealed: keybag = [UInt8](hexadecimal: value)
            case EntryHeader.Keyword.socket: isSocket = true
            case let other where other.hasPrefix(EntryHeader.Keyword.attribute):
                let name = EntryReading.unescaped(keyword.dropFirst(EntryHeader.Keyword.attribute.utf8.count))
                guard EntryHeader.isAttributeName(name) else {
                    throw BackupFlaw("has an attribute that no app's file has: \(name.shown) of \(path.shown)")
                }
                attributes.append(BackupEntry.Attribute(name: name, value: Array(value)))
            default:
                throw BackupFlaw("has a record that no backup has: \(keyword.shown) of \(path.shown)")
            }
        }
        if header.kind == .directory, path.last == UInt8(ascii: "/") { path.removeLast() }
        (self.path, self.size, self.sparseLength) = (path, size, sparseLength)
        guard size >= 0, size == 0 || header.kind == .file else {
            throw BackupFlaw("has content where an entry of its kind has none: \(path.shown)")
        }
    }

    /// - Parameter map: of a file with holes; nil of any other entry.
    func entry(map: SparseMap?) throws(BackupFlaw) -> BackupEntry {
        let (domain, names) = try ArchivePath.parse(path)
        let kind: BackupEntry.Kind =
            switch header.kind {
            case .extended: throw BackupFlaw.altered(path)
            case .directory: .directory
            case .symbolicLink: .symbolicLink(linkTarget)
            case .fifo: .fifo
            case .hardLink: .hardLink(try hardLinkTarget(in: domain))
            case .file where isSocket: .socket
            case .file:
                if let keybag {
                    .file(.sealed(length: size, keybag: keybag))
                } else if let map {
                    .file(.plain(length: map.length, data: map.data))
                } else {
                    .file(.plain(length: size, data: size == 0 ? [] : [0..<size]))
                }
            }
        let ofFile = header.kind == .file && !isSocket
        // What a directory gives by default is not told; a file always has a class.
        let protection = ofFile ? self.protection ?? .standard : self.protection.flatMap { $0 == .standard ? nil : $0 }
        return BackupEntry(
            domain: domain, path: names, kind: kind, permissions: header.permissions, owner: owner, group: group,
            modificationTime: modified, protection: protection, isExcluded: isExcluded, attributes: attributes)
    }

    private func hardLinkTarget(in domain: BackupDomain) throws(BackupFlaw) -> [FileName] {
        let (other, names) = try ArchivePath.parse(linkTarget)
        guard other == domain, !names.isEmpty else {
            throw BackupFlaw("has a hard link that leads into another container: \(path.shown)")
        }
        guard ArchivePath.precedes(linkTarget, path) else {
            throw BackupFlaw("has a hard link to a file that does not come before it: \(path.shown)")
        }
        return names
    }

    private static func number(_ value: ArraySlice<UInt8>, in range: ClosedRange<Int64>) throws(BackupFlaw) -> Int64 {
        guard let number = Int64(String(decoding: value, as: UTF8.self)), range.contains(number) else {
            throw BackupFlaw("has a number that no entry can have: \(value.shown)")
        }
        return number
    }

    private static func time(_ value: ArraySlice<UInt8>) throws(BackupFlaw) -> timespec {
        let parts = value.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let flaw = BackupFlaw("has a time that no entry can have: \(value.shown)")
        guard let first = parts.first, let whole = Int(String(decoding: first, as: UTF8.self)) else { throw flaw }
        guard parts.count == 2 else { return timespec(tv_sec: whole, tv_nsec: 0) }
        guard parts[1].count == 9, let fraction = Int(String(decoding: parts[1], as: UTF8.self)),
            (1..<1_000_000_000).contains(fraction)
        else { throw flaw }
        guard first.first == UInt8(ascii: "-") else { return timespec(tv_sec: whole, tv_nsec: fraction) }
        guard whole > Int.min else { throw flaw }
        return timespec(tv_sec: whole - 1, tv_nsec: 1_000_000_000 - fraction)
    }

    private static func unescaped(_ name: ArraySlice<UInt8>) -> [UInt8] {
        guard name.contains(UInt8(ascii: "%")) else { return Array(name) }
        var bytes: [UInt8] = []
        var rest = name
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let known = [UInt8](hexadecimal: rest.prefix(2).map { $0 | 0x20 }),
                known.count == 1
            {
                bytes += known
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
