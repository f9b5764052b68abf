// Extended attributes by Darwin's calls, and whether files can be written to.

import ContainerFoundation

extension Notes {
    static func attributes() {
        let file = URL.documentsDirectory.appending(path: "attributed").path
        tell("made", storage.files.createFile(atPath: file, contents: Data("text".utf8)))
        tell("none", getxattr(file, "com.example.colour", nil, 0, 0, 0) == -1 && errno == ENOATTR)
        tell("set", setxattr(file, "com.example.colour", "red", 3, 0, XATTR_CREATE))
        tell("set again", setxattr(file, "com.example.colour", "red", 3, 0, XATTR_CREATE) == -1 && errno == EEXIST)
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        tell("replaced", fsetxattr(descriptor, "com.example.colour", "blue", 4, 0, XATTR_REPLACE))
        var value = [UInt8](repeating: 0, count: 16)
        let length = getxattr(file, "com.example.colour", &value, value.count, 0, XATTR_NOFOLLOW)
        tell("value", String(decoding: value.prefix(max(length, 0)), as: UTF8.self))
        tell("mark", setxattr(file, "com.apple.metadata:com_apple_backup_excludeItem", "x", 1, 0, 0))
        tell("excluded", try? storage.isExcludedFromBackup(URL(fileURLWithPath: file)))
        tell("class", try? storage.protect(URL(fileURLWithPath: file), .complete))
        var names = [CChar](repeating: 0, count: 256)
        let size = flistxattr(descriptor, &names, names.count, 0)
        let list = names.prefix(max(size, 0)).split(separator: 0)
        tell("names", list.map { String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self) }.sorted())
        tell("removed", removexattr(file, "com.example.colour", 0))
        tell("size", listxattr(file, nil, 0, 0))
    }

    static func writable() {
        let home = NSHomeDirectory()
        for path in [
            "", "Notes.app", "Notes.app/Info.plist", ".com.apple.mobile_container_manager.metadata.plist", "Documents",
            "Documents/Inbox", "Documents/Inbox/letter", "Documents/text", "Documents/Inboxes", "Library", "tmp",
            "Groups", "Groups/group.com.example.shared", "Documents/link to the bundle", "Documents/missing",
        ] {
            let own = storage.files.isWritableFile(atPath: "\(home)/\(path)")
            let new = FileManager().isWritableFile(atPath: "\(home)/\(path)")
            tell(path.isEmpty ? "home" : path, own == new ? own : nil)
        }
        tell("host", storage.files.isWritableFile(atPath: "/dev/null"))
    }
}
