// The walk through one container in the order of a backup, with the decision on each file and directory.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// An entry of a container that the walk came to, or the container itself.
struct ContainerPlace {
    let path: [FileName]
    /// The directory that it is an entry of; nil for the container itself.
    let parent: SharedDescriptor?
    let status: FileStatus
    /// Whether it bears the mark of exclusion.
    let isMarked: Bool
    /// The container itself; nil for its entries.
    let directory: SharedDescriptor?

    /// Reads and writes its extended attributes.
    var attributes: AttributeHolder {
        if let parent, let name = path.last { return AttributeHolder(name, in: parent.descriptor) }
        return AttributeHolder(directory!.descriptor)
    }
}

/// Walks through a container. Names and marks decide what goes into a backup: no file is opened for that.
///
/// Depth costs no descriptors: a directory that the walk comes back to is opened from the top.
struct ContainerWalk: ~Copyable {
    private struct Level {
        let path: [FileName]
        var names: SortedNames
        /// The decision on the entries, unless an entry has its own.
        let inherited: BackupInclusion
        /// Its mode, where that kept its own ordinary user out. It is restored when the walk leaves.
        let lifted: mode_t?
    }

    private let kind: ContainerKind
    private let container: SharedDescriptor
    /// Whether an entry with the mark of exclusion is visited as if it had none.
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

    /// - Parameter visit: gets each entry in order, and what a backup does with it; a path in that is from the
    ///   container. Returns, for a directory, whether to walk into it. An error that it throws ends the walk.
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

    /// Visits one entry, and walks into it if it is a directory.
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
            // It went while the walk was under way.
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

    /// Whether an entry, or a directory above it, is gone, or something else has its name.
    static func isGone(_ error: SystemError) -> Bool {
        [.noEntry, .stale, .notDirectory].contains(error)
    }

    /// Whether the attribute is there; its value does not matter (`BackupMark.swift`).
    private static func isMarked(_ holder: AttributeHolder) -> Bool { (try? holder.value(of: mark)) != nil }

    /// The decision of a backup on an entry: that of its directory, else its own.
    private func inclusion(of place: ContainerPlace, in inherited: BackupInclusion) -> BackupInclusion {
        if inherited != .included { return inherited }
        let isOut =
            kind.isNeverInBackup(place.path) || place.isMarked && !ignoresMarks || place.status.kind == .device
        return isOut ? .excluded : .included
    }

    /// Reads a directory's names, and makes it the innermost one. A directory that is gone is skipped.
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

    /// Leaves the innermost directory, and restores its mode where the walk has changed it.
    private mutating func leave() {
        guard let level = levels.popLast(), let mode = level.lifted, let name = level.path.last else { return }
        try? directory(at: Array(level.path.dropLast())).descriptor.changeMode(of: name, to: mode)
    }

    /// Opens a directory, from the current one where it is an entry of that.
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
