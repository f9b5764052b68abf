// The directory in which the processes that use one container meet: claims are files there, and listeners are sockets.

import Glibc
import Platform
import SandboxModel

final class MeetingDirectory: Sendable {
    let directory: Descriptor
    /// The owner of what root makes, so that the container's own user can use it; nil where the caller's is right.
    private let owner: (user: uid_t, group: gid_t)?

    /// Opens the directory, and makes it where it is missing. No link is followed below the container's root.
    /// - Throws: EPERM where somebody else made the directory on the host; ENOSPC and the like.
    convenience init(of place: CoordinationPlace) throws(SystemError) {
        do throws(SystemError) {
            try self.init(at: place)
        } catch {
            guard error.code == EROFS, place.isMounted else { throw error }
            try self.init(at: place.onHost(try HostPath.status(place.root)))
        }
    }

    private init(at place: CoordinationPlace) throws(SystemError) {
        var current = try Descriptor.openDirectory(path: place.parent)
        let root = try current.status()
        let owner = place.isMounted && geteuid() == 0 && root.owner != 0 ? (root.owner, root.group) : nil
        for (depth, name) in place.meetingPlace.enumerated() {
            let mode = place.isMounted ? root.permissions & 0o777 | S_IRWXU : S_IRWXU
            current = try MeetingDirectory.child(name, of: current, mode: mode, owner: owner)
            guard depth == 0, !place.isMounted else { continue }
            // Others can make names in the directory above it.
            let status = try current.status()
            guard status.owner == geteuid(), status.permissions & 0o077 == 0 else { throw .notPermitted }
        }
        if place.isMounted {
            // Before the first unlock too.
            let holder = AttributeHolder(current)
            if try holder.protection() != ProtectionClass.none { try holder.setProtection(.none) }
        }
        self.owner = owner
        directory = current
    }

    private static func child(
        _ name: FileName, of parent: borrowing Descriptor, mode: mode_t, owner: (user: uid_t, group: gid_t)?
    ) throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return try parent.openDirectory(name)
        } catch {
            guard error == .noEntry else { throw error }
        }
        do throws(SystemError) {
            try parent.makeDirectory(name, mode: mode)
            if let owner { try parent.changeOwner(of: name, to: owner.user, group: owner.group) }
        } catch {
            guard error == .exists else { throw error }
        }
        return try parent.openDirectory(name)
    }

    /// The names with an ending, in no order.
    func names(endingWith ending: String) throws(SystemError) -> [FileName] {
        let reader = DirectoryReader(try directory.reopen(flags: O_RDONLY | O_DIRECTORY))
        let ending = Array(ending.utf8)
        var names: [FileName] = []
        while let entry = try reader.next() {
            if entry.name.bytes.suffix(ending.count).elementsEqual(ending) { names.append(entry.name) }
        }
        return names
    }

    /// A new file that its owner alone can use.
    func makeFile(_ name: FileName) throws(SystemError) -> Descriptor {
        let file = try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
        if let owner { try file.changeOwner(owner.user, group: owner.group) }
        return file
    }

    /// Opens a file that others may have made, or removed.
    /// - Returns: nil if there is no such file, or this process may not open it.
    func file(_ name: FileName, flags: Int32) -> SharedDescriptor? {
        do throws(SystemError) {
            let file = SharedDescriptor(try directory.open(name, flags: flags | O_NONBLOCK))
            return try file.descriptor.status().kind == .file ? file : nil
        } catch {
            return nil
        }
    }

    /// A listening socket. The path of its directory is too long for a socket's address; that of its descriptor is not.
    func makeSocket(_ name: FileName) throws(SystemError) -> SharedDescriptor {
        let socket = try Descriptor.localSocket()
        try socket.bind(to: name, in: directory)
        if let owner { try directory.changeOwner(of: name, to: owner.user, group: owner.group) }
        try socket.listen()
        return SharedDescriptor(socket)
    }

    /// Connects to a listener's socket, and to nothing else that has its name.
    /// - Throws: ECONNREFUSED if its process has ended; EAGAIN if it has not answered for long.
    func connect(to name: FileName) throws(SystemError) -> SharedDescriptor {
        let node = try directory.openNode(name)
        guard try node.status().kind == .socket else { throw .invalid }
        return SharedDescriptor(try Descriptor.connected(toSocket: "/proc/self/fd/\(node.number)"))
    }

    /// A lock that a process holds for a moment.
    /// - Returns: nil while another process has it.
    func tryLock() throws(SystemError) -> SharedDescriptor? {
        let file = try lockFile()
        return try file.descriptor.tryLock() ? file : nil
    }

    /// The file of the lock, opened anew. While it is open, a purge leaves the directory alone.
    func lockFile() throws(SystemError) -> SharedDescriptor {
        let name: FileName = "lock"
        while true {
            do throws(SystemError) {
                let file = SharedDescriptor(try directory.open(name, flags: O_RDWR | O_NONBLOCK))
                guard try file.descriptor.status().kind == .file else { throw .invalid }
                return file
            } catch {
                guard error == .noEntry else { throw error }
            }
            do throws(SystemError) {
                return SharedDescriptor(try makeFile(name))
            } catch {
                guard error == .exists else { throw error }
            }
        }
    }

    /// The directory itself, and its place in the order in which locks of several are taken: the same for all
    /// processes.
    var identity: Identity {
        get throws(SystemError) {
            let status = try directory.status().raw
            return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        }
    }

    struct Identity: Hashable, Comparable {
        let device: UInt64
        let inode: UInt64

        static func < (one: Identity, other: Identity) -> Bool {
            (one.device, one.inode) < (other.device, other.inode)
        }
    }
}
