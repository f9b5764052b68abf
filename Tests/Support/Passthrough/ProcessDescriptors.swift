// Opens a file anew by its O_PATH descriptor, and links it. Only /proc/self/fd can do that without a path.

import Glibc
import Platform
import SandboxModel

/// /proc/self/fd, open: a path from the root would take three further lookups at each call.
struct ProcessDescriptors: ~Copyable, Sendable {
    private let directory: Descriptor

    /// - Throws: ENOENT where /proc is not mounted.
    init() throws(SystemError) {
        directory = try Descriptor.openDirectory(path: "/proc/self/fd")
    }

    /// `openat(2)` of the descriptor's link.
    borrowing func open(_ node: Node, flags: Int32) throws(SystemError) -> Descriptor {
        let directory = self.directory.number
        let name = String(node.descriptor.number)
        return Descriptor(owning: try systemCall { unsafe openat(directory, name, flags | O_CLOEXEC) })
    }

    /// `linkat(2)` of the descriptor's link, with AT_SYMLINK_FOLLOW: it leads to the file itself, be that a link or
    /// not.
    borrowing func link(_ node: Node, to name: FileName, in parent: Node) throws(SystemError) {
        let directory = self.directory.number
        let source = String(node.descriptor.number)
        let target = parent.descriptor.number
        let terminated = name.terminated
        try systemCall {
            unsafe terminated.withUnsafeBytes { bytes in
                let name = unsafe bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
                return unsafe linkat(directory, source, target, name, AT_SYMLINK_FOLLOW)
            }
        }
    }
}
