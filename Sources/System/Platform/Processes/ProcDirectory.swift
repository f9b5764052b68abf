// Directories of /proc.

import Glibc
import SandboxModel

enum ProcDirectory {
    /// The names in a directory.
    /// - Throws: ENOENT or ESRCH when its process has ended, EACCES for one that this process must not trace.
    static func names(in directory: String) throws(SystemError) -> [String] {
        let reader = DirectoryReader(try Descriptor.open(path: directory, flags: O_RDONLY | O_DIRECTORY))
        var names: [String] = []
        while let entry = try reader.next() { names.append(entry.name.text) }
        return names
    }
}
