// The count of the space that containers take: a walk through them while they change.

public import Platform
public import SandboxModel
import Synchronization

/// A count under way, if any.
///
/// An inode that changes meanwhile is recorded with its new bytes, and that figure wins, whether the walk has passed
/// the inode or comes to it later.
///
/// Lock: `state`, innermost. The status of a file is read under it. While no count is under way, it is not taken.
final class SpaceCount: Sendable {
    private struct State {
        /// Bytes by inode.
        var seen: [UInt64: Int64] = [:]
        var total: Int64 = 0
        /// Directories that were moved: the walk may have passed their new place.
        var moved: [SharedDescriptor] = []
        /// Whether whole trees were added or removed without being recorded.
        var isDisturbed = false
    }

    private let isUnderWay = Atomic<Bool>(false)
    private let state = ShortLock(State())

    /// Begins a count with nothing seen. Changes are recorded from then on.
    func begin() {
        state.withLock { $0 = State() }
        isUnderWay.store(true, ordering: .sequentiallyConsistent)
    }

    /// Records the bytes of an inode after each change; 0 for a removed one.
    @inline(__always)
    func record(_ inode: UInt64, _ bytes: Int64) {
        if isUnderWay.load(ordering: .relaxed) { set(inode, bytes) }
    }

    private func set(_ inode: UInt64, _ bytes: Int64) {
        state.withLock { state in
            let old = state.seen.updateValue(bytes, forKey: inode) ?? 0
            state.total += bytes - old
        }
    }

    /// Records that a directory was moved.
    func recordMove(_ directory: () -> SharedDescriptor?) {
        guard isUnderWay.load(ordering: .relaxed) else { return }
        if let directory = directory() { state.withLock { $0.moved.append(directory) } }
    }

    /// Counts an entry, unless its inode has been counted.
    func visit(_ inode: UInt64, _ bytes: () -> Int64?) {
        guard isUnderWay.load(ordering: .relaxed) else { return }
        state.withLock { state in
            guard state.seen[inode] == nil, let bytes = bytes() else { return }
            state.seen[inode] = bytes
            state.total += bytes
        }
    }

    /// Makes the count begin anew, after whole trees were added or removed.
    func disturb() {
        guard isUnderWay.load(ordering: .relaxed) else { return }
        state.withLock { $0.isDisturbed = true }
    }

    /// The next moved directory, which has to be walked.
    func takeMoved() -> SharedDescriptor? { state.withLock { $0.moved.popLast() } }

    /// Ends the count.
    /// - Returns: the counted bytes; nil after ``disturb()``.
    func end() -> Int64? {
        isUnderWay.store(false, ordering: .sequentiallyConsistent)
        return state.withLock { state in
            defer { state = State() }
            return state.isDisturbed ? nil : state.total
        }
    }
}

extension SpaceLedger {
    /// Counts the space below a directory anew, hard links once. Other threads may change it meanwhile if they record
    /// that.
    /// - Parameters:
    ///   - open: the open files. One without a name is found only here, and counts until it is closed.
    ///   - atRest: calls its argument while no tree is between being removed and being subtracted, or added and
    ///     counted.
    ///   - goOn: false abandons the count.
    /// - Returns: whether the count was finished.
    public func count(
        below root: SharedDescriptor, besides open: OpenFileRegistry, atRest: (() -> Void) -> Void = { $0() },
        while goOn: () -> Bool
    ) -> Bool {
        while true {
            atRest { removals.writing { count.begin() } }
            open.reportSpace()
            var next: SharedDescriptor? = root
            while let directory = next {
                let isWalked = walk(directory, goOn) { inode, status in
                    count.visit(inode) { status().map { weights.bytes($0) } }
                }
                guard isWalked else {
                    _ = count.end()
                    return false
                }
                next = count.takeMoved()
            }
            var isTaken = false
            atRest {
                removals.writing {
                    guard let counted = count.end() else { return }
                    replaceUsed(with: counted)
                    isTaken = true
                }
            }
            if isTaken { return true }
        }
    }

    /// Runs a removal from the containers that records each removed file. A count neither begins nor ends meanwhile: it
    /// would not see the files, and have them subtracted all the same.
    public func whileRemoving<Result>(_ body: () -> Result) -> Result { removals.reading(body) }

    /// Counts an open file with its known bytes, unless it has been counted.
    func recordOpenFile(_ inode: UInt64, _ bytes: Int64) {
        count.visit(inode) { bytes }
    }

    /// Records that a whole tree was added or removed without its files being recorded.
    public func disturbCount() {
        count.disturb()
    }

    /// The bytes of a tree, hard links once, its own directory included.
    public func bytes(below directory: borrowing Descriptor) throws(SystemError) -> Int64 {
        var total = weights.bytes(try directory.status())
        var seen: Set<UInt64> = []
        let root = SharedDescriptor(try directory.duplicate())
        _ = walk(root) { inode, status in
            if seen.insert(inode).inserted { total += status().map { weights.bytes($0) } ?? 0 }
        }
        return total
    }

    /// The bytes that removing trees frees: files with a name elsewhere stay.
    public func bytes(goingWith trees: [SharedDescriptor]) throws(SystemError) -> Int64 {
        var total: Int64 = 0
        // Names found of each file that has several.
        var names: [UInt64: UInt64] = [:]
        for tree in trees {
            total += weights.bytes(try tree.descriptor.status())
            _ = walk(tree) { _, status in
                guard let status = status() else { return }
                if status.kind != .directory, status.linkCount > 1 {
                    names[status.inode, default: 0] += 1
                    guard names[status.inode] == status.linkCount else { return }
                }
                total += weights.bytes(status)
            }
        }
        return total
    }

    /// Walks a tree. Entries that are removed or moved meanwhile are passed over.
    /// - Returns: false if `goOn` ended the walk.
    private func walk(
        _ root: SharedDescriptor, _ goOn: () -> Bool = { true }, _ visit: (UInt64, () -> FileStatus?) -> Void
    ) -> Bool {
        let walk = TreeWalk(root)
        // By inode: a directory that is moved before its turn is reached a second time.
        var walked: Set<UInt64> = []
        while let directory = walk.next() {
            guard let inode = try? directory.descriptor.status().inode, walked.insert(inode).inserted,
                let entries = try? directory.descriptor.entries()
            else { continue }
            while let entry = try? entries.next() {
                guard goOn() else { return false }
                visit(entry.inode) { try? directory.descriptor.status(of: entry.name) }
                if entry.isDirectory { walk.add(entry.name) }
            }
        }
        return true
    }
}
