// Counting what containers hold by walking through them, beside whoever changes them.
// Lock: `state`, innermost; a file is looked at, or told of, under it.

public import Platform
public import SandboxModel
import Synchronization

/// The count that is under way, if any.
///
/// What is changed meanwhile is told with its new size, and that is what counts, whether the walk has been there or
/// comes later: each inode is known by one figure, the last.
final class SpaceCount: Sendable {
    private struct State {
        var seen: [UInt64: Int64] = [:]
        var total: Int64 = 0
        /// Directories that came to lie elsewhere: the walk may have passed where they are now.
        var moved: [SharedDescriptor] = []
        /// Whether whole trees have come or gone.
        var isDisturbed = false
    }

    private let isUnderWay = Atomic<Bool>(false)
    private let state = Mutex(State())

    func begin() {
        state.withLock { $0 = State() }
        isUnderWay.store(true, ordering: .sequentiallyConsistent)
    }

    /// Told after each change of what an inode holds; 0 for one that is gone.
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

    /// Told after a directory was moved.
    func recordMove(_ directory: () -> SharedDescriptor?) {
        guard isUnderWay.load(ordering: .relaxed) else { return }
        if let directory = directory() { state.withLock { $0.moved.append(directory) } }
    }

    /// Counts an entry that the walk has come to, or that may have gone past it, unless it has been counted.
    func visit(_ inode: UInt64, _ bytes: () -> Int64?) {
        guard isUnderWay.load(ordering: .relaxed) else { return }
        state.withLock { state in
            guard state.seen[inode] == nil, let bytes = bytes() else { return }
            state.seen[inode] = bytes
            state.total += bytes
        }
    }

    /// Told after whole trees have come or gone: the count is begun anew.
    func disturb() {
        guard isUnderWay.load(ordering: .relaxed) else { return }
        state.withLock { $0.isDisturbed = true }
    }

    func takeMoved() -> SharedDescriptor? { state.withLock { $0.moved.popLast() } }

    /// - Returns: the bytes that were counted; nil when the count is worth nothing.
    func end() -> Int64? {
        isUnderWay.store(false, ordering: .sequentiallyConsistent)
        return state.withLock { state in
            defer { state = State() }
            return state.isDisturbed ? nil : state.total
        }
    }
}

extension SpaceLedger {
    /// Counts anew what lies below a directory, hard links once. Others may change it meanwhile, if they say so.
    /// - Parameters:
    ///   - open: the files that are open: one without a name is nowhere to be found, and counts until it is closed.
    ///   - atRest: calls its argument while no tree is between going and being counted for nothing, nor the other way round.
    ///   - goOn: false ends the count, which is then for nothing.
    /// - Returns: whether it was counted to the end.
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
                    take(counted: counted)
                    isTaken = true
                }
            }
            if isTaken { return true }
        }
    }

    /// Removes what was in the containers until now, and tells of each file that it is gone. A count neither begins nor
    /// ends meanwhile: what is out of its sight must not be taken off it later.
    public func whileRemoving<Result>(_ body: () -> Result) -> Result { removals.reading(body) }

    /// Counts an open file with what it is known to hold, unless it has been counted.
    func recordOpenFile(_ inode: UInt64, _ bytes: Int64) {
        count.visit(inode) { bytes }
    }

    /// Says that a whole tree has come or gone, of whose files nobody tells.
    public func disturbCount() {
        count.disturb()
    }

    /// What a tree counts for, hard links once, its own directory included.
    public func bytes(below directory: borrowing Descriptor) throws(SystemError) -> Int64 {
        var total = weights.bytes(try directory.status())
        var seen: Set<UInt64> = []
        let root = SharedDescriptor(try directory.duplicate())
        _ = walk(root) { inode, status in
            if seen.insert(inode).inserted { total += status().map { weights.bytes($0) } ?? 0 }
        }
        return total
    }

    /// What comes free with trees that go: not what has a name elsewhere.
    public func bytes(goingWith trees: [SharedDescriptor]) throws(SystemError) -> Int64 {
        var total: Int64 = 0
        // How many names of a file with several have been come to.
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

    /// Goes through a tree. What goes or moves meanwhile is passed over.
    private func walk(
        _ root: SharedDescriptor, _ goOn: () -> Bool = { true }, _ visit: (UInt64, () -> FileStatus?) -> Void
    ) -> Bool {
        var paths: [[FileName]] = [[]]
        // By inode: a directory that is moved while it waits for its turn is come to by another way.
        var walked: Set<UInt64> = []
        while let path = paths.popLast() {
            guard let directory = try? root.descriptor.openDirectory(at: path),
                let inode = try? directory.status().inode, walked.insert(inode).inserted,
                let entries = try? directory.entries()
            else { continue }
            let shared = SharedDescriptor(directory)
            while let entry = try? entries.next() {
                guard goOn() else { return false }
                visit(entry.inode) { try? shared.descriptor.status(of: entry.name) }
                if entry.isDirectory { paths.append(path + [entry.name]) }
            }
        }
        return true
    }
}
