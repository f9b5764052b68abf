// Listings of directories.

import FuseBridge
import Glibc
import Platform
import SandboxModel
import Synchronization

extension PassthroughFileSystem {
    func list(_ node: KernelNode, from position: Int64, reply: consuming DirectoryReply) {
        var reply = reply
        var isEmpty = true
        do throws(SystemError) {
            let node = try self.node(node)
            // Taken out of the node: a second reader of the directory gets one of its own.
            let listing = try listing(of: node)
            try listing.seek(position)
            while let entry = try listing.next() {
                guard add(entry, of: node, to: &reply) else {
                    node.listing.withLock { $0 = listing }
                    return isEmpty ? reply.fail(EINVAL) : reply.send()
                }
                isEmpty = false
                listing.take()
            }
        } catch {
            // The kernel asks again behind the entries that it got, and is told then.
            if isEmpty { return reply.fail(error.code) }
        }
        reply.send()
    }

    private func listing(of node: Node) throws(SystemError) -> DirectoryListing {
        if let begun = node.listing.withLock({ $0.take() }) { return begun }
        return DirectoryListing(try descriptors.open(node, flags: O_RDONLY | O_DIRECTORY))
    }

    /// - Returns: false if the entry does not fit.
    private func add(
        _ entry: DirectoryReader.AnyEntry, of directory: Node, to reply: inout DirectoryReply
    ) -> Bool {
        // Without an entry the kernel has no status: of `.` and `..`, and of what was removed since it was read.
        guard reply.withEntries, let name = entry.name, let found = try? self.entry(name, in: directory) else {
            return reply.add(entry.terminatedName, inode: entry.inode, type: entry.type, next: entry.next)
        }
        if reply.add(entry.terminatedName, entry: found, next: entry.next) { return true }
        forget(found.node, count: 1)
        return false
    }

    func synchronizeDirectory(_ node: KernelNode, dataOnly: Bool, reply: consuming DoneReply) {
        reply.answer { () throws(SystemError) in
            let directory = try descriptors.open(try self.node(node), flags: O_RDONLY | O_DIRECTORY)
            try directory.synchronize(dataOnly: dataOnly)
        }
    }

    func statistics(of node: KernelNode, reply: consuming StatisticsReply) {
        let host: statvfs
        do throws(SystemError) {
            host = try self.node(node).descriptor.filesystemStatistics()
        } catch {
            return reply.fail(error.code)
        }
        reply.statistics(
            FileSystemStatistics(
                blockSize: UInt64(host.f_frsize), blocks: UInt64(host.f_blocks), freeBlocks: UInt64(host.f_bfree),
                availableBlocks: UInt64(host.f_bavail), files: UInt64(host.f_files), freeFiles: UInt64(host.f_ffree)))
    }
}
