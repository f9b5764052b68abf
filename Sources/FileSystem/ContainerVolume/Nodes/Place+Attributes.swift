// Extended attributes of a node on the host: its mode, the protection class of a directory, and the backup mark.

import BackingStore
import Glibc
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

    // MARK: Mode

    /// A status of this place with the mode that the app gave the file.
    @inline(__always)
    func shown(_ status: FileStatus) -> FileStatus {
        NodeModes.shown(status) { storedMode }
    }

    private var storedMode: [UInt8]? {
        try? withPermission(0o400) { () throws(SystemError) in
            try withAttributes { holder throws(SystemError) in try holder.value(of: NodeModes.attributeName) }
        }
    }

    /// chmod(2), with the set-ID bits of a file beside the backing file.
    /// - Parameter present: the host's status.
    func storeMode(_ mode: mode_t, over present: FileStatus) throws(SystemError) {
        guard present.kind == .file else {
            // The kernel has decided whether the caller may set the bits.
            return try SetIDCapability.raised { () throws(SystemError) in try changeMode(mode) }
        }
        if let value = NodeModes.attribute(of: mode) {
            // First: the sign without the attribute would be another mode.
            try withPermission(0o200) { () throws(SystemError) in
                try withAttributes { holder throws(SystemError) in
                    try holder.set(NodeModes.attributeName, to: value)
                }
            }
            return try changeMode(NodeModes.stored(mode))
        }
        try changeMode(NodeModes.stored(mode))
        guard NodeModes.hasSign(present) else { return }
        // Without the sign nobody looks at it.
        try? withPermission(0o200) { () throws(SystemError) in
            try withAttributes { holder throws(SystemError) in try holder.remove(NodeModes.attributeName) }
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
