// Changes of a file's groups, holes and length that its header and maps do not describe yet.

/// Changes since the header was opened (``ContentPage/isOpen``). Guarded by the file's lock.
///
/// Kept in memory only: after a crash, recovery finds them from the pages themselves.
struct UncommittedStructure {
    /// New groups, which no map names yet.
    var addedGroups: Set<Int> = []
    /// Whether holes may have been made.
    var hasGap = false
    /// Whether the content may end beyond its last seal.
    var wasExtended = false
}
