// Putting files into an app's Inbox, as another app or Mail would: whole, under a name that is free.

public import BackingStore
import BundleSeal
import DataProtection
import Glibc
import Platform
public import SandboxModel

/// One delivery: files are copied into a directory of the staging directory, made durable, and renamed into the Inbox.
public struct InboxDelivery {
    /// The result of a delivery.
    public struct Result: Equatable, Sendable {
        /// The names in `Documents/Inbox`, in the order of the paths.
        public let names: [FileName]
        /// Whether the Inbox came into being with it.
        public let madeInbox: Bool
    }

    private let device: BootedDevice
    private let app: InstalledApp
    private let items: [DeliverySource]
    /// The name of the delivery's own directory in the staging directory.
    private let package = ContainerUUID().fileName

    private var owner: ContainerOwner { app.containerOwner }

    fileprivate init(_ paths: [String], to app: InstalledApp, on device: BootedDevice) throws(Complaint) {
        self.device = device
        self.app = app
        var items: [DeliverySource] = []
        for path in paths { items.append(try DeliverySource(path, notAround: device.directory)) }
        self.items = items
    }

    /// Checks that the app declares the type of each item, if it declares any.
    /// - Parameter read: what was read before the app was held; an update may have come since.
    /// - Throws: ``Complaint`` of kind `undeclaredType`; nothing was delivered.
    fileprivate func requireDeclaredTypes(_ read: DeclaredDocuments?) throws(Complaint) {
        let read = read?.bundle == app.bundle ? read : DeclaredDocuments(of: app, in: device.directory)
        guard let types = read?.types, types.isDeclared else { return }
        guard !types.isExcessive else {
            throw Complaint(
                .undeclaredType,
                "\(app.identifier) declares more than \(DocumentTypes.most) types in its Info.plist, or one with a very "
                    + "long name, and they are not followed; deliver with --any-type")
        }
        for item in items where !types.accept(item.name.text, isDirectory: item.isDirectory) {
            let names = types.names(of: item.name.text, isDirectory: item.isDirectory).joined(separator: ", ")
            throw Complaint(
                .undeclaredType,
                "\(app.identifier) does not declare the type of \(item.path) (\(names)) in CFBundleDocumentTypes, so that "
                    + "no app offers it such a file; declare it, or deliver with --any-type")
        }
    }

    /// - Parameter progress: bytes copied; false cancels.
    fileprivate func run(progress: (DeviceProgress) -> Bool) throws(Complaint) -> Result {
        let doing = "cannot deliver to \(app.identifier)"
        let staged = try Complaint.wrap(doing) { () throws(SystemError) in
            let staging = try device.staging.open()
            try staging.makeDirectory(package, mode: S_IRWXU)
            return try staging.openDirectory(package)
        }
        // An empty directory after a delivery; should it stay, the next boot removes it.
        defer { device.staging.remove(package) }
        try stage(in: staged, progress: progress)
        return try Complaint.wrap(doing) { () throws(SystemError) in
            try device.directory.root.synchronizeFilesystem()
            device.reached(.stagedDelivery)
            return try place(from: staged)
        }
    }

    /// Copies all items into the staging directory.
    private func stage(in staged: borrowing Descriptor, progress: (DeviceProgress) -> Bool) throws(Complaint) {
        let total = items.reduce(0) { $0 + $1.size }
        try device.space.requireSpace(for: total, doing: "cannot deliver")
        var copied: Int64 = 0
        for (index, item) in items.enumerated() {
            let copy = DeliveryCopy(owner: owner, context: device.staging.context)
            let finished = try Complaint.wrapFault("cannot deliver \(item.path)") { () throws(Fault) in
                try copy.run(item, to: staged, as: DeliverySource.stagedName(index)) { count in
                    copied += count
                    return progress(DeviceProgress(unit: .bytes, completed: min(copied, total), total: total))
                }
            }
            guard finished else { throw Complaint.cancelled }
        }
    }

    /// Renames each item into the Inbox, which is made where there is none.
    private func place(from staged: borrowing Descriptor) throws(SystemError) -> Result {
        let documents = try device.directory.container(.data, app.data).openDirectory(HomeLayout.documents)
        let makesInbox = try !documents.exists(HomeLayout.inbox)
        if makesInbox {
            try staged.makeDirectory(HomeLayout.inbox, for: owner)
            try staged.rename(HomeLayout.inbox, to: HomeLayout.inbox, in: documents, mode: .keeping)
            try documents.synchronizeEntries()
            device.space.addNew(device.space.directoryBytes)
            device.reached(.madeInbox)
        }
        let inbox = try documents.openDirectory(HomeLayout.inbox)
        var names: [FileName] = []
        for (index, item) in items.enumerated() {
            let stagedName = DeliverySource.stagedName(index)
            // Measured before the rename: once in the Inbox the app may change it.
            let bytes = (try? device.space.bytes(of: stagedName, in: staged)) ?? 0
            names.append(try DeliveryName.place(item.name, from: stagedName, staged, inbox))
            device.space.add(bytes)
            device.reached(.deliveredOne)
        }
        try inbox.synchronizeEntries()
        return Result(names: names, madeInbox: makesInbox)
    }
}

/// The documents that an installed app declares.
private struct DeclaredDocuments {
    /// The container that they were read from. Its content never changes.
    let bundle: ContainerUUID
    /// nil where the Info.plist cannot be read.
    let types: DocumentTypes?

    init(of app: InstalledApp, in directory: DeviceDirectory) {
        bundle = app.bundle
        guard let content = try? directory.container(.bundle, app.bundle).openDirectory(app.bundleName) else {
            types = nil
            return
        }
        types = DocumentTypes(of: content)
    }
}

extension BootedDevice {
    /// Copies files or directories of the host into an app's `Documents/Inbox`, encrypted.
    ///
    /// A name that is taken becomes `mail-1.txt`. Each file or directory appears there whole. They belong to the
    /// container's user, and have the class that new files of the Inbox have. The kernel is not notified: the caller
    /// does that where the app is mounted.
    ///
    /// - Parameters:
    ///   - paths: of files and directories; a symbolic link named here is followed, one inside a directory is copied.
    ///   - anyType: whether items go in whose type the app does not declare.
    ///   - progress: bytes copied.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `notAllowed` for an extension, `deviceLocked` before first unlock,
    ///   `notFound`, `unsuitableFile` for anything but files and directories, `undeclaredType`, `noSpace`.
    public func deliver(
        _ paths: [String], to identifier: ContainerIdentifier, anyType: Bool = false,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> InboxDelivery.Result {
        // Before other changes are kept waiting: an app makes its Info.plist as large as it likes.
        let present = anyType ? nil : installedApps.installed(identifier)
        let declared = present.map { DeclaredDocuments(of: $0, in: directory) }
        return try installedApps.changing { (_) throws(Complaint) in
            let app = try app(identifier)
            if let place = app.place {
                throw Complaint(
                    .notAllowed, "\(identifier) is an extension, which has no Inbox; deliver to \(place.app)")
            }
            guard context.keys.isAvailable(ProtectionClass.standard) else {
                throw Complaint(
                    .deviceLocked,
                    "the device is before first unlock; unlock it with: appcontainer unlock \(directory.path)")
            }
            let delivery = try InboxDelivery(paths, to: app, on: self)
            if !anyType { try delivery.requireDeclaredTypes(declared) }
            return try delivery.run(progress: progress)
        }
    }
}
