// Opening files for a backup, and saying what is wrong with them.

import BackingStore
import BackupModel
import DataProtection
import Glibc
import Platform
import SandboxModel

/// Opens the files of one backup, and holds the state that their reading shares. Of one thread.
final class BackupReader {
    let context: StoreContext
    /// The identifier of the device's keybag.
    let keybag: [UInt8]
    /// The key of the proofs of ciphertext.
    let key: SealedFileKey
    /// The file that a volume has open for an inode of the host; nil if none has.
    let openFile: (UInt64) -> EncryptedFile?
    /// For one read at a time.
    let buffer = PageBuffer(count: Workspace.largestTransfer)
    /// Whether modes keep this process out of no file.
    private let isPrivileged = geteuid() == 0

    init(
        _ context: StoreContext, keybag: [UInt8], key: SealedFileKey, openFile: @escaping (UInt64) -> EncryptedFile?
    ) {
        // Damage is reported to the caller of the backup, and not to the log besides.
        self.context = context.isDisturbed ? context : StoreContext(sharing: context, report: { _ in })
        self.keybag = keybag
        self.key = key
        self.openFile = openFile
    }

    /// Opens a file, through the one that a volume has open where there is one.
    /// - Throws: `refused` where the class is closed.
    func open(_ place: ContainerPlace) throws(Fault) -> EncryptedFile {
        // A file that was open before a restart can be read by nobody any more.
        if let live = openFile(place.status.inode), !live.isRetired { return live }
        let backing = try openBacking(place)
        return try EncryptedFile.open(backing, isWritable: false, context: context)
    }

    /// - Returns: nil where the class is closed in the device's present state.
    func openReadable(_ place: ContainerPlace) throws(Fault) -> EncryptedFile? {
        do throws(Fault) {
            let file = try open(place)
            // While the device is locked a file of a closed class stays closed, though an app has it open.
            return file.isClosed ? nil : file
        } catch {
            if error == .refused(.dataProtection) { return nil }
            throw error
        }
    }

    /// Opens a backing file, also one whose mode keeps its own ordinary user out.
    func openBacking(_ place: ContainerPlace) throws(Fault) -> SharedDescriptor {
        let (directory, name) = (place.parent!, place.name!)
        return try onHost { () throws(SystemError) in
            try lifting(place) { () throws(SystemError) in
                SharedDescriptor(try BackupReader.openFile(name, in: directory.descriptor))
            }
        }
    }

    /// Runs `body` while the daemon's own user may read a file. An app may take its own right to read away; the file's
    /// owner can give it back for a moment.
    private func lifting<Result>(
        _ place: ContainerPlace, _ body: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        let (directory, name) = (place.parent!, place.path[place.path.count - 1])
        let mode = place.status.hostPermissions
        let lifted = !isPrivileged && mode & S_IRUSR == 0
        if lifted { try directory.descriptor.changeMode(of: name, to: mode | S_IRUSR) }
        defer { if lifted { try? directory.descriptor.changeMode(of: name, to: mode) } }
        return try body()
    }

    /// The permissions of an entry as the mount shows them.
    func permissions(of place: ContainerPlace) -> mode_t {
        NodeModes.shown(place.status) {
            try? lifting(place) { () throws(SystemError) in try place.attributes.value(of: NodeModes.attributeName) }
        }.permissions
    }

    /// - Throws: `noEntry` where something that is not a file has taken the name since the walk came to it.
    private static func openFile(
        _ name: FileName, in directory: borrowing Descriptor
    ) throws(SystemError) -> Descriptor {
        let file: Descriptor
        do throws(SystemError) {
            file = try directory.open(name, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            // A symbolic link, and a socket.
            throw [ELOOP, ENXIO].contains(error.code) ? SystemError.noEntry : error
        }
        guard try file.status().kind == .file else { throw .noEntry }
        return file
    }

    /// The beginning of a message about a place.
    func doing(_ place: ContainerPlace) -> String { "cannot back up \(place.path.text)" }

    /// A fault in words for people.
    func complaint(_ fault: Fault, about place: ContainerPlace) -> Complaint {
        switch fault {
        case .corrupt:
            Complaint(
                .damaged,
                "\(doing(place)): it is damaged; see what of it is with appcontainer check, then restore, remove or "
                    + "exclude it")
        case .refused(.dataProtection):
            Complaint(.deviceLocked, "\(doing(place)): the device was locked meanwhile; try again")
        default: Complaint(fault, doing: doing(place))
        }
    }
}
