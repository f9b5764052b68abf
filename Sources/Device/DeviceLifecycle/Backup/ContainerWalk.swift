// The walk through one container in the order that a backup has, with what a backup does with each thing and why.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// Something of a container that the walk came to.
struct ContainerPlace {
    let path: [FileName]
    /// What it is an entry of; nil for the container itself.
    let parent: SharedDescriptor?
    let status: FileStatus
    let isMarked: Bool
    /// Of the container itself.
    let directory: SharedDescriptor?

    /// Where its attributes are.
    var attributes: AttributeHolder {
        if let parent, let name = path.last { return AttributeHolder(name, in: parent.descriptor) }
        return AttributeHolder(directory!.descriptor)
    }
}

/// Walks through a container. Whether something goes into a backup is decided by its name and its mark: no file is opened
/// for that.
///
/// Depth costs no descriptors: a directory that is come back to is reached from the top.
struct ContainerWalk: ~Copyable {
    private struct Level {
        let path: [FileName]
        var names: SortedNames
        /// What a backup does with what is in it, whatever that is itself.
        let inherited: BackupInclusion
        /// What its mode was, where it kept its own ordinary user out. It is put back behind the walk.
        let lifted: mode_t?
    }

    private let kind: ContainerKind
    private let container: SharedDescriptor
    private let ignoresMarks: Bool
    private let isPrivileged = geteuid() == 0
    private var levels: [Level] = []
    /// The directory that the walk is in.
    private var current: SharedDescriptor
    private var currentPath: [FileName] = []

    init(_ kind: ContainerKind, _ container: SharedDescriptor, ignoringMarks: Bool = false) {
        self.kind = kind
        self.container = container
        ignoresMarks = ignoringMarks
        current = container
    }

    private static let mark = Array(BackupMark.attributeName.utf8)

    /// - Parameter visit: told of each thing in order, and of what a backup does with it; a path in that is from the
    ///   container. Answers, of a directory, whether to look into it. What it throws ends the walk.
    mutating func run(_ visit: (ContainerPlace, BackupInclusion) throws(Complaint) -> Bool) throws(Complaint) {
        let status = try Complaint.wrap("cannot look at a container") { () throws(SystemError) in
            try container.descriptor.status()
        }
        let isMarked = ContainerWalk.isMarked(AttributeHolder(container.descriptor))
        let root = ContainerPlace(path: [], parent: nil, status: status, isMarked: isMarked, directory: container)
        let inclusion = inclusion(of: root, in: .included)
        guard try visit(root, inclusion) else { return }
        do throws(Complaint) {
            try descend(into: root, inclusion, lifted: nil)
            while !levels.isEmpty {
                guard let name = levels[levels.count - 1].names.next() else {
                    leave()
                    continue
                }
                try look(at: name, visit)
            }
        } catch {
            while !levels.isEmpty { leave() }
            throw error
        }
    }

    private mutating func look(
        at name: FileName, _ visit: (ContainerPlace, BackupInclusion) throws(Complaint) -> Bool
    ) throws(Complaint) {
        let (levelPath, inherited) = (levels[levels.count - 1].path, levels[levels.count - 1].inherited)
        let path = levelPath + [name]
        let parent: SharedDescriptor
        let status: FileStatus
        do throws(SystemError) {
            parent = try directory(at: levelPath)
            status = try parent.descriptor.status(of: name)
        } catch {
            // It went while the walk was on its way.
            guard !ContainerWalk.isGone(error) else { return }
            throw Complaint(error, doing: "cannot look at \(path.text)")
        }
        let isMarked =
            (status.kind == .file || status.kind == .directory)
            && ContainerWalk.isMarked(AttributeHolder(name, in: parent.descriptor))
        let place = ContainerPlace(path: path, parent: parent, status: status, isMarked: isMarked, directory: nil)
        let inclusion = inclusion(of: place, in: inherited)
        guard try visit(place, inclusion), status.kind == .directory else { return }
        var lifted: mode_t?
        if !isPrivileged, status.permissions & S_IRWXU != S_IRWXU {
            lifted = status.permissions
            try? parent.descriptor.changeMode(of: name, to: status.permissions | S_IRWXU)
        }
        try descend(into: place, inclusion, lifted: lifted)
    }

    /// Whether what the walk came to, or a directory above it, is there no more, or something else has its name.
    static func isGone(_ error: SystemError) -> Bool {
        [.noEntry, .stale, .notDirectory].contains(error)
    }

    private static func isMarked(_ holder: AttributeHolder) -> Bool { (try? holder.value(of: mark)) != nil }

    private func inclusion(of place: ContainerPlace, in inherited: BackupInclusion) -> BackupInclusion {
        if inherited != .included { return inherited }
        let isOut =
            kind.isNeverInBackup(place.path) || place.isMarked && !ignoresMarks || place.status.kind == .device
        return isOut ? .excluded : .included
    }

    private mutating func descend(
        into place: ContainerPlace, _ inclusion: BackupInclusion, lifted: mode_t?
    ) throws(Complaint) {
        do throws(SystemError) {
            let names = try SortedNames(of: try directory(at: place.path).descriptor)
            let inherited = inclusion == .excluded ? .excludedBy(place.path) : inclusion
            levels.append(Level(path: place.path, names: names, inherited: inherited, lifted: lifted))
        } catch {
            guard !ContainerWalk.isGone(error) else { return }
            throw Complaint(error, doing: "cannot list \(place.path.text)")
        }
    }

    private mutating func leave() {
        guard let level = levels.popLast(), let mode = level.lifted, let name = level.path.last else { return }
        try? directory(at: Array(level.path.dropLast())).descriptor.changeMode(of: name, to: mode)
    }

    private mutating func directory(at path: [FileName]) throws(SystemError) -> SharedDescriptor {
        guard path != currentPath else { return current }
        let isBelow = path.count == currentPath.count + 1 && path.starts(with: currentPath)
        current = SharedDescriptor(
            isBelow
                ? try current.descriptor.openDirectory(path[path.count - 1])
                : try container.descriptor.openDirectory(at: path))
        currentPath = path
        return current
    }
}
