// Directory listings, and fsync(2) of a directory.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

extension VolumeFileSystem {
    func list(_ node: KernelNode, from position: Int64, reply: consuming DirectoryReply) {
        var reply = reply
        let withEntries = reply.withEntries
        var isEmpty = true
        do throws(Fault) {
            try volume.list(node.id, from: position, withEntries: withEntries) { listed in
                let isTaken =
                    if let entry = listed.entry {
                        reply.add(listed.terminatedName, entry: KernelEntry(entry), next: listed.next)
                    } else {
                        reply.add(
                            listed.terminatedName, inode: listed.inode, type: listed.type, next: listed.next)
                    }
                if isTaken { isEmpty = false }
                return isTaken
            }
            reply.send()
            // The kernel caches a complete listing, but would miss changes made through other homes.
            if isEmpty, volume.isShared(node.id) { kernel?.forgetContent(of: node) }
        } catch {
            // Entries packed so far are references to their nodes: send them. The next call gets the error.
            if isEmpty { reply.fail(error.errno) } else { reply.send() }
        }
    }

    func synchronizeDirectory(_ node: KernelNode, dataOnly: Bool, reply: consuming DoneReply) {
        answer(reply, .fsync, of: node.id) { () throws(Fault) in
            try volume.synchronizeDirectory(node.id)
        }
    }
}
