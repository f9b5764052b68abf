// An entry of a backup as an entry of a tar: the attributes stand for all that a tar has no form for.

import BackupModel
import Glibc
import Platform
import SandboxModel

extension TarEntry {
    /// Attributes by the names that a host has for them.
    enum Name {
        /// What is no attribute of the app's: the mount takes none by these names.
        static let reserved = Array("user.appcontainer.".utf8)
        static let protection = Array(ProtectionClass.attributeName.utf8)
        static let mark = Array(BackupMark.attributeName.utf8)
        static let sealed = reserved + Array("sealed".utf8)
        static let socket = reserved + Array("kind".utf8)
    }

    static let socketValue = Array("socket".utf8)

    /// - Parameter given: the class that the directory above gives to what is made in it.
    init(_ entry: BackupEntry, at path: [UInt8], given: ProtectionClass) throws(BackupFlaw) {
        switch entry.kind {
        case .file(let content):
            guard content.length <= TarEntry.longestContent else {
                throw BackupFlaw("cannot hold \(path.shown): a file has at most \(TarEntry.longestContent) bytes")
            }
            kind = TarEntry.file(content.length)
            if case .plain(let length, let data) = content {
                let joined = try TarEntry.joined(data, length: length)
                guard joined.count <= TarEntry.mostPieces else {
                    throw BackupFlaw("cannot hold \(path.shown): it has more than \(TarEntry.mostPieces) holes")
                }
                kind = .file(length: length, data: joined)
            }
        case .directory: kind = .directory
        case .symbolicLink(let target): kind = .symbolicLink(target)
        case .hardLink(let names):
            let target = try ArchivePath.bytes(entry.domain, names)
            guard ArchivePath.precedes(target, path) else {
                throw BackupFlaw("cannot hold \(path.shown): the file that it is a further name of comes later")
            }
            kind = .hardLink(target)
        case .fifo: kind = .fifo
        case .socket: kind = TarEntry.file(0)
        }
        self.path = path
        permissions = entry.permissions & 0o7777
        (owner, group) = (entry.owner, entry.group)
        modified = entry.modificationTime
        // The one second that a decimal number with a sign does not reach.
        modified.tv_sec = max(modified.tv_sec, -Int.max)
        attributes = try TarEntry.attributes(of: entry, at: path, given: given)
        guard attributes.reduce(0, { $0 + 3 * $1.name.count + $1.value.count + 32 }) <= TarEntry.mostAttributes else {
            throw BackupFlaw(
                "cannot hold \(path.shown): its attributes take more than \(TarEntry.mostAttributes) bytes")
        }
    }

    private static func attributes(
        of entry: BackupEntry, at path: [UInt8], given: ProtectionClass
    ) throws(BackupFlaw) -> [BackupEntry.Attribute] {
        switch entry.kind {
        case .file, .directory: break
        // Class, mark and attributes are those of the file, and come with its first name.
        case .hardLink: return []
        case .symbolicLink, .fifo, .socket:
            guard entry.attributes.isEmpty, !entry.isExcluded else {
                throw BackupFlaw("cannot hold \(path.shown): only files and directories have attributes")
            }
            return entry.kind == .socket ? [BackupEntry.Attribute(name: Name.socket, value: socketValue)] : []
        }
        var all: [BackupEntry.Attribute] = []
        // Another name of the mark is no fact of its own, whoever left it there.
        for attribute in entry.attributes where BackupMark.Form(attribute: attribute.name) == nil {
            guard isAttributeName(attribute.name),
                all.last.map({ $0.name.lexicographicallyPrecedes(attribute.name) }) ?? true
            else {
                throw BackupFlaw("cannot hold \(path.shown): \(attribute.name.shown) is no attribute of an app's file")
            }
            all.append(attribute)
        }
        // Whoever unpacks the archive onto a mount needs it wherever an ancestor gives another class.
        let protection = entry.protection ?? .standard
        if protection != .standard || given != .standard {
            all.append(BackupEntry.Attribute(name: Name.protection, value: Array(protection.foundationName.utf8)))
        }
        if entry.isExcluded {
            all.append(BackupEntry.Attribute(name: Name.mark, value: Array(BackupMark.canonicalValue)))
        }
        if case .file(.sealed(_, let keybag)) = entry.kind {
            all.append(BackupEntry.Attribute(name: Name.sealed, value: Array(keybag.hexadecimal.utf8)))
        }
        return all.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Whether an app's file can have an attribute of that name.
    static func isAttributeName(_ name: [UInt8]) -> Bool {
        name.starts(with: "user.".utf8) && name.count > 5 && name.count <= 255 && !name.contains(0)
            && !name.starts(with: Name.reserved) && BackupMark.Form(attribute: name) == nil
    }
}
