// One container being built from a backup, in the staging directory: entries become files of the host. Backups are
// untrusted input: no name, symbolic link or hard link can lead outside its container.

import BackingStore
import BackupModel
import DataProtection
import Glibc
import Platform
import SandboxModel

/// A container in the making. Entries come in the order of a walk, so that a directory is done when the walk leaves it:
/// only then is it given its times, and a mode that might keep its own user out.
struct ContainerRestore: ~Copyable {
    let place: RestoredContainer
    /// The user and group whose files are to be the owner's; nil for all files.
    private let formerOwner: uid_t?
    private let formerGroup: gid_t?
    private let context: StoreContext
    private let container: SharedDescriptor
    /// The directories from the container down to the one that the walk is in: they get times and modes when it leaves
    /// them.
    private var open: [BackupEntry] = []
    private var current: SharedDescriptor
    /// Names of files, each counted.
    private(set) var files = 0
    /// Of the files' contents.
    private(set) var bytes: Int64 = 0
    /// Entries that no container can have.
    private(set) var leftOut = 0

    /// - Parameter former: the app as it was where the backup was made.
    init(
        _ place: RestoredContainer, former: BackupApp?, context: StoreContext, in staged: inout StagedContainers
    ) throws(Complaint) {
        self.place = place
        self.context = context
        formerOwner = former?.owner
        formerGroup = former?.ownerGroup
        let doing = "cannot restore \(place.identifier)"
        let container = try Complaint.wrap(doing) { () throws(SystemError) in
            SharedDescriptor(try staged.make(place.kind, place.uuid, owner: place.owner))
        }
        if place.kind == .data {
            let data = DataContainer(
                app: place.identifier, uuid: place.uuid, owner: place.owner, device: place.device,
                isExtension: place.isExtension)
            try Complaint.wrapFault(doing) { () throws(Fault) in
                try data.fill(container.descriptor, context: context)
            }
        } else if place.kind == .group {
            _ = try Complaint.wrap(doing) { () throws(SystemError) in
                try GroupContainer.fill(container.descriptor, for: place.owner)
            }
        }
        self.container = container
        current = container
    }

    private var kind: ContainerKind { place.kind }

    /// Takes an entry in; content follows by ``FileRestore/write(_:at:doing:)`` of the file that this returns.
    /// - Parameter keys: of a sealed file.
    /// - Returns: nil for anything but a file, and for an entry that no container can have.
    /// - Throws: ``Complaint`` of kind `invalidBackup` for an entry that comes twice, before its directory, or in the
    ///   place of a standard directory; `noSpace`, or with the host's error.
    mutating func add(_ entry: BackupEntry, _ keys: SealedFileKeys?) throws(Complaint) -> FileRestore? {
        guard !entry.path.isEmpty else {
            guard case .directory = entry.kind, open.isEmpty else { throw invalid(entry, "is not a directory") }
            open = [entry]
            return nil
        }
        // A foreign backup may have entries that are never in one of ours.
        if kind.leavesOut(entry.path) {
            leftOut += 1
            return nil
        }
        try goTo(Array(entry.path.dropLast()), for: entry)
        let name = entry.path[entry.path.count - 1]
        do throws(Fault) {
            return try make(entry, name, keys)
        } catch {
            throw complaint(error, entry)
        }
    }

    /// Makes the file, directory, link or special file of an entry.
    private mutating func make(
        _ entry: BackupEntry, _ name: FileName, _ keys: SealedFileKeys?
    ) throws(Fault) -> FileRestore? {
        let parent = current
        switch entry.kind {
        case .directory:
            let isStandard = kind.isStandard(entry.path)
            try onHost { () throws(SystemError) in
                if !isStandard { try parent.descriptor.makeDirectory(name, mode: S_IRWXU) }
                current = SharedDescriptor(try parent.descriptor.openDirectory(name))
            }
            open.append(entry)
        case .symbolicLink(let target):
            try requireFree(entry)
            try onHost { () throws(SystemError) in
                try parent.descriptor.makeSymbolicLink(name, target: target)
                try dress(name, as: entry, in: parent)
            }
        case .fifo, .socket:
            try requireFree(entry)
            try onHost { () throws(SystemError) in
                let type = entry.kind == .fifo ? S_IFIFO : S_IFSOCK
                try parent.descriptor.makeNode(name, mode: type | S_IRUSR | S_IWUSR)
                try dress(name, as: entry, in: parent)
            }
        case .hardLink(let first):
            try requireFree(entry)
            // The system's own files in a container get no further names.
            guard let firstName = first.last, !kind.leavesOut(first) else { throw .system(.noEntry) }
            try onHost { () throws(SystemError) in
                try container.descriptor.openDirectory(at: first.dropLast()).link(
                    firstName, to: name, in: parent.descriptor)
            }
            files += 1
        case .file(let content):
            try requireFree(entry)
            files += 1
            bytes += content.length
            return try FileRestore(entry, content, name, in: parent, context: context, keys: keys)
        }
        return nil
    }

    /// The name of a directory that every container has can be that of a directory only.
    private func requireFree(_ entry: BackupEntry) throws(Fault) {
        let isTaken = kind.isStandard(entry.path) || kind == .data && entry.path == DataContainer.inboxPath
        if isTaken { throw .system(.notDirectory) }
    }

    /// Ends a file: its attributes, owner, mode and times.
    /// - Parameter goOn: called from time to time; false cancels.
    func finish(_ file: FileRestore, _ goOn: () -> Bool) throws(Complaint) {
        try file.end(goOn)
        do throws(Fault) {
            try onHost { () throws(SystemError) in try dress(file.name, as: file.entry, in: file.parent) }
        } catch {
            throw complaint(error, file.entry)
        }
    }

    /// Ends the container, and its directories that are still open.
    mutating func finish() throws(Complaint) {
        while !open.isEmpty { try leave() }
    }

    // MARK: The walk

    /// Moves the walk: leaves directories until the one is reached that an entry lies in.
    private mutating func goTo(_ path: [FileName], for entry: BackupEntry) throws(Complaint) {
        var hasLeft = false
        while let last = open.last, last.path != path, !last.path.isEmpty {
            try leave()
            hasLeft = true
        }
        guard (open.last?.path ?? []) == path else {
            throw invalid(entry, "lies in a directory that the backup does not have, or not before it")
        }
        if hasLeft {
            let container = container
            current = try Complaint.wrap("cannot restore \(place.identifier)") { () throws(SystemError) in
                SharedDescriptor(try container.descriptor.openDirectory(at: path))
            }
        }
    }

    /// Leaves the innermost directory, which gets its attributes now.
    private mutating func leave() throws(Complaint) {
        guard let directory = open.popLast() else { return }
        do throws(SystemError) {
            guard let name = directory.path.last else {
                // The container's owner is the device's to say, and can always look into it.
                try setAttributes(of: directory, on: AttributeHolder(container.descriptor))
                try container.descriptor.changeModeOfNamed(directory.permissions | S_IRWXU)
                return try container.descriptor.changeTimesOfNamed(
                    access: directory.modificationTime, modification: directory.modificationTime)
            }
            let parent = SharedDescriptor(try container.descriptor.openDirectory(at: directory.path.dropLast()))
            try dress(name, as: directory, in: parent)
        } catch {
            throw complaint(.system(error), directory)
        }
    }

    // MARK: Attributes, owners, modes and times

    /// Gives a name the attributes, owner, mode and times of its entry.
    private func dress(_ name: FileName, as entry: BackupEntry, in parent: SharedDescriptor) throws(SystemError) {
        try setAttributes(of: entry, on: AttributeHolder(name, in: parent.descriptor))
        if let owner = owner(of: entry) { try parent.descriptor.give(name, to: owner) }
        if entry.kind.hasMode {
            // A standard directory stays its owner's to use.
            let isStandard = kind.isStandard(entry.path)
            let mode = isStandard ? entry.permissions | S_IRWXU : permissions(of: entry)
            // After the owner, whose change clears the set-user-ID bit.
            try SetIDCapability.raised { () throws(SystemError) in
                try NodeModes.give(mode, to: name, kind: entry.kind.fileKind, in: parent.descriptor)
            }
        }
        try parent.descriptor.changeTimes(
            of: name, access: entry.modificationTime, modification: entry.modificationTime)
    }

    /// The set-ID bits of an archive count only on a device of root: anybody else's archive could lend the rights of
    /// the device's owner. A directory's bits lend none.
    private func permissions(of entry: BackupEntry) -> mode_t {
        geteuid() == 0 || entry.kind == .directory ? entry.permissions : entry.permissions & 0o1777
    }

    /// - Returns: nil where the owner stays: only root gives files away.
    private func owner(of entry: BackupEntry) -> ContainerOwner? {
        guard geteuid() == 0 else { return nil }
        return ContainerOwner(
            user: formerOwner == nil || entry.owner == formerOwner ? place.owner.user : entry.owner,
            group: formerGroup == nil || entry.group == formerGroup ? place.owner.group : entry.group)
    }

    private static let mark = Array(BackupMark.attributeName.utf8)
    private static let classAttribute = Array(ProtectionClass.attributeName.utf8)

    /// Sets the extended attributes, the mark of exclusion, and the class of a directory.
    private func setAttributes(of entry: BackupEntry, on holder: AttributeHolder) throws(SystemError) {
        for attribute in entry.attributes { try holder.set(attribute.name, to: attribute.value) }
        if entry.isExcluded { try holder.set(ContainerRestore.mark, to: BackupMark.canonicalValue) }
        if case .directory = entry.kind, let protection = entry.protection {
            try holder.set(ContainerRestore.classAttribute, to: Array(protection.foundationName.utf8))
        }
    }

    // MARK: Complaints

    /// - Parameter flaw: the rest of a sentence that begins with the entry.
    private func invalid(_ entry: BackupEntry, _ flaw: String) -> Complaint {
        Complaint(.invalidBackup, "\(entry.domain.name)/\(entry.path.text) of the backup \(flaw)")
    }

    /// Translates a fault into the flaw of the backup that it shows, where it shows one.
    private func complaint(_ fault: Fault, _ entry: BackupEntry) -> Complaint {
        switch fault {
        case .system(.exists): invalid(entry, "is there twice")
        case .system(.notDirectory): invalid(entry, "is no directory, and in every container it is one")
        case .system(.noEntry) where entry.kind.isHardLink: invalid(entry, "is a link to what is not before it")
        case .system(.notPermitted) where entry.kind.isHardLink: invalid(entry, "is a link to a directory")
        case .system(let error) where error.code == E2BIG || error == .range:
            Complaint(
                .noSpace,
                "cannot restore \(entry.path.text): the host filesystem does not hold an attribute as large as one of its"
            )
        default: Complaint(fault, doing: "cannot restore \(entry.path.text)")
        }
    }
}

extension BackupEntry.Kind {
    fileprivate var hasMode: Bool { if case .symbolicLink = self { false } else { true } }
    fileprivate var fileKind: FileStatus.Kind {
        switch self {
        case .file, .hardLink: .file
        case .directory: .directory
        case .symbolicLink: .symbolicLink
        case .fifo: .fifo
        case .socket: .socket
        }
    }
    fileprivate var isHardLink: Bool { if case .hardLink = self { true } else { false } }
}
