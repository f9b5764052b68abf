// fsync: a file is durable when its names are, up to the container's root.

import BackingStore
import Glibc
import Platform
public import SandboxModel
import Synchronization

extension Volume {
    /// Makes a file durable with everything that is needed to find and read it.
    public func synchronize(_ handle: FileHandle, dataOnly: Bool) throws(Fault) {
        switch handle.content {
        case .encrypted(let file): try file.synchronize(dataOnly: dataOnly)
        case .sealed, .synthetic: return
        }
        try names.reading { () throws(Fault) in try durability.makeNamesDurable(of: handle.node) }
    }

    /// Makes a directory's entries durable.
    public func synchronizeDirectory(_ node: NodeID) throws(Fault) {
        let node = try self.node(node)
        guard node.kind == .directory else { return }
        try names.reading { () throws(Fault) in
            try durability.synchronizeEntries(of: node)
            try durability.makeNamesDurable(of: node)
        }
    }
}
