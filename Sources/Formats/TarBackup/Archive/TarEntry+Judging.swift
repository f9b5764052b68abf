// An entry of a tar as an entry of a backup, unless a backup cannot hold such a one.

import BackupModel
import Glibc
import Platform
import SandboxModel

extension TarEntry {
    func backupEntry() throws(BackupFlaw) -> BackupEntry {
        let (domain, names) = try ArchivePath.parse(path)
        var protection: ProtectionClass?
        var (isExcluded, isSocket) = (false, false)
        var keybag: [UInt8]?
        var own: [BackupEntry.Attribute] = []
        var previous: [UInt8] = []
        for attribute in attributes {
            guard previous.lexicographicallyPrecedes(attribute.name) else { throw .altered(path) }
            previous = attribute.name
            switch attribute.name {
            case Name.protection:
                guard let known = ProtectionClass(attributeValue: attribute.value) else {
                    throw BackupFlaw("has \(path.shown) of an unknown protection class: \(attribute.value.shown)")
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
                    throw BackupFlaw(
                        "has an attribute that no app's file has: \(attribute.name.shown) of \(path.shown)")
                }
                own.append(attribute)
            }
        }
        let kind = try backupKind(in: domain, isSocket: isSocket, keybag: keybag)
        guard !names.isEmpty || kind == .directory else {
            throw BackupFlaw("has a container that is no directory: \(path.shown)")
        }
        switch kind {
        // A file always has a class; what a directory gives by default is not told.
        case .file: protection = protection ?? .standard
        case .directory: if protection == .standard { protection = nil }
        default:
            guard own.isEmpty, protection == nil, !isExcluded else {
                throw BackupFlaw("has attributes where an entry of its kind has none: \(path.shown)")
            }
        }
        return BackupEntry(
            domain: domain, path: names, kind: kind, permissions: permissions, owner: owner, group: group,
            modificationTime: modified, protection: protection, isExcluded: isExcluded, attributes: own)
    }

    private func backupKind(
        in domain: BackupDomain, isSocket: Bool, keybag: [UInt8]?
    ) throws(BackupFlaw) -> BackupEntry.Kind {
        guard case .file(let length, let data) = kind else {
            guard !isSocket, keybag == nil else { throw .altered(path) }
            return try otherKind(in: domain)
        }
        guard length <= TarEntry.longestContent else {
            throw BackupFlaw("has a file of more than \(TarEntry.longestContent) bytes: \(path.shown)")
        }
        if isSocket {
            guard length == 0, keybag == nil else { throw .altered(path) }
            return .socket
        }
        guard let keybag else { return .file(.plain(length: length, data: data)) }
        guard self.kind == TarEntry.file(length) else { throw .altered(path) }
        return .file(.sealed(length: length, keybag: keybag))
    }

    /// Of what is no file.
    private func otherKind(in domain: BackupDomain) throws(BackupFlaw) -> BackupEntry.Kind {
        switch kind {
        case .file: throw .altered(path)
        case .directory: .directory
        case .fifo: .fifo
        case .symbolicLink(let target): .symbolicLink(try symbolicLinkTarget(target))
        case .hardLink(let target): .hardLink(try hardLinkNames(target, in: domain))
        }
    }

    /// As long as Linux makes one.
    private func symbolicLinkTarget(_ target: [UInt8]) throws(BackupFlaw) -> [UInt8] {
        guard (1..<Int(PATH_MAX)).contains(target.count) else {
            throw BackupFlaw("has a symbolic link that there cannot be: \(path.shown)")
        }
        return target
    }

    private func hardLinkNames(_ target: [UInt8], in domain: BackupDomain) throws(BackupFlaw) -> [FileName] {
        let (other, names) = try ArchivePath.parse(target)
        guard other == domain, !names.isEmpty else {
            throw BackupFlaw("has a hard link that leads into another container: \(path.shown)")
        }
        guard ArchivePath.precedes(target, path) else {
            throw BackupFlaw("has a hard link to a file that does not come before it: \(path.shown)")
        }
        return names
    }
}
