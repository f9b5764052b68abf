// Coding of records as NSKeyedArchiver archives an MBFile: a property list of objects that refer to each other by
// index.

import BackupModel
import PropertyLists

extension FileRecord {
    /// The keyed archive, for the column `file`.
    /// - Parameters:
    ///   - path: the column `relativePath` of the row.
    ///   - flags: the column `flags`.
    func encoded(path: String, flags: Int64) -> [UInt8] {
        var archive = KeyedArchive()
        // MBFile has three times, of which a backup's entry has one.
        var values: [String: PropertyList] = [
            "Mode": .integer(mode), "UserID": .integer(owner), "GroupID": .integer(group), "Size": .integer(size),
            "Birth": .integer(modified), "LastModified": .integer(modified), "LastStatusChange": .integer(modified),
            "InodeNumber": .integer(inode), "ProtectionClass": .integer(protection), "Flags": .integer(flags),
        ]
        values["RelativePath"] = archive.add(.string(path))
        if let target { values["Target"] = archive.add(.string(target)) }
        if let encryptionKey { values["EncryptionKey"] = archive.add(data: encryptionKey) }
        if !attributes.isEmpty {
            values["ExtendedAttributes"] = archive.add(data: FileRecord.encoded(attributes: attributes))
        }
        if let addition { values[FileRecord.additionKey] = .data(addition.encoded) }
        return archive.finish(values)
    }

    /// `ExtendedAttributes`: a property list from name to value.
    static func encoded(attributes: [String: [UInt8]]) -> [UInt8] {
        PropertyList.dictionary(attributes.mapValues { .data($0) }).encoded
    }

    /// Decodes a keyed archive, which is untrusted.
    /// - Returns: nil for anything but an MBFile with plausible numbers.
    init?(decoding bytes: [UInt8]) {
        guard let list = PropertyList(decoding: bytes), let objects = list["$objects"]?.array,
            let root = list["$top"]?["root"]?.uid, objects.indices.contains(root)
        else { return nil }
        let values = objects[root]
        func object(_ reference: PropertyList?) -> PropertyList? {
            guard let index = reference?.uid else { return reference }
            return objects.indices.contains(index) ? objects[index] : nil
        }
        /// Data, either in the list itself or as an NSData object.
        func data(_ key: String) -> [UInt8]? {
            let value = object(values[key])
            return value?.data ?? object(value?["NS.data"])?.data
        }
        func number(_ key: String, _ range: ClosedRange<Int64>) -> Int64? {
            values[key]?.integer.flatMap { range.contains($0) ? $0 : nil }
        }
        // The user -2 (nobody) is written signed or unsigned.
        let identifiers = Int64(Int32.min)...Int64(UInt32.max)
        // Apple does not document MBFile. `Birth` and `LastStatusChange` are not read: the host sets them itself.
        guard object(values["$class"])?["$classname"]?.string == "MBFile", let mode = number("Mode", 0...0o177777),
            let owner = number("UserID", identifiers), let group = number("GroupID", identifiers),
            let size = number("Size", 0...Int64.max), let modified = number("LastModified", Int64.min...Int64.max),
            let protection = number("ProtectionClass", 0...Int64(Int32.max))
        else { return nil }
        self.init(
            mode: mode, owner: owner, group: group, size: size, modified: modified,
            inode: number("InodeNumber", 0...Int64.max) ?? 0, protection: protection)
        if let reference = values["Target"] {
            guard let target = object(reference)?.string else { return nil }
            self.target = target
        }
        if values["EncryptionKey"] != nil {
            guard let key = data("EncryptionKey") else { return nil }
            encryptionKey = key
        }
        if values["ExtendedAttributes"] != nil {
            guard let bytes = data("ExtendedAttributes"), let attributes = FileRecord.attributes(decoding: bytes)
            else { return nil }
            self.attributes = attributes
        }
        if let value = values[FileRecord.additionKey] {
            guard let bytes = value.data, let addition = Addition(decoding: bytes) else { return nil }
            self.addition = addition
        }
    }

    /// Decodes `ExtendedAttributes`; nil for malformed bytes.
    static func attributes(decoding bytes: [UInt8]) -> [String: [UInt8]]? {
        guard let values = PropertyList(decoding: bytes)?.dictionary else { return nil }
        var attributes: [String: [UInt8]] = [:]
        for (name, value) in values {
            guard let value = value.data else { return nil }
            attributes[name] = value
        }
        return attributes
    }
}

extension FileRecord.Addition {
    /// The property list, without keys that have no value.
    var encoded: [UInt8] {
        var values: [String: PropertyList] = [:]
        if nanoseconds != 0 { values["Nanoseconds"] = .integer(nanoseconds) }
        values["Seconds"] = seconds.map { .integer($0) }
        values["Digest"] = digest.map { .data($0) }
        values["DataRanges"] = dataRanges.map { .array($0.map { .integer($0) }) }
        values["SealedBy"] = sealedBy.map { .data($0) }
        values["HardLinkOf"] = hardLinkOf.map { .data($0) }
        values["Path"] = path.map { .data($0) }
        values["Target"] = target.map { .data($0) }
        if !attributes.isEmpty {
            values["Attributes"] = .array(attributes.map { .array([.data($0.name), .data($0.value)]) })
        }
        if hasAttributesApart { values["AttributesApart"] = .boolean(true) }
        return PropertyList.dictionary(values).encoded
    }

    /// Decodes the property list, which is untrusted.
    /// - Returns: nil for malformed bytes, and for ranges that are not ascending.
    init?(decoding bytes: [UInt8]) {
        guard let list = PropertyList(decoding: bytes), list.dictionary != nil else { return nil }
        nanoseconds = list["Nanoseconds"]?.integer ?? 0
        guard (0..<1_000_000_000).contains(nanoseconds) else { return nil }
        seconds = list["Seconds"]?.integer
        digest = list["Digest"]?.data
        sealedBy = list["SealedBy"]?.data
        hardLinkOf = list["HardLinkOf"]?.data
        path = list["Path"]?.data
        target = list["Target"]?.data
        hasAttributesApart = list["AttributesApart"]?.boolean ?? false
        if let ranges = list["DataRanges"] {
            let bounds = ranges.array?.compactMap(\.integer) ?? []
            // Ascending, not empty, not adjacent.
            guard bounds.count == ranges.array?.count, bounds.count % 2 == 0, bounds.first ?? 0 >= 0,
                zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
            else { return nil }
            dataRanges = bounds
        }
        for pair in list["Attributes"]?.array ?? [] {
            guard let pair = pair.array, pair.count == 2, let name = pair[0].data, let value = pair[1].data else {
                return nil
            }
            attributes.append(BackupEntry.Attribute(name: name, value: value))
        }
    }
}

/// A keyed archive under construction.
private struct KeyedArchive {
    /// `$objects`: the first stands for nil, the second is the root, the third the root's class.
    private var objects: [PropertyList] = [
        .string("$null"), .integer(0), KeyedArchive.className("MBFile", "NSObject"),
    ]
    private var dataClass: PropertyList?

    /// The object that describes a class: its name, and those of its superclasses.
    private static func className(_ names: String...) -> PropertyList {
        .dictionary(["$classname": .string(names[0]), "$classes": .array(names.map { .string($0) })])
    }

    /// Adds an object.
    /// - Returns: a reference to it.
    mutating func add(_ object: PropertyList) -> PropertyList {
        objects.append(object)
        return .uid(objects.count - 1)
    }

    /// Adds an NSData object.
    mutating func add(data: [UInt8]) -> PropertyList {
        let name = dataClass ?? add(KeyedArchive.className("NSMutableData", "NSData", "NSObject"))
        dataClass = name
        return add(.dictionary(["NS.data": .data(data), "$class": name]))
    }

    /// Sets the root object.
    /// - Returns: the archive.
    consuming func finish(_ root: [String: PropertyList]) -> [UInt8] {
        var root = root
        root["$class"] = .uid(2)
        objects[1] = .dictionary(root)
        return PropertyList.dictionary([
            "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
            "$top": .dictionary(["root": .uid(1)]), "$objects": .array(objects),
        ]).encoded
    }
}
