// Extended attributes of a node on the host: the protection class of a directory, and the backup mark.

import Platform
import SandboxModel

extension Place {
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

    /// What a directory's class is stored as: the attribute by which it is read and set, but for the default class.
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

    /// - Throws: ENODATA where nothing is stored.
    func storedClass() throws(SystemError) -> [UInt8] {
        // A directory of the daemon's own user in which files can be made, but which cannot be listed.
        try withPermission(0o400) { () throws(SystemError) in
            try withAttributes { holder throws(SystemError) in try holder.value(of: Place.storedName) }
        }
    }

    // MARK: Backup mark

    func mark(_ isExcluded: Bool) throws(SystemError) {
        try withAttributes { holder throws(SystemError) in
            let name = Array(BackupMark.attributeName.utf8)
            if isExcluded { return try holder.set(name, to: BackupMark.canonicalValue) }
            do throws(SystemError) {
                try holder.remove(name)
            } catch {
                // Somebody was faster.
                guard error == .noAttribute else { throw error }
            }
        }
    }
}
