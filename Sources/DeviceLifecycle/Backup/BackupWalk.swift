// The walk through one container: what is in a backup, what is not and why, in the order that a backup has.

import BackingStore
import Glibc
import Platform
import SandboxModel
import SandboxPolicy

/// Something of a container that a backup takes in.
struct BackupPlace {
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

/// Walks through a container. Whether something goes in is decided by its name and its mark: no file is opened for that.
///
/// Depth costs no descriptors: a directory that is come back to is reached from the top.
struct BackupWalk: ~Copyable {
    enum Visit {
        case takenIn(BackupPlace)
        /// Left out with all that is in it.
        case leftOut(BackupPlace)
    }

    private struct Level {
        let path: [FileName]
        var names: SortedNames
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

    init(_ kind: ContainerKind, _ container: SharedDescriptor, ignoringMarks: Bool) {
        self.kind = kind
        self.container = container
        ignoresMarks = ignoringMarks
        current = container
    }

    private static let mark = Array(BackupMark.attributeName.utf8)

    /// - Parameter visit: told of each thing in order. What it throws ends the walk.
    mutating func run(_ visit: (Visit) throws(Complaint) -> Void) throws(Complaint) {
        let status = try Complaint.wrap("cannot look at a container") { () throws(SystemError) in
            try container.descriptor.status()
        }
        let isMarked = BackupWalk.isMarked(AttributeHolder(container.descriptor))
        let root = BackupPlace(path: [], parent: nil, status: status, isMarked: isMarked, directory: container)
        guard !isMarked || ignoresMarks else { return try visit(.leftOut(root)) }
        try visit(.takenIn(root))
        do throws(Complaint) {
            try descend(into: [], lifted: nil)
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

    private mutating func look(at name: FileName, _ visit: (Visit) throws(Complaint) -> Void) throws(Complaint) {
        let level = levels[levels.count - 1]
        let path = level.path + [name]
        let parent: SharedDescriptor
        let status: FileStatus
        do throws(SystemError) {
            parent = try directory(at: level.path)
            status = try parent.descriptor.status(of: name)
        } catch {
            // It went while the walk was on its way.
            guard error != .noEntry, error != .stale else { return }
            throw Complaint(error, doing: "cannot look at \(path.text)")
        }
        let isMarked =
            (status.kind == .file || status.kind == .directory)
            && BackupWalk.isMarked(AttributeHolder(name, in: parent.descriptor))
        let place = BackupPlace(path: path, parent: parent, status: status, isMarked: isMarked, directory: nil)
        guard !BackupRules.isNeverIn(path, of: kind), !isMarked || ignoresMarks, status.kind != .device else {
            return try visit(.leftOut(place))
        }
        try visit(.takenIn(place))
        guard status.kind == .directory else { return }
        var lifted: mode_t?
        if !isPrivileged, status.permissions & S_IRWXU != S_IRWXU {
            lifted = status.permissions
            try? parent.descriptor.changeMode(of: name, to: status.permissions | S_IRWXU)
        }
        try descend(into: path, lifted: lifted)
    }

    private static func isMarked(_ holder: AttributeHolder) -> Bool { (try? holder.value(of: mark)) != nil }

    private mutating func descend(into path: [FileName], lifted: mode_t?) throws(Complaint) {
        do throws(SystemError) {
            levels.append(Level(path: path, names: try SortedNames(of: try directory(at: path).descriptor), lifted: lifted))
        } catch {
            guard error != .noEntry, error != .stale else { return }
            throw Complaint(error, doing: "cannot list \(path.text)")
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
