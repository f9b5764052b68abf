// fsync of files and directories. The names that lead to them are in ``NameDurability``.

import BackingStore
import Glibc
import Platform
public import SandboxModel
import Synchronization

extension Volume {
    /// Makes a file durable, with the names that lead to it.
    /// - Parameter dataOnly: as for fdatasync(2).
    public func synchronize(_ handle: FileHandle, dataOnly: Bool) throws(Fault) {
        switch handle.content {
        case .encrypted(let file): try file.synchronize(dataOnly: dataOnly)
        case .sealed, .synthetic: return
        }
        // Otherwise the file could lie in neither directory while each is synchronized.
        try names.reading { () throws(Fault) in
            try entryLocks.keepingPlace(of: handle.node) { () throws(Fault) in
                try durability.makeNamesDurable(of: handle.node)
            }
        }
    }

    /// Makes a directory's entries durable, with the names that lead to it.
    public func synchronizeDirectory(_ node: NodeID) throws(Fault) {
        let node = try self.node(node)
        guard node.kind == .directory else { return }
        try names.reading { () throws(Fault) in
            try durability.synchronizeEntries(of: node)
            try durability.makeNamesDurable(of: node)
        }
    }
}
