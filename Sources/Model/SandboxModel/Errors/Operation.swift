// The operations that the policy allows or refuses. A call on two nodes, such as rename(2), is two operations.

/// An operation on one node, which the policy allows or refuses by the node's ``Zone``.
public enum Operation: String, CaseIterable, Sendable {
    /// Look up, stat, list, read a symbolic link, read an attribute. No zone refuses it.
    case inspect
    /// Open a file for reading.
    case read
    /// Open a file for writing, or write to it.
    case write
    /// Change a file's length.
    case truncate
    /// chmod.
    case changeMode
    /// chown.
    case changeOwner
    /// utimensat.
    case changeTimes
    /// Set an extended attribute.
    case setAttribute
    /// Remove an extended attribute.
    case removeAttribute
    /// FS_IOC_SETFLAGS.
    case setFlags
    /// Give the file a further name somewhere else.
    case linkFrom
    /// Take the node's name away: unlink and rmdir.
    case remove
    /// Take the node to another name.
    case renameFrom
    /// Create a regular file in this directory.
    case create
    /// Create a directory in this directory.
    case makeDirectory
    /// Create a symbolic link in this directory.
    case makeSymbolicLink
    /// Create a fifo or a socket in this directory.
    case makeNode
    /// Give a file a further name in this directory.
    case linkInto
    /// Take a node to a name in this directory.
    case renameInto

    /// Whether the operation makes a directory entry. The policy then decides by the directory, else by the node
    /// itself.
    public var givesName: Bool {
        switch self {
        case .create, .makeDirectory, .makeSymbolicLink, .makeNode, .linkInto, .renameInto: true
        case .inspect, .read, .write, .truncate, .changeMode, .changeOwner, .changeTimes, .setAttribute,
            .removeAttribute, .setFlags, .linkFrom, .remove, .renameFrom:
            false
        }
    }
}
