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
        try synchronizeNames(above: handle.node)
    }

    /// Makes a directory's entries durable.
    public func synchronizeDirectory(_ node: NodeID) throws(Fault) {
        let node = try self.node(node)
        guard node.kind == .directory else { return }
        try names.reading { () throws(Fault) in try synchronizeEntries(of: node) }
        try synchronizeNames(above: node)
    }

    private func synchronizeEntries(of node: Node) throws(Fault) {
        // There is nothing left to be found after a power cut.
        if node.rare?.isRemoved == true { return }
        let given = node.names.count
        let directory = try directory(node)
        try onHost { () throws(SystemError) in
            do throws(SystemError) {
                try directory.descriptor.reopen(flags: O_RDONLY | O_DIRECTORY).synchronize()
            } catch {
                // One that its owner may not list cannot be opened, but it can be made durable with all the rest.
                guard error == .accessDenied else { throw error }
                try device.descriptor.synchronizeFilesystem()
            }
        }
        node.names.areDurable(upTo: given)
    }

    /// The names by which a node is found, as far as they are newer than their directory's last fsync.
    private func synchronizeNames(above node: Node) throws(Fault) {
        try names.reading { () throws(Fault) in try makeNamesDurable(of: node) }
    }

    private func makeNamesDurable(of node: Node) throws(Fault) {
        for parent in table.parents(of: node) {
            let isOnHost = parent.kind == .directory || parent.rare?.anchor != nil
            if isOnHost, !parent.names.areDurable { try synchronizeEntries(of: parent) }
            try makeNamesDurable(of: parent)
        }
    }
}
