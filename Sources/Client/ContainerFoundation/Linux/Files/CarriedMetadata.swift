// Metadata that a new item takes over from the item that it replaces. Revocable until the exchange.

import Foundation
import Glibc
import Platform
import SandboxModel

struct CarriedMetadata {
    private let item: FilePlace
    private let status: FileStatus
    /// The former class of the item, if it was changed.
    private var formerProtection: ProtectionClass?
    /// Attributes that were added to the item.
    private var added: [[UInt8]] = []

    /// Copies attributes and mode as far as the caller's permissions allow.
    ///
    /// - Parameters:
    ///   - own: names of the new item's own attributes, which stay.
    ///   - isMounted: whether the new item is on a mount. Elsewhere it gets the mode only.
    /// - Throws: EPERM if the item cannot get the class because the device is locked. No document may end up less
    ///   protected than before. The item is then unchanged.
    init(
        of original: FilePlace, to item: FilePlace, keeping own: [[UInt8]], isMounted: Bool
    ) throws(SystemError) {
        self.item = item
        status = try item.status()
        let replaced = try original.status()
        if isMounted {
            // Setting attributes takes write permission.
            if status.permissions & S_IWUSR == 0 {
                try? item.directory.changeMode(of: item.name, to: status.permissions | S_IWUSR)
            }
            do throws(SystemError) {
                try carryProtection(of: original, keeping: own)
            } catch {
                undo()
                throw error
            }
            carryAttributes(of: original, keeping: own)
        }
        try? item.directory.changeMode(of: item.name, to: replaced.permissions)
    }

    /// Applies to files without a class of their own too: the new item comes from another directory, which gave it
    /// another.
    private mutating func carryProtection(of original: FilePlace, keeping own: [[UInt8]]) throws(SystemError) {
        guard !own.contains(Array(ProtectionClass.attributeName.utf8)), let protection = original.mountedProtection
        else { return }
        let former = item.mountedProtection
        guard former != protection else { return }
        try item.attributes.setProtection(protection)
        formerProtection = former
    }

    private mutating func carryAttributes(of original: FilePlace, keeping own: [[UInt8]]) {
        let left = [Array(ProtectionClass.attributeName.utf8)] + BackupMark.listedNames
        for name in (try? original.attributes.names()) ?? [] where !own.contains(name) && !left.contains(name) {
            guard let value = try? original.attributes.value(of: name),
                (try? item.attributes.set(name, to: value)) != nil
            else { continue }
            added.append(name)
        }
    }

    /// Restores the item, if it is still in its place.
    func undo() {
        if formerProtection != nil || !added.isEmpty {
            // The mode that was taken over may deny its owner writing.
            try? item.directory.changeMode(of: item.name, to: status.permissions | S_IWUSR)
        }
        for name in added { try? item.attributes.remove(name) }
        if let formerProtection { try? item.attributes.setProtection(formerProtection) }
        try? item.directory.changeMode(of: item.name, to: status.permissions)
    }
}
