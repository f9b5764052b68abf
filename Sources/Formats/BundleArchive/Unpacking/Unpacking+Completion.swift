// The last steps of unpacking: symbolic links, then the attributes of directories.

import Glibc
import Platform
import SandboxModel

extension Unpacking {
    /// Checks and makes the symbolic links. They come after all files, so that no file is written through a link.
    /// - Returns: false when cancelled.
    mutating func makeLinks(_ progress: (Int64) -> Bool) throws(ArchiveFault) -> Bool {
        let links = targets.keys.sorted()
        var walk = LinkWalk(contents.tree, app: contents.app, targets: targets)
        for node in links { try walk.check(node) }
        for node in links {
            let (parent, name) = try place(of: node)
            guard let target = targets[node], let attributes = attributes[node] else { continue }
            try onHost { () throws(SystemError) in
                try parent.descriptor.makeSymbolicLink(name, target: target)
                try parent.descriptor.changeTimes(
                    of: name, access: attributes.modification, modification: attributes.modification)
            }
            guard progress(0) else { return false }
        }
        return true
    }

    /// Sets modes and times of directories, the deepest first: a mode set earlier could forbid writing into the
    /// directory, and writing would change the time.
    /// - Returns: false when cancelled.
    mutating func finishDirectories(_ progress: (Int64) -> Bool) throws(ArchiveFault) -> Bool {
        for node in contents.tree.nodes.indices.reversed() where isInApp(node, .directory) {
            let (parent, name) = try place(of: node)
            let attributes = attributes[node]
            try onHost { () throws(SystemError) in
                try parent.descriptor.changeMode(of: name, to: attributes?.permissions ?? 0o755)
                guard let time = attributes?.modification else { return }
                try parent.descriptor.changeTimes(of: name, access: time, modification: time)
            }
            guard progress(0) else { return false }
        }
        return true
    }
}
