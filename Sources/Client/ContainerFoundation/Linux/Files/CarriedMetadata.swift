// What a new item takes over from the one whose place it gets. Until it is there, all of it can be given back.

import Foundation
import Glibc
import Platform
import SandboxModel

struct CarriedMetadata {
    private let item: FilePlace
    private let status: FileStatus
    /// The class that the item had, where it has another now.
    private var formerProtection: ProtectionClass?
    /// Attributes that it did not have.
    private var added: [[UInt8]] = []

    /// Attributes and mode go along as far as the caller's rights allow.
    ///
    /// - Parameters:
    ///   - own: the names of the attributes that are the new item's own, which stay.
    ///   - isMounted: whether the new item is on a mount. Elsewhere it gets the mode, and no attribute.
    /// - Throws: where the item may not have the class, because the device is locked: nobody is to find a document less
    ///   protected than it was. Then it is as it was.
    init(
        of original: FilePlace, to item: FilePlace, keeping own: [[UInt8]], isMounted: Bool
    ) throws(SystemError) {
        self.item = item
        status = try item.status()
        let replaced = try original.status()
        if isMounted {
            // Attributes are taken by what its owner may write.
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

    /// What has no class of its own keeps what its directory gave it; what takes its place comes from another one.
    private mutating func carryProtection(of original: FilePlace, keeping own: [[UInt8]]) throws(SystemError) {
        guard !own.contains(Array(ProtectionClass.attributeName.utf8)), let protection = original.mountedProtection
        else { return }
        let former = item.mountedProtection
        guard former != protection else { return }
        try item.attributes.setProtection(protection)
        formerProtection = former
    }

    private mutating func carryAttributes(of original: FilePlace, keeping own: [[UInt8]]) {
        let names = [ProtectionClass.attributeName, BackupMark.attributeName, "user.xdg.robots.backup"]
        let left = names.map { Array($0.utf8) }
        for name in (try? original.attributes.names()) ?? [] where !own.contains(name) && !left.contains(name) {
            guard let value = try? original.attributes.value(of: name),
                (try? item.attributes.set(name, to: value)) != nil
            else { continue }
            added.append(name)
        }
    }

    /// Makes the item what it was, wherever it is still in its place.
    func undo() {
        if formerProtection != nil || !added.isEmpty {
            // The mode that was carried may not let its owner write.
            try? item.directory.changeMode(of: item.name, to: status.permissions | S_IWUSR)
        }
        for name in added { try? item.attributes.remove(name) }
        if let formerProtection { try? item.attributes.setProtection(formerProtection) }
        try? item.directory.changeMode(of: item.name, to: status.permissions)
    }
}
