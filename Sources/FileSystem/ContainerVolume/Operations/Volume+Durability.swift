// fsync: a file is durable when its names are, up to the container's root.

import BackingStore
import Glibc
import Platform
public import SandboxModel
import Synchronization

/// Counts the names that were given in a directory, and how many of them are durable.
///
/// One that becomes known may have names that were given before and that nobody made durable.
struct GivenNames: ~Copyable {
    private let given = Atomic<UInt32>(1)
    private let durable = Atomic<UInt32>(0)

    /// To be called after a name was given.
    borrowing func add() { given.wrappingAdd(1, ordering: .relaxed) }

    var count: UInt32 { given.load(ordering: .relaxed) }
    var areDurable: Bool { durable.load(ordering: .relaxed) == count }

    /// To be called after the directory was made durable.
    /// - Parameter count: how many there were before.
    borrowing func areDurable(upTo count: UInt32) { durable.store(count, ordering: .relaxed) }
}

extension Volume {
    /// Makes a file durable with everything that is needed to find and read it.
    public func synchronize(_ handle: FileHandle, dataOnly: Bool) throws(Fault) {
        switch handle.content {
        case .encrypted(let file): try file.synchronize(dataOnly: dataOnly)
        case .sealed, .madeUp: return
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
