// The steps of a replacement: what is new comes beside the original, gets its metadata, and is exchanged with it.

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

    /// - Parameter mayCopy: whether what cannot be renamed may be copied beside the original. What cannot be renamed there
    ///   either, as the lower directory of an overlay, stays where it is.
    func run(mayCopy: Bool = true) throws {
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
            if carriesMetadata { try carryMetadata(of: replaced, to: newStatus) }
        }
        do throws(SystemError) {
            guard replaced != nil else { return try source.move(to: target) }
            guard try exchange(source, target, kept) else { return }
        } catch {
            if error.code == EXDEV, mayCopy { return try replaceByCopy() }
            throw CocoaError(error, path: original)
        }
        // All is where it belongs, and what is left over here is no failure of the replacement.
        try? FileManager.default.removeItem(atPath: new)
    }

    /// Where the original is to be kept; nil where it is not.
    /// - Throws: where what is asked for is no name, or the original's own.
    private func backupPlace(beside target: FilePlace) throws(SystemError) -> FilePlace? {
        guard let backup, keepsBackup else { return nil }
        guard let name = FileName(backup), name != target.name else { throw .invalid }
        return try FilePlace(name, beside: target)
    }

    /// A rename does not lead from one filesystem to another: what is new is copied beside the original.
    private func replaceByCopy() throws {
        let beside = "\(HostPath.place(of: try absolute(original))?.directory ?? "")/\(FileName.passing.text)"
        do {
            try FileManager.default.copyItem(atPath: new, toPath: beside)
        } catch {
            try? FileManager.default.removeItem(atPath: beside)
            throw error
        }
        let copy = try? HostPath.status(beside, following: false).identity
        do {
            let copied = ItemReplacement(
                original: original, new: beside, backup: backup, keepsBackup: keepsBackup,
                carriesMetadata: carriesMetadata)
            try copied.run(mayCopy: false)
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

    private func absolute(_ path: String) throws(CocoaError) -> String {
        try onItem(path) { () throws(SystemError) in try HostPath.absolute(path) }
    }

    /// - Throws: where the new item may not have the class, because the device is locked: nobody is to find a document
    ///   less protected than it was. Attributes and mode go along as far as the caller's rights allow.
    private func carryMetadata(of replaced: FileStatus, to status: FileStatus) throws(CocoaError) {
        guard replaced.kind == status.kind, replaced.kind == .file || replaced.kind == .directory else { return }
        if MountedItem(new, following: false) != nil {
            // Attributes are taken by what its owner may write.
            if status.permissions & S_IWUSR == 0 {
                try? HostPath.changeMode(of: new, to: status.permissions | S_IWUSR)
            }
            do throws(CocoaError) {
                try carryAttributes()
            } catch {
                try? HostPath.changeMode(of: new, to: status.permissions)
                throw error
            }
        }
        try? HostPath.changeMode(of: new, to: replaced.permissions)
    }

    private func carryAttributes() throws(CocoaError) {
        let old = AttributeHolder(path: original, following: false)
        let fresh = AttributeHolder(path: new, following: false)
        let present = (try? fresh.names()) ?? []
        let protection = Array(ProtectionClass.attributeName.utf8)
        // One that is listed is the item's own, and not what its directory gives. The original's counts wherever it is from:
        // the new item comes from another directory, and keeps what that gave it.
        if !present.contains(protection), let value = try? MountedItem(original, following: false)?.protection() {
            try onItem(original) { () throws(SystemError) in try fresh.setProtection(value) }
        }
        let marks = [BackupMark.attributeName, "user.xdg.robots.backup"].map { Array($0.utf8) }
        ItemCopy.carryAttributes(from: old, to: fresh) { !present.contains($0) && !marks.contains($0) }
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
