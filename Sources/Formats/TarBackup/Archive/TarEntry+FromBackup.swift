// The conversion of a backup's entry to a tar entry. Facts that tar has no field for become extended attributes.

import BackupModel
import Glibc
import Platform
import SandboxModel
import TarFormat

extension TarEntry {
    /// Extended attributes with a meaning of their own in an archive.
    enum Name {
        static let protection = Array(ProtectionClass.attributeName.utf8)
        static let mark = Array(BackupMark.attributeName.utf8)
        /// Of a sealed file: the identifier of its keybag, in hexadecimal.
        static let sealed = BackupEntry.Attribute.reservedPrefix + Array("sealed".utf8)
        /// Of an empty file that stands for a socket.
        static let socket = BackupEntry.Attribute.reservedPrefix + Array("kind".utf8)
    }

    static let socketValue = Array("socket".utf8)

    /// - Parameters:
    ///   - path: the path in the archive.
    ///   - inherited: the class that the directory above gives to new entries.
    /// - Throws: ``ArchiveFlaw`` for an entry over the limits of the format.
    init(_ entry: BackupEntry, at path: [UInt8], inheriting inherited: ProtectionClass) throws(ArchiveFlaw) {
        self.init(path: path, kind: try TarEntry.kind(of: entry, at: path))
        permissions = entry.permissions & 0o7777
        (owner, group) = (entry.owner, entry.group)
        modified = entry.modificationTime
        // libarchive cannot write Int.min in decimal.
        modified.tv_sec = max(modified.tv_sec, -Int.max)
        attributes = try TarEntry.attributes(of: entry, at: path, inheriting: inherited)
        guard attributes.reduce(0, { $0 + 3 * $1.name.count + $1.value.count + 32 }) <= TarEntry.mostAttributes else {
            throw ArchiveFlaw(
                "cannot hold \(path.shown): its attributes take more than \(TarEntry.mostAttributes) bytes")
        }
    }

    private static func kind(of entry: BackupEntry, at path: [UInt8]) throws(ArchiveFlaw) -> Kind {
        switch entry.kind {
        case .file(let content):
            guard content.length <= TarEntry.longestContent else {
                throw ArchiveFlaw("cannot hold \(path.shown): a file has at most \(TarEntry.longestContent) bytes")
            }
            // A sealed file is ciphertext, which has no holes.
            guard case .plain(let length, let data) = content else { return TarEntry.file(content.length) }
            let joined = try TarEntry.joined(data, length: length)
            guard joined.count <= TarEntry.mostPieces else {
                throw ArchiveFlaw("cannot hold \(path.shown): it has more than \(TarEntry.mostPieces) holes")
            }
            return .file(length: length, data: joined)
        case .directory: return .directory
        case .symbolicLink(let target): return .symbolicLink(target)
        case .hardLink(let names):
            let target = try ArchivePath.bytes(entry.domain, names)
            guard ArchivePath.precedes(target, path) else {
                throw ArchiveFlaw("cannot hold \(path.shown): the file that it is a further name of comes later")
            }
            return .hardLink(target)
        case .fifo: return .fifo
        case .socket: return TarEntry.file(0)
        }
    }

    /// The attributes of the tar entry, sorted by name: the app's own, then class, mark and kind.
    private static func attributes(
        of entry: BackupEntry, at path: [UInt8], inheriting inherited: ProtectionClass
    ) throws(ArchiveFlaw) -> [TarEntry.Attribute] {
        switch entry.kind {
        case .file, .directory: break
        // Class, mark and attributes belong to the file, and come with its first name.
        case .hardLink: return []
        case .symbolicLink, .fifo, .socket:
            guard entry.attributes.isEmpty, !entry.isExcluded else {
                throw ArchiveFlaw("cannot hold \(path.shown): only files and directories have attributes")
            }
            return entry.kind == .socket ? [TarEntry.Attribute(name: Name.socket, value: socketValue)] : []
        }
        var all: [TarEntry.Attribute] = []
        // Other names of the mark express the same fact, which `isExcluded` holds.
        for attribute in entry.attributes where BackupMark.Form(attribute: attribute.name) == nil {
            guard isAttributeName(attribute.name),
                all.last.map({ $0.name.lexicographicallyPrecedes(attribute.name) }) ?? true
            else {
                throw ArchiveFlaw("cannot hold \(path.shown): \(attribute.name.shown) is no attribute of an app's file")
            }
            all.append(TarEntry.Attribute(name: attribute.name, value: attribute.value))
        }
        // Also the standard class where the directory gives another, for tools that unpack the archive onto a mount.
        let protection = entry.protection ?? .standard
        if protection != .standard || inherited != .standard {
            all.append(TarEntry.Attribute(name: Name.protection, value: Array(protection.foundationName.utf8)))
        }
        if entry.isExcluded {
            all.append(TarEntry.Attribute(name: Name.mark, value: Array(BackupMark.canonicalValue)))
        }
        if case .file(.sealed(_, let keybag)) = entry.kind {
            all.append(TarEntry.Attribute(name: Name.sealed, value: Array(keybag.hexadecimal.utf8)))
        }
        return all.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Whether an app can set an attribute of that name, which is no form of the mark.
    static func isAttributeName(_ name: [UInt8]) -> Bool {
        BackupEntry.Attribute.isAppName(name) && BackupMark.Form(attribute: name) == nil
    }
}
