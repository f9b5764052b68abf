// The place of a new device: it is checked, and the device is built beside it and renamed into it.

import Glibc
import Platform
import SandboxModel

/// The place of a new device.
struct DevicePlace: ~Copyable {
    let path: String
    private let parent: Descriptor
    private let name: FileName
    /// Whether an empty directory there is replaced.
    private let replacing: Bool

    /// Checks that a device can be created at a path.
    /// - Throws: ``Complaint`` of kind `invalidIdentifier`, `notFound` or `deviceExists`.
    /// - Parameter path: absolute, or from the working directory.
    static func at(_ path: String) throws(Complaint) -> DevicePlace {
        let path = HostPath.withoutTrailingSlashes(path)
        let slash = HostPath.lastSlash(in: path)
        let last = slash.map { path.utf8[$0...].dropFirst() } ?? path.utf8[...]
        // Shorter than NAME_MAX, for the prefix and suffix of the temporary name.
        guard let name = FileName(last), name.bytes.count <= 200 else {
            throw Complaint(.invalidIdentifier, "\(path) does not end with a name that a device can have")
        }
        let above = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let parent: Descriptor
        do throws(SystemError) {
            parent = try Descriptor.open(path: above, flags: O_RDONLY | O_DIRECTORY)
        } catch {
            if error == .noEntry || error == .notDirectory {
                throw Complaint(.notFound, "\(above) is not a directory; make it first")
            }
            throw Complaint(error, doing: "cannot open \(above)")
        }
        if let resolved = try? HostPath.resolved(above), let device = DeviceDirectory.around(resolved) {
            throw Complaint(
                .deviceExists,
                "\(path) would be in the device \(device), and a device cannot lie within another; choose another place"
            )
        }
        let state: State
        do throws(SystemError) {
            state = try DevicePlace.state(of: name, in: parent)
        } catch {
            throw Complaint(error, doing: "cannot look at \(path)")
        }
        switch state {
        case .free, .emptyDirectory:
            return DevicePlace(path: path, parent: parent, name: name, replacing: state == .emptyDirectory)
        case .device: throw Complaint(.deviceExists, "\(path) is a device already; choose another name")
        case .taken: throw Complaint(.deviceExists, "\(path) exists already; choose another name")
        }
    }

    /// The present state of the place.
    private enum State {
        case free, emptyDirectory, device, taken
    }

    private static func state(of name: FileName, in parent: borrowing Descriptor) throws(SystemError) -> State {
        guard try parent.exists(name) else { return .free }
        guard try parent.status(of: name).kind == .directory else { return .taken }
        let directory = try parent.openDirectory(name)
        if try directory.exists(DeviceDirectory.Name.record) { return .device }
        return try directory.names { _ in true }.isEmpty ? .emptyDirectory : .taken
    }

    /// Builds a device under a temporary name, makes it durable, and renames it. If `body` throws, or the process is
    /// killed before the last step, there is no device.
    /// - Parameter host: a filesystem that was probed already.
    /// - Throws: ``Complaint`` of kind `hostFilesystem`, `deviceExists` if the place was taken meanwhile, `noSpace`;
    ///   errors of `body`.
    borrowing func build(
        provenOn host: dev_t? = nil, _ body: (borrowing Descriptor) throws(Complaint) -> Void
    ) throws(Complaint) {
        removeRemains()
        let temporary = FileName(".\(name.text).\(ContainerUUID().text)")!
        do throws(SystemError) {
            try parent.makePrivateDirectory(temporary)
        } catch {
            // The directory above exists: a filesystem without mkdir, such as proc, answers so.
            if error == .noEntry { throw unsuitable(parent, lacking: "making directories") }
            throw Complaint(error, doing: "cannot create \(path)")
        }
        do throws(Complaint) {
            let directory = try Complaint.wrap("cannot create \(path)") { () throws(SystemError) in
                try parent.open(temporary, flags: O_RDONLY | O_DIRECTORY)
            }
            // Keeps other processes from removing the directory as remains.
            _ = try Complaint.wrap("cannot create \(path)") { () throws(SystemError) in try directory.tryLock() }
            defer { try? directory.unlock() }
            if host == nil || (try? directory.status())?.raw.st_dev != host { try requireAbilities(directory) }
            try body(directory)
            try Complaint.wrap("cannot make \(path) durable") { () throws(SystemError) in
                try directory.synchronizeFilesystem()
            }
            try moveIntoPlace(temporary)
        } catch {
            _ = try? parent.removeTree(temporary)
            throw error
        }
        try Complaint.wrap("cannot make \(path) durable") { () throws(SystemError) in
            try parent.synchronizeEntries()
        }
    }

    /// - Throws: ``Complaint`` of kind `hostFilesystem` if the host lacks an ability.
    private borrowing func requireAbilities(_ directory: borrowing Descriptor) throws(Complaint) {
        let missing = try Complaint.wrap("cannot create \(path)") { () throws(SystemError) in
            try HostProbe.missingAbilities(in: directory)
        }
        guard missing.isEmpty else {
            throw unsuitable(directory, lacking: missing.map(\.rawValue).joined(separator: ", "))
        }
    }

    private borrowing func unsuitable(_ directory: borrowing Descriptor, lacking list: String) -> Complaint {
        let type = HostProbe.filesystemType(of: directory)
        return Complaint(
            .hostFilesystem,
            "\(path) would be on a host filesystem (\(type)) that lacks \(list); use ext4, xfs, btrfs or tmpfs")
    }

    /// Removes what a process that was killed has left of an attempt to make a device of this name.
    private borrowing func removeRemains() {
        let prefix = ".\(name.text)."
        let remains = try? parent.names { entry in
            entry.text.hasPrefix(prefix) && ContainerUUID(String(entry.text.dropFirst(prefix.count))) != nil
        }
        for name in remains ?? [] {
            guard let directory = try? parent.open(name, flags: O_RDONLY | O_DIRECTORY),
                (try? directory.tryLock()) == true
            else { continue }
            _ = try? parent.removeTree(name)
        }
    }

    /// Renames the finished device. rename(2) replaces no directory but an empty one.
    private borrowing func moveIntoPlace(_ temporary: FileName) throws(Complaint) {
        do throws(SystemError) {
            try parent.rename(temporary, to: name, in: parent, mode: replacing ? .replacing : .keeping)
        } catch {
            switch error {
            case .exists, .directoryNotEmpty:
                throw Complaint(.deviceExists, "\(path) exists now; choose another name")
            case .busy:
                throw Complaint(.deviceExists, "\(path) is a mount point; name a directory inside it")
            default:
                throw Complaint(error, doing: "cannot create \(path)")
            }
        }
    }
}
