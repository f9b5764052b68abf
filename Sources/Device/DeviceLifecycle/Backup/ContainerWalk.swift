// The walk through one container in the order of a backup, with the decision on each file and directory.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// An entry of a container that the walk came to, or the container itself.
struct ContainerPlace {
    fileprivate let directoryPath: () -> [FileName]
    /// nil for the container itself.
    let name: FileName?
    /// The number of names that lead to it from the container.
    let depth: Int
    /// The directory that it is an entry of; nil for the container itself.
    let parent: SharedDescriptor?
    let status: FileStatus
    /// Whether it bears the mark of exclusion.
    let isMarked: Bool
    /// The container itself; nil for its entries.
    let directory: SharedDescriptor?

    /// The names that lead to it from the container. Valid while the walk visits it; made anew each time.
    var path: [FileName] { directoryPath() + (name.map { [$0] } ?? []) }

    /// Reads and writes its extended attributes.
    var attributes: AttributeHolder {
        if let parent, let name { return AttributeHolder(name, in: parent.descriptor) }
        return AttributeHolder(directory!.descriptor)
    }
}

/// Walks through a container. Names and marks decide what goes into a backup: no file is opened for that.
///
/// Depth costs neither descriptors nor stack, and no path is made where nobody asks for it.
struct ContainerWalk: ~Copyable {
    private struct Level {
        var names: SortedNames
        /// The decision on the entries, unless an entry has its own.
        let inherited: BackupInclusion
        /// Its mode, where that kept its own ordinary user out. It is restored when the walk leaves.
        let lifted: mode_t?
    }

    private let kind: ContainerKind
    private let container: SharedDescriptor
    /// Whether an entry with the mark of exclusion is visited as if it had none.
    private let ignoresMark: (ContainerPlace) -> Bool
    private let isPrivileged = geteuid() == 0
    private var levels: [Level] = []
    /// At the directory that the walk is in.
    private let cursor: TreeCursor

    /// - Parameter ignoringMark: asked of each entry that bears the mark, and lies in no other that is left out.
    init(
        _ kind: ContainerKind, _ container: SharedDescriptor,
        ignoringMark: @escaping (ContainerPlace) -> Bool = { _ in false }
    ) {
        self.kind = kind
        self.container = container
        ignoresMark = ignoringMark
        cursor = TreeCursor(container)
    }

    private static let mark = Array(BackupMark.attributeName.utf8)

    /// - Parameter visit: gets each entry in order, and what a backup does with it; a path in that is from the
    ///   container. Returns, for a directory, whether to walk into it. An error that it throws ends the walk.
    mutating func run(_ visit: (ContainerPlace, BackupInclusion) throws(Complaint) -> Bool) throws(Complaint) {
        let status = try Complaint.wrap("cannot look at a container") { () throws(SystemError) in
            try container.descriptor.status()
        }
        let isMarked = ContainerWalk.isMarked(AttributeHolder(container.descriptor))
        let root = ContainerPlace(
            directoryPath: { [] }, name: nil, depth: 0, parent: nil, status: status, isMarked: isMarked,
            directory: container)
        let inclusion = inclusion(of: root, in: .included)
        guard try visit(root, inclusion) else { return }
        do throws(Complaint) {
            try descend(inclusion, lifted: nil) { [] }
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
        let inherited = levels[levels.count - 1].inherited
        let (cursor, parent) = (cursor, cursor.directory)
        let status: FileStatus
        do throws(SystemError) {
            status = try parent.descriptor.status(of: name)
        } catch {
            // It went while the walk was under way.
            guard !ContainerWalk.isGone(error) else { return }
            throw Complaint(error, doing: "cannot look at \((cursor.path + [name]).text)")
        }
        let isMarked =
            (status.kind == .file || status.kind == .directory)
            && ContainerWalk.isMarked(AttributeHolder(name, in: parent.descriptor))
        let place = ContainerPlace(
            directoryPath: { cursor.path }, name: name, depth: cursor.depth + 1, parent: parent, status: status,
            isMarked: isMarked, directory: nil)
        let inclusion = inclusion(of: place, in: inherited)
        guard try visit(place, inclusion), status.kind == .directory else { return }
        var lifted: mode_t?
        if !isPrivileged, status.permissions & S_IRWXU != S_IRWXU {
            lifted = status.permissions
            try? parent.descriptor.changeMode(of: name, to: status.permissions | S_IRWXU)
        }
        do throws(SystemError) {
            try cursor.enter(name)
        } catch {
            if let lifted { try? parent.descriptor.changeMode(of: name, to: lifted) }
            guard !ContainerWalk.isGone(error) else { return }
            throw Complaint(error, doing: "cannot list \((cursor.path + [name]).text)")
        }
        try descend(inclusion, lifted: lifted) { cursor.path }
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
            kind.isNeverInBackup(place) || place.status.kind == .device || place.isMarked && !ignoresMark(place)
        return isOut ? .excluded : .included
    }

    /// Reads the names of the directory that the cursor has come to, and makes it the innermost one. A directory that
    /// is gone is left again.
    private mutating func descend(
        _ inclusion: BackupInclusion, lifted: mode_t?, path: () -> [FileName]
    ) throws(Complaint) {
        let inherited = inclusion == .excluded ? .excludedBy(path()) : inclusion
        do throws(SystemError) {
            let names = try SortedNames(of: cursor.directory.descriptor)
            levels.append(Level(names: names, inherited: inherited, lifted: lifted))
        } catch {
            levels.append(Level(names: SortedNames(), inherited: inherited, lifted: lifted))
            guard !ContainerWalk.isGone(error) else { return }
            throw Complaint(error, doing: "cannot list \(path().text)")
        }
    }

    /// Leaves the innermost directory, and restores its mode where the walk has changed it.
    private mutating func leave() {
        guard let level = levels.popLast(), let name = cursor.name else { return }
        // Where an app has moved a part of the tree meanwhile, the rest of that part is not walked through.
        let count = cursor.leave()
        levels.removeLast(count - 1)
        if count == 1, let mode = level.lifted { try? cursor.directory.descriptor.changeMode(of: name, to: mode) }
    }
}

extension ContainerKind {
    /// Whether an entry is one of the places that no backup has. None of them lies deep.
    func isNeverInBackup(_ place: ContainerPlace) -> Bool {
        place.depth <= ContainerKind.deepestPlace && isNeverInBackup(place.path)
    }

    private static let deepestPlace = 4
}
