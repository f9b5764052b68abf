// A directory of the system's that the system itself takes away, behind the kernel's back.

import BackingStore
import Glibc
public import Platform
public import SandboxModel

extension Volume {
    /// Removes an empty directory, whatever the rules of its zone are. Homes see at once that it is gone, and a process
    /// in it finds and makes nothing there.
    /// - Parameter directory: the directory of the host that has it.
    /// - Throws: the host's error, such as ENOTEMPTY; nothing has changed then.
    public func removeEmptyDirectory(
        _ name: FileName, from directory: borrowing Descriptor
    ) throws(SystemError) {
        // Several where several homes show a group.
        var parents: [Node] = []
        do throws(Fault) {
            let host = try onHost { () throws(SystemError) in SharedDescriptor(try directory.duplicate()) }
            try names.writing { () throws(Fault) in
                let inode = try onHost { () throws(SystemError) in try host.descriptor.status().inode }
                parents = table.nodes(inode: inode)
                guard let parent = parents.first else {
                    try onHost { () throws(SystemError) in try host.descriptor.removeDirectory(name) }
                    return
                }
                let removed = try RemovedName(name, in: parent, host, of: openFiles)
                try onHost { () throws(SystemError) in try host.descriptor.removeDirectory(name) }
                release(removed, name, in: parent)
            }
        } catch {
            if case .system(let error) = error { throw error }
            throw SystemError(code: EIO)
        }
        guard let kernelCache else { return }
        for parent in parents {
            kernelCache.forgetEntry(name, in: parent.id) { [self] in names.reading { places.hasEntry(name, in: parent) }
            }
            kernelCache.forgetContent(of: parent.id)
        }
    }
}
