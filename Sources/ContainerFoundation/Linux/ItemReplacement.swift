// The steps of a replacement: what is new comes beside the original, gets its metadata, and is exchanged with it.

import Foundation
import Glibc
import Platform
import SandboxModel

struct ItemReplacement {
    let original: String
    let new: String
    let backup: String?
    let keepsBackup: Bool
    let carriesMetadata: Bool

    func run() throws {
        let target = try onItem(original) { () throws(SystemError) in try FilePlace(try HostPath.absolute(original)) }
        let source = try onItem(new) { () throws(SystemError) in try FilePlace(try HostPath.absolute(new)) }
        let newStatus = try onItem(new, reading: true) { () throws(SystemError) in try source.status() }
        let replaced = try onItem(original) { () throws(SystemError) in try target.statusIfThere() }
        if let replaced, replaced.identity == newStatus.identity { throw CocoaError(.invalid, path: new) }
        if let replaced, carriesMetadata { try carryMetadata(of: replaced, to: newStatus) }
        do {
            try exchange(source, target, replaced)
        } catch let error where error.isAcrossMounts {
            return try replaceByCopy()
        }
        // The original, under the new item's former name.
        if replaced != nil, backup == nil || !keepsBackup { try? FileManager.default.removeItem(atPath: new) }
    }

    /// A rename does not lead from one filesystem to another: what is new is copied beside the original.
    private func replaceByCopy() throws {
        let beside = "\(HostPath.place(of: try absolute(original))?.directory ?? "")/\(FileName.passing.text)"
        try FileManager.default.copyItem(atPath: new, toPath: beside)
        do {
            let copied = ItemReplacement(
                original: original, new: beside, backup: backup, keepsBackup: keepsBackup,
                carriesMetadata: carriesMetadata)
            try copied.run()
        } catch {
            try? FileManager.default.removeItem(atPath: beside)
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
        if MountedItem(new, following: false) != nil { try carryAttributes() }
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

    private func exchange(
        _ source: FilePlace, _ target: FilePlace, _ replaced: FileStatus?
    ) throws {
        guard let replaced else {
            do throws(SystemError) {
                try source.directory.rename(source.name, to: target.name, in: target.directory)
            } catch {
                throw CocoaError(error, path: original)
            }
            return
        }
        let kept = keepsBackup ? backup : nil
        if let kept { try makeRoom(for: kept, original: replaced) }
        do throws(SystemError) {
            try source.swap(with: target)
            guard let kept else { return }
            do throws(SystemError) {
                let place = try FilePlace(kept)
                try source.directory.rename(source.name, to: place.name, in: place.directory)
            } catch {
                try source.swap(with: target)
                throw error
            }
        } catch {
            throw CocoaError(error, path: original)
        }
    }

    /// - Throws: where the original itself has the backup's name.
    private func makeRoom(for backup: String, original replaced: FileStatus) throws {
        guard let status = try? HostPath.status(backup, following: false) else { return }
        if status.identity == replaced.identity { throw CocoaError(.invalid, path: backup) }
        try FileManager.default.removeItem(atPath: backup)
    }
}

extension Error {
    fileprivate var isAcrossMounts: Bool { ((self as? CocoaError)?.underlying as? POSIXError)?.code == .EXDEV }
}

extension FilePlace {
    /// Exchanges what is here with what is there.
    fileprivate func swap(with other: FilePlace) throws(SystemError) {
        do throws(SystemError) {
            return try directory.rename(name, to: other.name, in: other.directory, mode: .exchanging)
        } catch {
            guard error == .invalid || error == .notSupported else { throw error }
        }
        // A filesystem that knows no exchange: for a moment nothing is there, but nothing is lost.
        let passing = FileName.passing
        try other.directory.rename(other.name, to: passing, in: other.directory)
        do throws(SystemError) {
            try directory.rename(name, to: other.name, in: other.directory)
        } catch {
            try other.directory.rename(passing, to: other.name, in: other.directory)
            throw error
        }
        try other.directory.rename(passing, to: name, in: directory)
    }
}
