// The conversion of a backup's entry to a record. ``FinderBackupSource`` converts back.

import BackupModel
import Glibc
import SandboxModel

extension FileRecord {
    /// Makes a record without the fields that are known only after the content is written: key, digest, inode.
    init(_ entry: BackupEntry) {
        var addition = Addition(nanoseconds: Int64(entry.modificationTime.tv_nsec))
        let (seconds, times) = (Int64(entry.modificationTime.tv_sec), FileRecord.presentableTimes)
        if !times.contains(seconds) { addition.seconds = seconds }
        var (type, size): (mode_t, Int64) = (0, 0)
        var target: String?
        switch entry.kind {
        case .file(let content):
            size = content.length
            switch content {
            case .plain(let length, let data):
                type = S_IFREG
                addition.dataRanges = FileRecord.bounds(of: data, length: length)
            case .sealed(_, let keybag):
                addition.sealedBy = keybag
            }
        case .hardLink(let path):
            type = S_IFREG
            addition.hardLinkOf = path.joined
        case .directory: type = S_IFDIR
        case .symbolicLink(let bytes):
            type = S_IFLNK
            target = String(decoding: bytes, as: UTF8.self)
            // MBFile holds text. A target that is not UTF-8 is kept whole in the addition.
            if Array(target!.utf8) != bytes { addition.target = bytes }
        case .fifo: type = S_IFIFO
        case .socket: type = S_IFSOCK
        }
        self.init(
            mode: Int64(type | entry.permissions), owner: Int64(entry.owner), group: Int64(entry.group), size: size,
            modified: min(max(seconds, times.lowerBound), times.upperBound),
            protection: Int64(entry.protection?.rawValue ?? 0),
            target: target)
        // Other forms of the mark express the same fact, which `isExcluded` holds.
        for attribute in entry.attributes where BackupMark.Form(attribute: attribute.name) == nil {
            // Of two names that are one text to Unicode, a property list holds one.
            if let name = HostAttribute.appleName(attribute.name), attributes[name] == nil {
                attributes[name] = attribute.value
            } else {
                addition.attributes.append(attribute)
            }
        }
        if entry.isExcluded { attributes[HostAttribute.exclusionMark] = BackupMark.canonicalValue }
        self.addition = addition
    }

    /// The limit of ranges, which keeps a row below ``largestRow``. With more, holes are stored as zeros.
    private static let mostRanges = 1000

    /// The bounds of the ranges for ``Addition/dataRanges``; nil if the whole file is data, or there are too many.
    private static func bounds(of data: [Range<Int64>], length: Int64) -> [Int64]? {
        data == [0..<length] || data.count > mostRanges ? nil : data.flatMap { [$0.lowerBound, $0.upperBound] }
    }

    /// The ranges of the content that are not holes.
    var data: [Range<Int64>] {
        guard let bounds = addition?.dataRanges else { return size > 0 ? [0..<size] : [] }
        return stride(from: 0, to: bounds.count, by: 2).map { bounds[$0]..<bounds[$0 + 1] }
    }

    /// The column `flags`, by which tools select rows: 1 file, 2 directory, 4 symbolic link. No tool selects 0.
    var flags: Int64 {
        switch mode_t(mode) & S_IFMT {
        case S_IFREG: 1
        case S_IFDIR: 2
        case S_IFLNK: 4
        default: 0
        }
    }
}
