// The content of a data container when an app has just been installed.

import BackingStore
import Platform
import SandboxModel

/// A data container that is being made or renewed. Its clauses are "The home" and "The metadata" of Semantics.md.
struct DataContainer {
    /// In the order in which they are made. `Library/Application Support` is not among them: the app makes it.
    private static let directories: [[FileName]] = [
        [HomeLayout.documents], [HomeLayout.library], [HomeLayout.library, HomeLayout.caches],
        [HomeLayout.library, HomeLayout.preferences], [HomeLayout.temporary],
    ]

    static let inboxPath = [HomeLayout.documents, HomeLayout.inbox]

    /// Whether a path is that of a directory that every data container has.
    static func isStandard(_ path: [FileName]) -> Bool { directories.contains(path) }

    let app: ContainerIdentifier
    /// The container's UUID, as the metadata names it.
    let uuid: ContainerUUID
    let owner: ContainerOwner
    /// The device's identifier.
    let device: String
    /// Whether it is an app extension's.
    var isExtension = false
    /// The class of files to which neither a call nor their directory gives one.
    var protection = ProtectionClass.standard

    /// Fills an empty container. It and its directories give the class ``protection``.
    func fill(_ container: borrowing Descriptor, context: StoreContext) throws(Fault) {
        try onHost { () throws(SystemError) in
            try container.giveClass(protection)
            for path in DataContainer.directories { try make(path, in: container) }
        }
        try writeMetadata(in: container, context)
    }

    private func make(_ path: [FileName], in container: borrowing Descriptor) throws(SystemError) {
        try container.openDirectory(at: path.dropLast()).makeDirectory(path[path.count - 1], for: owner)
        try container.openDirectory(at: path).giveClass(protection)
    }

    /// Makes the entries that an update puts into the place of those that a container has.
    /// - Parameter coming: an empty directory.
    func renew(_ coming: borrowing Descriptor, context: StoreContext) throws(Fault) {
        try onHost { () throws(SystemError) in try make([HomeLayout.temporary], in: coming) }
        try writeMetadata(in: coming, context)
    }

    /// Writes the metadata under class D, so that it can be read in every state of the device (S-META-2).
    private func writeMetadata(in container: borrowing Descriptor, _ context: StoreContext) throws(Fault) {
        let metadata = ContainerMetadata(
            app: app, uuid: uuid, owner: owner, protection: protection, isExtension: isExtension, device: device)
        let content = Array(metadata.xml.utf8)
        let buffer = PageBuffer(count: content.count)
        buffer.copy(content, to: 0)
        let file = NewFile(HomeLayout.metadata, mode: 0o644, owner: owner, protection: .none)
        try file.write(in: container, context: context) { (file) throws(Fault) in
            try buffer.withBytes(0, count: content.count) { (bytes) throws(Fault) in _ = try file.write(bytes, at: 0) }
        }
    }
}

extension Descriptor {
    private static let classAttribute = Array(ProtectionClass.attributeName.utf8)

    /// Stores the class that a new directory gives. The standard class is stored as no attribute.
    borrowing func giveClass(_ protection: ProtectionClass) throws(SystemError) {
        guard protection != .standard else { return }
        try AttributeHolder(self).set(Descriptor.classAttribute, to: Array(protection.foundationName.utf8))
    }

    /// The class that a directory gives. A value that names none of the four counts as the strictest.
    borrowing func givenClass() throws(SystemError) -> ProtectionClass {
        do throws(SystemError) {
            let value = try AttributeHolder(self).value(of: Descriptor.classAttribute)
            return ProtectionClass(attributeValue: value) ?? .complete
        } catch {
            guard error == .noAttribute else { throw error }
            return .standard
        }
    }
}
