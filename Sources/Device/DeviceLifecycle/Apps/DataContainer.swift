// What a data container holds when an app has just been installed.

import BackingStore
import Glibc
import Platform
import SandboxModel

enum DataContainer {
    static let documents: FileName = "Documents"
    static let inbox: FileName = "Inbox"
    static let temporary: FileName = "tmp"
    static let metadata: FileName = ".com.apple.mobile_container_manager.metadata.plist"

    /// In the order in which they are made. `Library/Application Support` is not among them: the app makes it.
    private static let directories: [[FileName]] = [
        [documents], ["Library"], ["Library", "Caches"], ["Library", "Preferences"], [temporary],
    ]

    static let inboxPath: [FileName] = [documents, inbox]

    /// Whether a path is that of a directory that every data container has.
    static func isStandard(_ path: [FileName]) -> Bool { directories.contains(path) }

    /// Fills an empty data container.
    static func fill(
        _ container: borrowing Descriptor, app: ContainerIdentifier, uuid: ContainerUUID, owner: ContainerOwner,
        context: StoreContext
    ) throws(Fault) {
        try onHost { () throws(SystemError) in
            for path in directories {
                try container.openDirectory(at: path.dropLast()).makeDirectory(path[path.count - 1], for: owner)
            }
        }
        try writeMetadata(in: container, app: app, uuid: uuid, owner: owner, context: context)
    }

    /// Makes what an update puts into the place of what a container has.
    /// - Parameter coming: an empty directory.
    static func renew(
        _ coming: borrowing Descriptor, app: ContainerIdentifier, uuid: ContainerUUID, owner: ContainerOwner,
        context: StoreContext
    ) throws(Fault) {
        try onHost { () throws(SystemError) in try coming.makeDirectory(temporary, for: owner) }
        try writeMetadata(in: coming, app: app, uuid: uuid, owner: owner, context: context)
    }

    private static func writeMetadata(
        in container: borrowing Descriptor, app: ContainerIdentifier, uuid: ContainerUUID, owner: ContainerOwner,
        context: StoreContext
    ) throws(Fault) {
        let content = Array(metadata(of: app, uuid).utf8)
        let buffer = PageBuffer(count: content.count)
        buffer.copy(content, to: 0)
        try writeFile(metadata, in: container, mode: 0o644, owner: owner, protection: .none, context: context) {
            (file) throws(Fault) in
            try buffer.withBytes(0, count: content.count) { (bytes) throws(Fault) in _ = try file.write(bytes, at: 0) }
        }
    }

    /// The metadata of a data container, by the keys of Apple's own.
    private static func metadata(of app: ContainerIdentifier, _ uuid: ContainerUUID) -> String {
        // Neither text holds a character that XML knows.
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>MCMMetadataContentClass</key>
        \t<integer>2</integer>
        \t<key>MCMMetadataIdentifier</key>
        \t<string>\(app.text)</string>
        \t<key>MCMMetadataSchemaVersion</key>
        \t<integer>1</integer>
        \t<key>MCMMetadataUUID</key>
        \t<string>\(uuid.text)</string>
        </dict>
        </plist>

        """
    }

    /// Makes an encrypted file and lets its content be written.
    static func writeFile(
        _ name: FileName, in directory: borrowing Descriptor, mode: mode_t, owner: ContainerOwner,
        protection: ProtectionClass, context: StoreContext, _ body: (EncryptedFile) throws(Fault) -> Void
    ) throws(Fault) {
        let file = try onHost { () throws(SystemError) in
            SharedDescriptor(
                try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR))
        }
        let inode = try onHost { () throws(SystemError) in try file.descriptor.status().inode }
        let content = try EncryptedFile.create(file, inode: inode, protection: protection, context: context)
        try body(content)
        try content.commit()
        try onHost { () throws(SystemError) in
            try directory.give(name, to: owner)
            try file.descriptor.changeMode(mode)
        }
    }
}
