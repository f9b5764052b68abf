// The steps of a replacement: what is new gets the original's metadata, and is exchanged with it.

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
    /// What the new item is a copy of; nil where it is what the app named.
    var copied: CopiedItem?

    /// What a copy beside the original cannot tell of the item that it was made of.
    struct CopiedItem {
        let status: FileStatus
        /// The names of the attributes that are its own.
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
        // All is where it belongs, and what is left over here is no failure of the replacement.
        try? FileManager.default.removeItem(atPath: new)
    }

    /// Whether the new item is in the home's Inbox, which takes part in no exchange, lets nothing in it be changed, and takes
    /// nothing back: what is moved out of it first could not be put back when a later step fails.
    private var isDelivered: Bool {
        guard let home = Home(around: new), let path = try? HostPath.absolute(new),
            let directory = HostPath.place(of: path)?.directory
        else { return false }
        return (try? HostPath.holds("\(home.path)/Documents/Inbox", directory)) == true
    }

    /// Where the original is to be kept; nil where it is not.
    /// - Throws: where what is asked for is no name, or the original's own.
    private func backupPlace(beside target: FilePlace) throws(SystemError) -> FilePlace? {
        guard let backup, keepsBackup else { return nil }
        guard let name = FileName(backup), name != target.name else { throw .invalid }
        return try FilePlace(name, beside: target)
    }
}

// MARK: Copying

extension ItemReplacement {
    /// For what cannot be exchanged where it is: on another filesystem, or delivered. A copy of it is put beside the original,
    /// which nobody but its owner may read before it has the mode that it is to have.
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
            // Unless it is the original that lies there.
            if let copy, copy == (try? HostPath.status(beside, following: false).identity) {
                try? FileManager.default.removeItem(atPath: beside)
            }
            throw error
        }
        // What is there twice now is no failure of the replacement.
        try? FileManager.default.removeItem(atPath: new)
    }

    /// One of the class's name is none off a mount: it came with a copy, and is not brought back.
    private func ownAttributes(of source: FilePlace) -> [[UInt8]] {
        let names = (try? source.attributes.names()) ?? []
        return source.mountedProtection == nil
            ? names.filter { $0 != Array(ProtectionClass.attributeName.utf8) } : names
    }

    /// A copy that takes over no mode gets that of the item that it was made of.
    private func giveOwnMode(to source: FilePlace) throws(SystemError) {
        guard let status = copied?.status, status.kind != .symbolicLink else { return }
        try source.directory.changeMode(of: source.name, to: status.permissions)
    }
}

// MARK: Exchanging

extension ItemReplacement {
    /// - Returns: whether the new item's former name is that of something to be removed.
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

    /// Nothing is removed before all is in its place.
    /// - Returns: whether the new item's former name is that of something to be removed: the original, or an older backup.
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
