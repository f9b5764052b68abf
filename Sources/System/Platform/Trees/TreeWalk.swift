// A walk through a tree of directories, without recursion and without a long path.

public import Glibc
public import SandboxModel

/// A walk through all directories of a tree, each before those in it, at any depth. The caller reads each directory,
/// and says which of its entries to walk into.
public final class TreeWalk {
    private let cursor: TreeCursor
    private let liftsModes: Bool
    /// For the top and each directory down to the present one, the entries to walk into.
    private var pending: [[FileName]] = []
    /// For each directory below the top, the mode that it had where that kept its owner out.
    private var lifted: [mode_t?] = []
    private var hasBegun = false

    /// - Parameter liftsModes: whether a directory whose mode keeps its own owner out is opened while the walk is in
    ///   it. The modes are as before when the walk has come to its end, or is released.
    public init(_ root: SharedDescriptor, liftsModes: Bool = false) {
        cursor = TreeCursor(root)
        self.liftsModes = liftsModes
    }

    /// - Throws: EMFILE and the like.
    public convenience init(_ root: borrowing Descriptor, liftsModes: Bool = false) throws(SystemError) {
        self.init(SharedDescriptor(try root.duplicate()), liftsModes: liftsModes)
    }

    deinit {
        if liftsModes { while cursor.depth > 0 { leave() } }
    }

    /// The number of directories above the present one.
    public var depth: Int { cursor.depth }

    /// The name of the present directory; nil for the top.
    public var name: FileName? { cursor.name }

    /// The names that lead from the top to the present directory.
    public var path: [FileName] { cursor.path }

    /// The mode of the present directory before the walk changed it; nil where it did not.
    public var liftedMode: mode_t? { lifted.last ?? nil }

    /// Has the walk come into an entry of the present directory later.
    public func add(_ name: FileName) { pending[pending.count - 1].append(name) }

    /// Goes to the next directory, which is the top at first.
    ///
    /// - Parameter failed: called with an error at an entry of the present directory that cannot be entered. The walk
    ///   goes on without it.
    /// - Returns: nil at the end.
    public func next(failed: (SystemError, FileName) -> Void = { _, _ in }) -> SharedDescriptor? {
        if !hasBegun {
            hasBegun = true
            pending.append([])
            return cursor.directory
        }
        while !pending.isEmpty {
            if let name = pending[pending.count - 1].popLast() {
                if enter(name, failed) { return cursor.directory }
            } else if cursor.depth > 0 {
                leave()
            } else {
                pending = []
            }
        }
        return nil
    }

    private func enter(_ name: FileName, _ failed: (SystemError, FileName) -> Void) -> Bool {
        let above = cursor.directory
        var mode: mode_t?
        if liftsModes, let status = try? above.descriptor.status(of: name), status.kind == .directory,
            status.permissions & S_IRWXU != S_IRWXU
        {
            mode = status.permissions
            try? above.descriptor.changeMode(of: name, to: status.permissions | S_IRWXU)
        }
        do throws(SystemError) {
            try cursor.enter(name)
            pending.append([])
            lifted.append(mode)
            return true
        } catch {
            if let mode { try? above.descriptor.changeMode(of: name, to: mode) }
            failed(error, name)
            return false
        }
    }

    private func leave() {
        let mode = lifted[lifted.count - 1]
        guard let name = cursor.name else { return }
        // Where a part of the tree was moved, what it still had to give cannot be found.
        let count = cursor.leave()
        pending.removeLast(count)
        lifted.removeLast(count)
        if count == 1, let mode { try? cursor.directory.descriptor.changeMode(of: name, to: mode) }
    }
}
