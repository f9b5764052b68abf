// The conversion of a tar entry to a backup's entry. Archives are untrusted input.

import BackupModel
import Glibc
import Platform
import SandboxModel
import TarFormat

extension TarEntry {
    /// The backup's entry.
    /// - Throws: ``ArchiveFlaw`` for an entry that no backup of this project has: a path or link that leads out of its
    ///   container, a device node, an attribute that apps cannot set.
    func backupEntry() throws(ArchiveFlaw) -> BackupEntry {
        let (domain, names) = try ArchivePath.parse(path)
        var protection: ProtectionClass?
        var (isExcluded, isSocket) = (false, false)
        var keybag: [UInt8]?
        var own: [BackupEntry.Attribute] = []
        var previous: [UInt8] = []
        for attribute in attributes {
            // Sorted by the reader, so two of one name would be neighbours.
            guard previous.lexicographicallyPrecedes(attribute.name) else { throw .altered(path) }
            previous = attribute.name
            switch attribute.name {
            case Name.protection:
                guard let known = ProtectionClass(attributeValue: attribute.value) else {
                    throw ArchiveFlaw("has \(path.shown) of an unknown protection class: \(attribute.value.shown)")
                }
                protection = known
            case Name.mark: isExcluded = true
            case Name.sealed:
                keybag = [UInt8](hexadecimal: attribute.value[...])
                guard keybag != nil else { throw .altered(path) }
            case Name.socket:
                isSocket = attribute.value == TarEntry.socketValue
                guard isSocket else { throw .altered(path) }
            default:
                guard TarEntry.isAttributeName(attribute.name) else {
                    throw ArchiveFlaw(
                        "has an attribute that no app's file has: \(attribute.name.shown) of \(path.shown)")
                }
                own.append(BackupEntry.Attribute(name: attribute.name, value: attribute.value))
            }
        }
        let kind = try backupKind(in: domain, isSocket: isSocket, keybag: keybag)
        guard !names.isEmpty || kind == .directory else {
            throw ArchiveFlaw("has a container that is no directory: \(path.shown)")
        }
        switch kind {
        // A file always has a class; a directory's default class is expressed by nil.
        case .file: protection = protection ?? .standard
        case .directory: if protection == .standard { protection = nil }
        default:
            guard own.isEmpty, protection == nil, !isExcluded else {
                throw ArchiveFlaw("has attributes where an entry of its kind has none: \(path.shown)")
            }
        }
        return BackupEntry(
            domain: domain, path: names, kind: kind, permissions: permissions, owner: owner, group: group,
            modificationTime: modified, protection: protection, isExcluded: isExcluded, attributes: own)
    }

    /// The kind of the backup's entry. Sockets and sealed files are files in the tar, with a reserved attribute.
    private func backupKind(
        in domain: BackupDomain, isSocket: Bool, keybag: [UInt8]?
    ) throws(ArchiveFlaw) -> BackupEntry.Kind {
        guard case .file(let length, let data) = kind else {
            guard !isSocket, keybag == nil else { throw .altered(path) }
            return try otherKind(in: domain)
        }
        guard length <= TarEntry.longestContent else {
            throw ArchiveFlaw("has a file of more than \(TarEntry.longestContent) bytes: \(path.shown)")
        }
        if isSocket {
            guard length == 0, keybag == nil else { throw .altered(path) }
            return .socket
        }
        guard let keybag else { return .file(.plain(length: length, data: data)) }
        guard self.kind == TarEntry.file(length) else { throw .altered(path) }
        return .file(.sealed(length: length, keybag: keybag))
    }

    /// The kind of an entry that is no file.
    private func otherKind(in domain: BackupDomain) throws(ArchiveFlaw) -> BackupEntry.Kind {
        switch kind {
        case .file: throw .altered(path)
        case .directory: .directory
        case .fifo: .fifo
        case .symbolicLink(let target): .symbolicLink(try symbolicLinkTarget(target))
        case .hardLink(let target): .hardLink(try hardLinkNames(target, in: domain))
        }
    }

    /// The target of a symbolic link, which has to be one that symlink(2) accepts.
    private func symbolicLinkTarget(_ target: [UInt8]) throws(ArchiveFlaw) -> [UInt8] {
        guard (1..<Int(PATH_MAX)).contains(target.count) else {
            throw ArchiveFlaw("has a symbolic link that there cannot be: \(path.shown)")
        }
        return target
    }

    /// The target of a hard link, which has to come before the entry and lie in the same container.
    private func hardLinkNames(_ target: [UInt8], in domain: BackupDomain) throws(ArchiveFlaw) -> [FileName] {
        let (other, names) = try ArchivePath.parse(target)
        guard other == domain, !names.isEmpty else {
            throw ArchiveFlaw("has a hard link that leads into another container: \(path.shown)")
        }
        guard ArchivePath.precedes(target, path) else {
            throw ArchiveFlaw("has a hard link to a file that does not come before it: \(path.shown)")
        }
        return names
    }
}
