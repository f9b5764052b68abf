// Extended attributes in a record: by which names, and where they are too many for it.

import BackupModel
import PropertyLists
import SandboxModel

extension FileRecord {
    /// - Returns: nil where an attribute is none that an app could have set.
    func hostAttributes() -> (list: [BackupEntry.Attribute], isExcluded: Bool)? {
        var isExcluded = false
        var list = addition?.attributes ?? []
        for (name, value) in attributes {
            if HostAttribute.exclusionMarks.contains(name) {
                isExcluded = true
            } else {
                list.append(BackupEntry.Attribute(name: HostAttribute.hostName(name), value: value))
            }
        }
        list.sort { $0.name.lexicographicallyPrecedes($1.name) }
        guard list.allSatisfy(HostAttribute.isPossible), zip(list, list.dropFirst()).allSatisfy({ $0.name != $1.name })
        else { return nil }
        return (list, isExcluded)
    }

    // MARK: Apart from the record

    /// - Returns: the attributes, which lie in the table `Properties` from now on.
    mutating func moveAttributesApart() -> [UInt8] {
        let moved = PropertyList.dictionary([
            "Names": .data(FileRecord.encoded(attributes: attributes)),
            "Addition": .data(Addition(attributes: addition?.attributes ?? []).encoded),
        ]).encoded
        attributes = [:]
        addition?.attributes = []
        addition?.hasAttributesApart = true
        return moved
    }

    /// - Returns: false when the bytes are not what ``moveAttributesApart()`` gave.
    mutating func takeAttributes(from bytes: [UInt8]) -> Bool {
        guard let list = PropertyList(decoding: bytes), let names = list["Names"]?.data,
            let attributes = FileRecord.attributes(decoding: names), let more = list["Addition"]?.data,
            let added = Addition(decoding: more)
        else { return false }
        self.attributes = attributes
        addition?.attributes = added.attributes
        addition?.hasAttributesApart = false
        return true
    }

    static func attributesKey(_ identifier: FileIdentifier) -> String { "appcontainer.attributes.\(identifier.text)" }
}

/// Names of extended attributes: on a Linux host an app's begin with `user.`, on an iPhone with nothing.
enum HostAttribute {
    private static let prefix = "user."
    /// Names that this project gives a meaning of its own, which are no app's.
    private static let own = "user.appcontainer."
    private static let longestName = 255
    private static let longestValue = 1 << 16

    static let exclusionMark = String(BackupMark.attributeName.dropFirst(prefix.utf8.count))
    /// With the name that iOS 5.0.1 has for it.
    static let exclusionMarks = [exclusionMark, "com.apple.MobileBackup"]

    /// - Returns: nil for a name that has no form there.
    static func appleName(_ name: [UInt8]) -> String? {
        guard name.starts(with: prefix.utf8), name.count > prefix.utf8.count,
            let text = String(validating: name.dropFirst(prefix.utf8.count), as: UTF8.self),
            !exclusionMarks.contains(text)
        else { return nil }
        return text
    }

    static func hostName(_ name: String) -> [UInt8] { Array((prefix + name).utf8) }

    static func isPossible(_ attribute: BackupEntry.Attribute) -> Bool {
        (1...longestName).contains(attribute.name.count) && !attribute.name.contains(0)
            && attribute.value.count <= longestValue && !attribute.name.starts(with: own.utf8)
    }
}
