// Ranges of a file that an application believes written and that the store could not write.

/// The lost ranges of one open file, in bytes of content. Guarded by the file's lock.
///
/// write(2) ends in the page cache, so the kernel's writeback may fail after the application was told of success. Such
/// a range is neither zeros nor the bytes before the write: until it is written anew, a read gives EIO.
struct LostRanges {
    /// All of them.
    private var lost = RangeSet<Int64>()
    /// Refused for want of space. Later writes may have replaced some: see ``remainingRefused()``.
    private var refused = RangeSet<Int64>()
    /// Lost with the key, and not reported yet.
    private var unreported = RangeSet<Int64>()

    @inline(__always)
    var isEmpty: Bool { lost.isEmpty }

    /// Adds a range whose key was gone.
    mutating func addWithoutKey(_ range: Range<Int64>) {
        lost.insert(contentsOf: range)
        unreported.insert(contentsOf: range)
    }

    /// Adds a range that found no space.
    mutating func addRefused(_ range: Range<Int64>) {
        lost.insert(contentsOf: range)
        refused.insert(contentsOf: range)
    }

    /// Removes a range that was written, zeroed or cut off.
    mutating func remove(_ range: Range<Int64>) {
        lost.remove(contentsOf: range)
    }

    func overlaps(_ range: Range<Int64>) -> Bool {
        !lost.intersection(RangeSet(range)).isEmpty
    }

    /// The ranges lost with the key since the last call.
    mutating func takeUnreported() -> [Range<Int64>] {
        defer { unreported = RangeSet() }
        return Array(unreported.ranges)
    }

    /// The refused ranges that were not written since.
    mutating func remainingRefused() -> [Range<Int64>] {
        refused.formIntersection(lost)
        return Array(refused.ranges)
    }
}
