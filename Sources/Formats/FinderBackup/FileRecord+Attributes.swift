// Extended attributes in a record: by which names, and where they are too many for it.

import BackupModel
import PropertyLists
import SandboxModel

extension FileRecord {
    /// - Returns: nil where an attribute is none that an app could have set.
    func hostAttributes() -> (list: [BackupEntry.Attribute], isExcluded: Bool)? {
        let all =
            (addition?.attributes ?? [])
            + attributes.map { BackupEntry.Attribute(name: HostAttribute.hostName($0.key), value: $0.value) }
        var isExcluded = false
        var list: [BackupEntry.Attribute] = []
        for attribute in all {
            // Each name of the mark says what it says when an app sets it, and is no attribute of its own.
            if let form = BackupMark.Form(attribute: attribute.name) {
                if form.setting(attribute.value) == .exclude { isExcluded = true }
            } else {
                list.append(attribute)
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

    /// - Returns: nil for a name that has no form there.
    static func appleName(_ name: [UInt8]) -> String? {
        guard name.starts(with: prefix.utf8), name.count > prefix.utf8.count else { return nil }
        return String(validating: name.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    static func hostName(_ name: String) -> [UInt8] { Array((prefix + name).utf8) }

    /// Whatever is not `user.` has a meaning on the host, such as rights that a file gives to who runs it.
    static func isPossible(_ attribute: BackupEntry.Attribute) -> Bool {
        attribute.name.starts(with: prefix.utf8) && attribute.name.count > prefix.utf8.count
            && attribute.name.count <= longestName && !attribute.name.contains(0)
            && attribute.value.count <= longestValue && !attribute.name.starts(with: own.utf8)
    }
}
