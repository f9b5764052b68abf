// Directory trees of any depth, with a fixed number of descriptors, without recursion, following no link.

import Glibc
public import SandboxModel

extension Descriptor {
    /// `openat(2)` with `O_PATH`, name by name: the directory at the end of `path` below this one.
    /// - Throws: ENOENT or ENOTDIR at the first name that is missing or no directory.
    public borrowing func openDirectory(at path: some Collection<FileName>) throws(SystemError) -> Descriptor {
        var current: Descriptor?
        for name in path {
            current =
                if let directory = current.take() { try directory.openDirectory(name) } else { try openDirectory(name) }
        }
        if let directory = current.take() { return directory }
        return try duplicate()
    }

    /// A reader of the directory's entries. The descriptor may be an `O_PATH` one.
    public borrowing func entries() throws(SystemError) -> DirectoryReader {
        DirectoryReader(try reopen(flags: O_RDONLY | O_DIRECTORY))
    }

    /// `fsync(2)` of the directory: makes its names durable. The descriptor may be an `O_PATH` one.
    public borrowing func synchronizeEntries() throws(SystemError) {
        if Durability.isWaived { return }
        try reopen(flags: O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// Removes an entry and all that lies below it, by `unlinkat(2)`.
    ///
    /// Inner directories are moved up to the top of the tree before they are emptied. That keeps the descriptors few
    /// and the work linear at any depth.
    ///
    /// - Parameters:
    ///   - progress: gets, after each entry, the number removed since its last call; false ends the removal.
    ///   - removed: gets the status that each entry had just before, with the number of its links.
    ///   - emptying: gets each directory before its entries are removed, and may remove some of them itself.
    /// - Returns: false if `progress` ended the removal.
    /// - Throws: the first error of the host. A part of the tree may be removed then.
    @discardableResult
    public borrowing func removeTree(
        _ name: FileName, progress: (Int64) -> Bool = { _ in true }, removed: (FileStatus) -> Void = { _ in },
        emptying: ((SharedDescriptor) -> Void)? = nil
    ) throws(SystemError) -> Bool {
        let own = try status(of: name)
        guard own.kind == .directory else {
            try removeFile(name)
            removed(own)
            return progress(1)
        }
        let top = try openForRemoval(name)
        emptying?(SharedDescriptor(try top.duplicate()))
        var moved = 0
        while true {
            var isEmpty = true
            let reader = try top.entries()
            while let entry = try reader.next() {
                isEmpty = false
                let found = try top.status(of: entry.name)
                guard found.kind == .directory else {
                    try top.removeFile(entry.name)
                    removed(found)
                    guard progress(1) else { return false }
                    continue
                }
                let directory = try top.openForRemoval(entry.name)
                emptying?(SharedDescriptor(try directory.duplicate()))
                // One level only: what lies deeper comes up to `top`, and a later round finds it there.
                let inner = try directory.entries()
                while let child = try inner.next() {
                    let status = try directory.status(of: child.name)
                    if status.kind == .directory {
                        try directory.moveUp(child.name, to: top, counter: &moved)
                    } else {
                        try directory.removeFile(child.name)
                        removed(status)
                        guard progress(1) else { return false }
                    }
                }
                do throws(SystemError) {
                    try top.removeDirectory(entry.name)
                } catch {
                    // The listing skipped an entry while others were removed. The next round finds it.
                    guard error == .directoryNotEmpty else { throw error }
                    continue
                }
                removed(found)
                guard progress(1) else { return false }
            }
            if isEmpty { break }
        }
        try removeDirectory(name)
        removed(own)
        return progress(1)
    }

    /// Adds the owner's permissions first: a directory may deny its own owner what emptying it takes.
    private borrowing func openForRemoval(_ name: FileName) throws(SystemError) -> Descriptor {
        if try status(of: name).permissions & S_IRWXU != S_IRWXU { try changeMode(of: name, to: S_IRWXU) }
        return try openDirectory(name)
    }

    /// Moves a directory to `top` under a free name, counted by `counter`.
    private borrowing func moveUp(
        _ name: FileName, to top: borrowing Descriptor, counter: inout Int
    ) throws(SystemError) {
        // A new parent rewrites the directory's `..`, which takes write permission on the directory itself.
        if try status(of: name).permissions & S_IRWXU != S_IRWXU { try changeMode(of: name, to: S_IRWXU) }
        while true {
            counter += 1
            do throws(SystemError) {
                return try rename(name, to: FileName(".removed-\(counter)")!, in: top, mode: .keeping)
            } catch {
                guard error == .exists else { throw error }
            }
        }
    }
}
