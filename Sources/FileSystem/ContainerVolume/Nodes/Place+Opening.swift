// Opening a node on the host: content, and inode flags.

import BackingStore
import Glibc
import Platform
import SandboxModel

extension Place {
    /// As ``OpenFileTable/openBacking(of:writing:)``.
    /// - Returns: with the file, whether it is open for writing.
    func openBacking(of node: Node, writing: Bool) throws(SystemError) -> (SharedDescriptor, Bool) {
        // Not blocking: a fifo may have replaced a bundle's file.
        let flags = O_NONBLOCK | node.readingFlags
        if node.zone == .bundle { return (SharedDescriptor(try open(flags: O_RDONLY | flags)), false) }
        do throws(SystemError) {
            // Not blocking: a lease of another process would hold the call for most of a minute.
            return (SharedDescriptor(try open(flags: O_RDWR | flags)), true)
        } catch {
            guard error == .accessDenied else { throw error }
        }
        if !writing, let readable = try? open(flags: O_RDONLY | flags) {
            return (SharedDescriptor(readable), false)
        }
        return (SharedDescriptor(try openDespiteMode()), true)
    }

    /// open(2) of the node.
    func open(flags: Int32) throws(SystemError) -> Descriptor {
        switch self {
        case .entry(let directory, let name): try directory.descriptor.openStored(name, flags: flags)
        case .descriptor(let node): try node.descriptor.reopen(flags: flags)
        case .none: throw .isDirectory
        }
    }

    /// Opens a file of the daemon's own user whose mode denies it. The mode changes for the time of the call.
    ///
    /// The kernel has checked that the caller may open the file, or the file was open before its mode changed.
    func openDespiteMode() throws(SystemError) -> Descriptor {
        guard case .entry(let directory, let name) = self else { throw .accessDenied }
        let mode = try directory.descriptor.status(of: name).hostPermissions
        try directory.descriptor.changeMode(of: name, to: mode | 0o600)
        do throws(SystemError) {
            let file = try directory.descriptor.open(name, flags: O_RDWR)
            try file.changeMode(mode)
            return file
        } catch {
            try? directory.descriptor.changeMode(of: name, to: mode)
            throw error
        }
    }

    // MARK: Inode flags

    /// The host's inode flags; 0 where the host keeps none.
    var flags: UInt32 { (try? openForFlags().inodeFlags()) ?? 0 }

    /// Opens the node for an ioctl(2) on its flags.
    func openForFlags() throws(SystemError) -> Descriptor {
        switch self {
        case .entry(let directory, let name): try directory.descriptor.openStored(name, flags: O_RDONLY | O_NONBLOCK)
        case .descriptor(let node): try node.descriptor.reopen(flags: O_RDONLY | O_NONBLOCK)
        case .none: throw .notSupported
        }
    }
}
