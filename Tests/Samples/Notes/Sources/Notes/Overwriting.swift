// Saves over what is there, by all the calls that Foundation has for them: whoever might not read the old file does not
// read the new one.

import ContainerFoundation

extension Notes {
    /// Each call saves over a file that its user alone may read.
    static func overwrite() throws {
        try overwrite("data") { try Data("new".utf8).write(to: $0, options: .atomic) }
        try overwrite("data with class") {
            try Data("new".utf8).write(to: $0, options: [.atomic, .completeFileProtection])
        }
        try overwrite("data in place") {
            try Data("new".utf8).write(to: $0, options: .completeFileProtectionUnlessOpen)
        }
        try overwrite("NSData") { _ = NSData(data: Data("new".utf8)).write(to: $0, atomically: true) }
        try overwrite("NSData by path") {
            try NSData(data: Data("new".utf8)).write(toFile: $0.path, options: [.atomic, .noFileProtection])
        }
        try overwrite("text") { try "new".write(to: $0, atomically: true, encoding: .utf8) }
        try overwrite("text by path") { try "new".write(toFile: $0.path, atomically: true, encoding: .utf16) }
        try overwrite("text in place") { try "new".write(to: $0, atomically: false, encoding: .utf8) }
        try overwrite("made") { _ = storage.files.createFile(atPath: $0.path, contents: Data("new".utf8)) }
        try overwrite("made with class") {
            let attributes: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]
            _ = storage.files.createFile(atPath: $0.path, contents: Data("new".utf8), attributes: attributes)
        }
        try overwrite("replaced by what is read-only") {
            try storage.protect($0, .complete)
            let new = URL.temporaryDirectory.appending(path: "new")
            try Data("new".utf8).write(to: new)
            try storage.files.setAttributes([.posixPermissions: 0o400], ofItemAtPath: new.path)
            _ = try storage.files.replaceItemAt($0, withItemAt: new)
        }
        try overwrite("replaced") { _ = try storage.replace($0, with: "new") }

        let text = URL.documentsDirectory.appending(path: "text")
        tell("without a letter", Result { try "é".write(to: text, atomically: true, encoding: .ascii) }.code)
        tell("still", try String(contentsOf: text, encoding: .utf8))
        try tellEncodings()
        let fresh = URL.documentsDirectory.appending(path: "fresh")
        tell("NSData made", NSData().write(toFile: fresh.path, atomically: true))
        tell("for all to write", try mode(of: fresh) & 0o022)
    }

    private static func overwrite(_ name: String, _ save: (URL) throws -> Void) throws {
        let file = URL.documentsDirectory.appending(path: name)
        try Data("old".utf8).write(to: file)
        try storage.files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try save(file)
        tell(name, "\(String(try mode(of: file), radix: 8)) \(try storage.protection(of: file)?.rawValue ?? "nil")")
    }

    /// The encoding is written beside the text, and read from there: the same by either way to save.
    private static func tellEncodings() throws {
        let encodings: [String.Encoding] = [
            .ascii, .utf8, .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian,
            .isoLatin1, .macOSRoman, .windowsCP1252, .shiftJIS,
        ]
        var same = 0
        for encoding in encodings {
            let saved = try [true, false].map { atomically in
                let file = URL.documentsDirectory.appending(path: "encoded \(atomically)")
                try "text".write(to: file, atomically: atomically, encoding: encoding)
                return (try Data(contentsOf: file), try extendedAttributes(of: file))
            }
            if saved[0] == saved[1] { same += 1 }
            try storage.files.removeItem(at: URL.documentsDirectory.appending(path: "encoded false"))
        }
        tell("encodings", "\(same) of \(encodings.count)")
        tell("of a text", try extendedAttributes(of: URL.documentsDirectory.appending(path: "text by path")).keys.first)
    }

    private static func extendedAttributes(of file: URL) throws -> [String: Data] {
        let key = FileAttributeKey(rawValue: "NSFileExtendedAttributes")
        return try storage.files.attributesOfItem(atPath: file.path)[key] as? [String: Data] ?? [:]
    }

    private static func mode(of file: URL) throws -> Int {
        try storage.files.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int ?? 0
    }

    /// Values that a file browser or a cache asks of many files at once.
    static func list() throws {
        let documents = URL.documentsDirectory
        let hidden = try storage.save("plain", secretly: "listed")
        try storage.excludeFromBackup(hidden)
        let keys: [URLResourceKey] = [.isExcludedFromBackupKey, .fileProtectionKey, .fileAllocatedSizeKey]
        for file in try storage.files.contentsOfDirectory(at: documents, includingPropertiesForKeys: keys) {
            let values = try file.resourceValues(forKeys: Set(keys))
            tell("excluded", values.isExcludedFromBackup)
            tell("protection", values.fileProtection?.rawValue)
            tell("allocated", values.fileAllocatedSize)
            tell("all values", values.allValues[.fileAllocatedSizeKey])
        }
        let old = hidden as NSURL
        var value: AnyObject?
        try old.getResourceValue(&value, forKey: .isExcludedFromBackupKey)
        tell("single value", value as? Bool)
        try old.getResourceValue(&value, forKey: .fileProtectionKey)
        tell("single class", (value as? URLFileProtection)?.rawValue)
        let none = documents.appending(path: "none") as NSURL
        tell("of nothing", Result { try none.getResourceValue(&value, forKey: .isExcludedFromBackupKey) }.code)
        tell(
            "to nothing", Result { try storage.setProtection(.complete, ofFileAt: documents.path + "/none") }.code)
    }
}
