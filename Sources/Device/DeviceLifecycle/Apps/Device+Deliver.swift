// Putting files into an app's Inbox, as another app or Mail would: whole, under a name that is free.

public import BackingStore
import DataProtection
import Glibc
import Platform
public import SandboxModel

extension Device {
    /// What a delivery did.
    public struct Delivery: Equatable, Sendable {
        /// The names in `Documents/Inbox`, in the order of the paths.
        public let names: [FileName]
        /// Whether the Inbox came into being with it.
        public let madeInbox: Bool
    }

    /// Copies files or directories of the host into an app's `Documents/Inbox`, encrypted.
    ///
    /// A name that is taken becomes `mail-1.txt`. Each file or directory appears there whole. They belong to the
    /// container's user, and have the class that new files of the Inbox have. The kernel is not told: the caller
    /// does that where the app is mounted.
    ///
    /// - Parameters:
    ///   - paths: of files and directories; a symbolic link named here is followed, one inside a directory is copied.
    ///   - progress: bytes copied.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `deviceLocked` before first unlock, `notFound`, `unsuitableFile`
    ///   for what is neither file nor directory, `noSpace`.
    public func deliver(
        _ paths: [String], to identifier: ContainerIdentifier, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> Delivery {
        try changing { (_) throws(Complaint) in
            let app = try app(identifier)
            guard context.keys.isAvailable(ProtectionClass.standard) else {
                throw Complaint(
                    .deviceLocked,
                    "the device is before first unlock; unlock it with: appcontainer unlock \(directory.path)")
            }
            let owner = ContainerOwner(user: app.owner, group: app.ownerGroup)
            var items: [DeliverySource] = []
            for path in paths { items.append(try DeliverySource(path, notAround: directory)) }
            let package = ContainerUUID().fileName
            let staging = try Complaint.wrap("cannot deliver to \(identifier)") { () throws(SystemError) in
                let staging = try directory.staging()
                try staging.makeDirectory(package, mode: S_IRWXU)
                return try staging.openDirectory(package)
            }
            let delivery: Delivery
            do throws(Complaint) {
                try stage(items, in: staging, owner: owner, progress: progress)
                delivery = try Complaint.wrap("cannot deliver to \(identifier)") { () throws(SystemError) in
                    try directory.root.synchronizeFilesystem()
                    reached(.stagedDelivery)
                    return try place(items, from: staging, into: app, owner: owner)
                }
            } catch {
                _ = try? directory.staging().removeTree(package)
                throw error
            }
            // An empty directory by now; should it stay, the next boot removes it.
            _ = try? directory.staging().removeTree(package)
            return delivery
        }
    }

    private func stage(
        _ items: [DeliverySource], in staging: borrowing Descriptor, owner: ContainerOwner,
        progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        let total = items.reduce(0) { $0 + $1.size }
        try requireRoom(for: total, doing: "cannot deliver")
        var copied: Int64 = 0
        for (index, item) in items.enumerated() {
            let copy = DeliveryCopy(owner: owner, context: stagingContext)
            let finished = try Complaint.wrapFault("cannot deliver \(item.path)") { () throws(Fault) in
                try copy.run(item, to: staging, as: DeliverySource.stagedName(index)) { count in
                    copied += count
                    return progress(DeviceProgress(unit: .bytes, completed: min(copied, total), total: total))
                }
            }
            guard finished else { throw Complaint.cancelled }
        }
    }

    private func place(
        _ items: [DeliverySource], from staging: borrowing Descriptor, into app: InstalledApp, owner: ContainerOwner
    ) throws(SystemError) -> Delivery {
        let documents = try directory.container(.data, app.data).openDirectory(DataContainer.documents)
        let makesInbox = try !documents.exists(DataContainer.inbox)
        if makesInbox {
            try staging.makeDirectory(DataContainer.inbox, for: owner)
            try staging.rename(DataContainer.inbox, to: DataContainer.inbox, in: documents, mode: .keeping)
            try documents.synchronizeEntries()
            context.space.add(context.space.weights.directory)
            reached(.madeInbox)
        }
        let inbox = try documents.openDirectory(DataContainer.inbox)
        var names: [FileName] = []
        for (index, item) in items.enumerated() {
            let staged = DeliverySource.stagedName(index)
            let bytes = (try? stagedBytes(staged, in: staging)) ?? 0
            names.append(try DeliveryName.place(item.name, from: staged, staging, inbox))
            context.space.add(bytes)
            context.space.disturbCount()
            reached(.deliveredOne)
        }
        try inbox.synchronizeEntries()
        return Delivery(names: names, madeInbox: makesInbox)
    }
}

enum DeliveryName {
    /// Renames a staged item to the first of its names that is free.
    static func place(
        _ name: FileName, from staged: FileName, _ staging: borrowing Descriptor, _ inbox: borrowing Descriptor
    ) throws(SystemError) -> FileName {
        var number = 0
        while true {
            let candidate = number == 0 ? name : numbered(name, number)
            do throws(SystemError) {
                try staging.rename(staged, to: candidate, in: inbox, mode: .keeping)
                return candidate
            } catch {
                guard error == .exists else { throw error }
                number += 1
            }
        }
    }

    /// `mail.txt` becomes `mail-1.txt`; what is too long for that loses the end of its stem.
    static func numbered(_ name: FileName, _ number: Int) -> FileName {
        let bytes = Array(name.bytes)
        // A leading dot begins a hidden name, not an extension.
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.count
        let suffix = Array("-\(number)".utf8)
        var end = bytes[dot...]
        // A tail that leaves no room for the number is no extension.
        if end.count > 100 { end = [] }
        var stem = bytes[..<(bytes.count - end.count)]
        while stem.count + suffix.count + end.count > FileName.maximumLength {
            // A character of UTF-8 goes as a whole: its first byte, and the bytes 10xxxxxx that continue it.
            while let last = stem.popLast(), last & 0xC0 == 0x80 {}
        }
        return FileName(Array(stem) + suffix + Array(end))!
    }
}
