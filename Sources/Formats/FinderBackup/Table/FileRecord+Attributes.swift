// Extended attributes of a record: their names, and their place in another table if the record becomes too large.

import BackupModel
import PropertyLists
import SandboxModel

extension FileRecord {
    /// The attributes under the host's names, and whether one of them is a form of the mark of exclusion.
    /// - Returns: nil if an app cannot have set one of them.
    func hostAttributes() -> (list: [BackupEntry.Attribute], isExcluded: Bool)? {
        let all =
            (addition?.attributes ?? [])
            + attributes.map { BackupEntry.Attribute(name: HostAttribute.hostName($0.key), value: $0.value) }
        var isExcluded = false
        var list: [BackupEntry.Attribute] = []
        for attribute in all {
            // Forms of the mark have the effect of an app's setting them, and are no attributes of their own.
            if let form = BackupMark.Form(attribute: attribute.name) {
                if form.setting(attribute.value) == .exclude { isExcluded = true }
            } else {
                list.append(attribute)
            }
        }
        list.sort { $0.name.lexicographicallyPrecedes($1.name) }
        // Sorted, so two of one name would be neighbours.
        guard list.allSatisfy(HostAttribute.isPossible), zip(list, list.dropFirst()).allSatisfy({ $0.name != $1.name })
        else { return nil }
        return (list, isExcluded)
    }

    // MARK: In the table Properties

    /// Removes the attributes from a record that would exceed ``largestRow``.
    /// - Returns: the attributes, encoded for the table `Properties`.
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

    /// Adds the attributes that ``moveAttributesApart()`` has removed.
    /// - Returns: false for malformed bytes.
    /// - Parameter bytes: an untrusted value of the table `Properties`.
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

    /// The key in the table `Properties`.
    static func attributesKey(_ identifier: FileIdentifier) -> String { "appcontainer.attributes.\(identifier.text)" }
}

/// The names of extended attributes. On Linux an app's begin with `user.`; on an iPhone they have no prefix.
enum HostAttribute {
    private static let namespace = BackupEntry.Attribute.namespace
    /// XATTR_SIZE_MAX of Linux, in bytes.
    private static let longestValue = 1 << 16

    /// The iPhone's name of the mark of exclusion.
    static let exclusionMark = String(BackupMark.attributeName.dropFirst(namespace.count))

    /// The name of an iPhone; nil for a name that has no such form.
    static func appleName(_ name: [UInt8]) -> String? {
        guard name.starts(with: namespace), name.count > namespace.count else { return nil }
        return String(validating: name.dropFirst(namespace.count), as: UTF8.self)
    }

    /// The name on Linux.
    static func hostName(_ name: String) -> [UInt8] { namespace + Array(name.utf8) }

    /// Whether an app can have set the attribute on Linux.
    static func isPossible(_ attribute: BackupEntry.Attribute) -> Bool {
        BackupEntry.Attribute.isAppName(attribute.name) && attribute.value.count <= longestValue
    }
}
