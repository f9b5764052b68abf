// The locks of entries and of files, by which calls on different names do not wait for one another.

import Platform

/// The locks of directories' entries and of files' places, in stripes.
///
/// A call that holds the volume's `names` exclusively needs none of them: rmdir, every rename that moves a directory or
/// changes a zone, purges and updates. Any other call holds `names` shared, so that no directory moves, and takes
///
/// - the lock of a directory: shared while it relies on an entry there, exclusively while entries of files go or move.
///   It is one lock for all homes that show the directory.
/// - the lock of a file, which is anything but a directory: shared while it relies on the place of the file,
///   exclusively while the file gets, loses or changes a name. A file is found by any of its names, so the lock goes by
///   its inode.
///
/// Lock rule: after `names` and before the open lock of a node. Directories come first, then files, each kind at most
/// once in a call; of two, the one of the lower stripe is taken first, and two of one stripe are one. So each thread
/// takes stripes in ascending order, and no two can wait for each other.
final class EntryLocks: Sendable {
    static let count = 256
    /// Directories have the first half of the stripes and files the second, because a file is known only when its
    /// directory is locked.
    private static let half = UInt64(count / 2)

    private let locks = (0..<EntryLocks.count).map { _ in ReadWriteLock() }

    static func stripe(ofDirectory inode: UInt64) -> Int { Int(spread(inode)) }

    static func stripe(ofFile inode: UInt64) -> Int { Int(half + spread(inode)) }

    /// A host numbers the directories at its top with large powers of two between them: the upper bits of the product
    /// depend on all bits of the number.
    private static func spread(_ inode: UInt64) -> UInt64 { ((inode &* 0x9E37_79B9_7F4A_7C15) >> 32) % half }

    /// Two stripes in the order in which they are taken; no second one where both are the same.
    static func order(_ one: Int, _ other: Int) -> (first: Int, second: Int?) {
        one == other ? (one, nil) : (min(one, other), max(one, other))
    }

    @inline(__always)
    func reading<Result, Failure: Error>(
        _ stripe: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try locks[stripe].reading(body)
    }

    @inline(__always)
    func writing<Result, Failure: Error>(
        _ stripe: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try locks[stripe].writing(body)
    }

    @inline(__always)
    func writing<Result, Failure: Error>(
        _ one: Int, _ other: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (first, second) = EntryLocks.order(one, other)
        guard let second else { return try locks[first].writing(body) }
        return try locks[first].writing { () throws(Failure) in try locks[second].writing(body) }
    }
}

/// The caller of each of these holds the volume's `names` shared.
extension EntryLocks {
    /// No entry of a file goes or moves in the directory meanwhile.
    @inline(__always)
    func keepingEntries<Result, Failure: Error>(
        of directory: Node, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try reading(EntryLocks.stripe(ofDirectory: directory.inode), body)
    }

    /// No other call finds or changes an entry of the directory meanwhile.
    @inline(__always)
    func changingEntries<Result, Failure: Error>(
        of directory: Node, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try writing(EntryLocks.stripe(ofDirectory: directory.inode), body)
    }

    @inline(__always)
    func changingEntries<Result, Failure: Error>(
        of one: Node, and other: Node, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try writing(
            EntryLocks.stripe(ofDirectory: one.inode), EntryLocks.stripe(ofDirectory: other.inode), body)
    }

    /// The node stays where it is meanwhile. For a directory `names` suffices.
    @inline(__always)
    func keepingPlace<Result, Failure: Error>(
        of node: Node, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if node.isDirectory { return try body() }
        return try reading(EntryLocks.stripe(ofFile: node.inode), body)
    }

    /// No other call relies on a name of the file of this inode meanwhile, or changes one.
    @inline(__always)
    func changingPlace<Result, Failure: Error>(
        of inode: UInt64, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try writing(EntryLocks.stripe(ofFile: inode), body)
    }

    @inline(__always)
    func changingPlaces<Result, Failure: Error>(
        of one: UInt64, and other: UInt64, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try writing(EntryLocks.stripe(ofFile: one), EntryLocks.stripe(ofFile: other), body)
    }
}
