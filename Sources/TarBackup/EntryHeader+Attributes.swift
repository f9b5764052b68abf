// The extended attributes of an entry: the app's own, and those that stand for what is no attribute on the host.

import BackupModel
import SandboxModel

extension EntryHeader {
    enum Keyword {
        static let attribute = "SCHILY.xattr."
        /// What is no attribute of the app's: the mount takes none by these names.
        static let reserved = "user.appcontainer."
        static let protection = attribute + ProtectionClass.attributeName
        static let mark = attribute + BackupMark.attributeName
        static let sealed = attribute + "user.appcontainer.sealed"
        static let socket = attribute + "user.appcontainer.kind"
    }

    static let socketValue = Array("socket".utf8)

    static func attributes(
        of entry: BackupEntry, at path: [UInt8], given: ProtectionClass, into records: inout PaxRecords
    ) throws(BackupFlaw) {
        switch entry.kind {
        case .file, .directory: break
        // Class, mark and attributes are those of the file, and come with its first name.
        case .hardLink: return
        case .socket:
            records.append(Array(Keyword.socket.utf8), socketValue)
            fallthrough
        default:
            guard entry.attributes.isEmpty, !entry.isExcluded else {
                throw BackupFlaw("cannot hold \(path.shown): only files and directories have attributes")
            }
            return
        }
        // Whoever unpacks the archive onto a mount needs it wherever an ancestor gives another class.
        let protection = entry.protection ?? .standard
        if protection != .standard || given != .standard {
            records.append(Array(Keyword.protection.utf8), protection.foundationName.utf8)
        }
        if entry.isExcluded { records.append(Array(Keyword.mark.utf8), BackupMark.canonicalValue) }
        if case .file(.sealed(_, let keybag)) = entry.kind {
            records.append(Array(Keyword.sealed.utf8), keybag.hexadecimal)
        }
        var previous: [UInt8] = []
        // Another name of the mark is no fact of its own, whoever left it there.
        for attribute in entry.attributes where BackupMark.Form(attribute: attribute.name) == nil {
            guard isAttributeName(attribute.name), previous.lexicographicallyPrecedes(attribute.name) else {
                throw BackupFlaw("cannot hold \(path.shown): \(attribute.name.shown) is no attribute of an app's file")
            }
            previous = attribute.name
            records.append(Array(Keyword.attribute.utf8) + escaped(attribute.name), attribute.value)
        }
    }

    /// Whether an app's file can have an attribute of that name.
    static func isAttributeName(_ name: [UInt8]) -> Bool {
        name.starts(with: "user.".utf8) && name.count > 5 && name.count <= 255 && !name.contains(0)
            && !name.starts(with: Keyword.reserved.utf8) && BackupMark.Form(attribute: name) == nil
    }

    /// A keyword ends at its first equals sign. GNU tar writes and reads such names in this form.
    private static func escaped(_ name: [UInt8]) -> [UInt8] {
        name.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "="): Array("%3D".utf8)
            case UInt8(ascii: "%"): Array("%25".utf8)
            default: [byte]
            }
        }
    }
}
