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
            // The kernel caches a list that it has seen the end of. What other homes change in it, it would not hear of.
            if isEmpty, volume.isShared(node.id) { kernel?.forgetContent(of: node) }
        } catch {
            // What is packed already counts as looked up: it is sent, and the error comes with the next call.
            if isEmpty { reply.fail(error.errno) } else { reply.send() }
        }
    }

    func synchronizeDirectory(_ node: KernelNode, dataOnly: Bool, reply: consuming DoneReply) {
        answer(reply, .fsync, of: node.id) { () throws(Fault) in
            try volume.synchronizeDirectory(node.id)
        }
    }
}
