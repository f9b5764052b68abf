// Extended attributes of a node on the host: the protection class of a directory, and the backup mark.

import Platform
import SandboxModel

extension Place {
    /// Runs `body` on the host's extended attributes of the node.
    /// - Throws: ENODATA for a node that the host does not have.
    func withAttributes<Result>(
        _ body: (AttributeHolder) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        switch self {
        case .entry(let directory, let name): try body(AttributeHolder(name, in: directory.descriptor))
        case .descriptor(let node): try body(AttributeHolder(file: node.descriptor))
        case .none: throw .noAttribute
        }
    }

    // MARK: Protection class of a directory

    private static let storedName = Array(ProtectionClass.attributeName.utf8)

    /// Stores the class that a directory gives, under the attribute name by which applications read and set it. The
    /// default class is stored as no attribute.
    func storeClass(_ protection: ProtectionClass) throws(SystemError) {
        try withAttributes { holder throws(SystemError) in
            guard protection == .standard else {
                return try holder.set(Place.storedName, to: Array(protection.foundationName.utf8))
            }
            do throws(SystemError) {
                try holder.remove(Place.storedName)
            } catch {
                guard error == .noAttribute else { throw error }
            }
        }
    }

    /// The stored class of a directory.
    /// - Throws: ENODATA where the directory gives the default class.
    func storedClass() throws(SystemError) -> [UInt8] {
        // The daemon's own user may have a directory that it can write to and not list.
        try withPermission(0o400) { () throws(SystemError) in
            try withAttributes { holder throws(SystemError) in try holder.value(of: Place.storedName) }
        }
    }

    // MARK: Backup mark

    /// Sets or removes the backup mark.
    func mark(_ isExcluded: Bool) throws(SystemError) {
        try withAttributes { holder throws(SystemError) in
            let name = Array(BackupMark.attributeName.utf8)
            if isExcluded { return try holder.set(name, to: BackupMark.canonicalValue) }
            do throws(SystemError) {
                try holder.remove(name)
            } catch {
                // Another call has removed the mark.
                guard error == .noAttribute else { throw error }
            }
        }
    }
}
