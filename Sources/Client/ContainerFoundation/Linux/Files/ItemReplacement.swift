// The steps of replaceItemAt: the new item takes over the original's metadata, and the two are exchanged.

import Foundation
import Glibc
import Platform
import SandboxModel

struct ItemReplacement {
    let original: String
    let new: String
    /// A name in the original's directory.
    let backup: String?
    let keepsBackup: Bool
    let carriesMetadata: Bool
    /// The item that was copied beside the original; nil if the new item is used itself.
    var copied: CopiedItem?

    /// Properties of the copied item that its copy does not show.
    struct CopiedItem {
        let status: FileStatus
        /// The names of its own attributes.
        let attributes: [[UInt8]]
    }

    func run() throws {
        let target = try onItem(original) { () throws(SystemError) in try FilePlace(try HostPath.absolute(original)) }
        let source = try onItem(new) { () throws(SystemError) in try FilePlace(try HostPath.absolute(new)) }
        let newStatus = try onItem(new, reading: true) { () throws(SystemError) in try source.status() }
        let replaced = try onItem(original) { () throws(SystemError) in try target.statusIfThere() }
        let kept = try onItem(original) { () throws(SystemError) in try backupPlace(beside: target) }
        if let replaced {
            let isNested = try onItem(new) { () throws(SystemError) in
                try source.isInside(target) ? true : try target.isInside(source)
            }
            guard !isNested, replaced.identity != newStatus.identity else { throw CocoaError(.invalid, path: new) }
            if copied == nil, isDelivered { return try replaceByCopy(source) }
        }
        do throws(SystemError) {
            guard let replaced else {
                try giveOwnMode(to: source)
                return try source.move(to: target)
            }
            guard try place(source, newStatus, in: target, of: replaced, kept) else { return }
        } catch {
            if error.code == EXDEV, copied == nil { return try replaceByCopy(source) }
            throw CocoaError(error, path: original)
        }
        // The replacement is complete: leftovers are no failure.
        try? FileManager.default.removeItem(atPath: new)
    }

    /// Whether the new item is in the home's Inbox. Items there cannot be exchanged or changed, and one moved out could
    /// not be put back if a later step failed.
    private var isDelivered: Bool {
        guard let home = Home(around: new), let path = try? HostPath.absolute(new),
            let directory = HostPath.place(of: path)?.directory
        else { return false }
        return (try? HostPath.holds("\(home.path)/Documents/Inbox", directory)) == true
    }

    /// The place in which to keep the original; nil if it is not kept.
    /// - Throws: if the backup's name is no file name, or is the original's own.
    private func backupPlace(beside target: FilePlace) throws(SystemError) -> FilePlace? {
        guard let backup, keepsBackup else { return nil }
        guard let name = FileName(backup), name != target.name else { throw .invalid }
        return try FilePlace(name, beside: target)
    }
}

// MARK: Copying

extension ItemReplacement {
    /// Replaces by a copy made beside the original, for an item on another filesystem or in the Inbox. Only the owner
    /// may read the copy until it has its final mode.
    private func replaceByCopy(_ source: FilePlace) throws {
        let place = try onItem(original) { () throws(SystemError) in try HostPath.absolute(original) }
        let beside = "\(HostPath.place(of: place)?.directory ?? "")/\(FileName.passing.text)"
        let item = try onItem(new, reading: true) { () throws(SystemError) in
            CopiedItem(status: try source.status(), attributes: ownAttributes(of: source))
        }
        let extent = ItemCopy.Extent(mode: S_IRWXU, hasAttributes: MountedItem(beside) != nil)
        do {
            try ItemCopy.copy(new, to: beside, extent: extent)
        } catch {
            try? FileManager.default.removeItem(atPath: beside)
            throw error
        }
        let copy = try? HostPath.status(beside, following: false).identity
        do {
            let copied = ItemReplacement(
                original: original, new: beside, backup: backup, keepsBackup: keepsBackup,
                carriesMetadata: carriesMetadata, copied: item)
            try copied.run()
        } catch {
            // Unless the original lies there.
            if let copy, copy == (try? HostPath.status(beside, following: false).identity) {
                try? FileManager.default.removeItem(atPath: beside)
            }
            throw error
        }
        // A duplicate that is left over is no failure.
        try? FileManager.default.removeItem(atPath: new)
    }

    /// Off a mount an attribute named like the class came with a copy, and is not restored.
    private func ownAttributes(of source: FilePlace) -> [[UInt8]] {
        let names = (try? source.attributes.names()) ?? []
        return source.mountedProtection == nil
            ? names.filter { $0 != Array(ProtectionClass.attributeName.utf8) } : names
    }

    /// Gives a copy that takes over no mode the mode of its source.
    private func giveOwnMode(to source: FilePlace) throws(SystemError) {
        guard let status = copied?.status, status.kind != .symbolicLink else { return }
        try source.directory.changeMode(of: source.name, to: status.permissions)
    }
}

// MARK: Exchanging

extension ItemReplacement {
    /// - Returns: whether the item now at the new item's former name is to be removed.
    private func place(
        _ source: FilePlace, _ status: FileStatus, in target: FilePlace, of replaced: FileStatus, _ kept: FilePlace?
    ) throws(SystemError) -> Bool {
        guard carriesMetadata, replaced.kind == status.kind, replaced.kind == .file || replaced.kind == .directory
        else {
            try giveOwnMode(to: source)
            return try exchange(source, target, kept)
        }
        let carried = try CarriedMetadata(
            of: target, to: source, keeping: copied?.attributes ?? ownAttributes(of: source),
            isMounted: MountedItem(new, following: false) != nil)
        do throws(SystemError) {
            return try exchange(source, target, kept)
        } catch {
            carried.undo()
            throw error
        }
    }

    /// Exchanges without removing anything before all is in place.
    /// - Returns: whether the item now at the new item's former name is to be removed: the original, or an older
    ///   backup.
    private func exchange(
        _ source: FilePlace, _ target: FilePlace, _ kept: FilePlace?
    ) throws(SystemError) -> Bool {
        guard let kept else {
            try source.swap(with: target)
            return true
        }
        let isThere = try kept.isSame(as: source)
        let hasOlder = try kept.statusIfThere() != nil
        try source.swap(with: target)
        guard !isThere else { return false }
        do throws(SystemError) {
            if hasOlder { try source.swap(with: kept) } else { try source.move(to: kept) }
        } catch {
            try source.swap(with: target)
            throw error
        }
        return hasOlder
    }
}
