// The order of entries, and what follows from it: no entry twice, and none without a directory to lie in.

import SandboxModel

/// Follows the entries of a backup as they come.
///
/// They come in the order of a walk, so that the directories above the present one are all that has to be remembered,
/// however many entries there are.
struct WalkOrder {
    private var previous: [UInt8] = []
    private var previousIsDirectory = false
    /// The last directory, and the directories that it lies in: how long their paths are, and which class each gives
    /// to what is made in it.
    private var deepest: [UInt8] = []
    private var directories: [(length: Int, gives: ProtectionClass)] = []

    /// Looks where an entry lies. Changes nothing that a second look would see.
    /// - Returns: the class that the directory above it gives; a container's own directory has none above it.
    mutating func approach(_ path: [UInt8]) throws(BackupFlaw) -> ProtectionClass {
        guard ArchivePath.precedes(previous, path) else {
            let repeats = previous == path
            throw BackupFlaw(repeats ? "has \(path.shown) twice" : "has \(path.shown) out of order, or twice")
        }
        while let last = directories.last, !ArchivePath.lies(path, below: deepest, count: last.length) {
            directories.removeLast()
        }
        guard let parent = ArchivePath.parentLength(path) else { return .standard }
        // What lies below an entry comes right after it.
        if !previousIsDirectory, ArchivePath.lies(path, below: previous, count: previous.count) {
            throw BackupFlaw("has \(path.shown) below what is no directory")
        }
        guard let last = directories.last, last.length == parent else {
            throw BackupFlaw("has \(path.shown), but not the directory that it lies in")
        }
        return last.gives
    }

    /// Takes an entry in, after ``approach(_:)`` found its place.
    mutating func enter(_ path: [UInt8], isDirectory: Bool) {
        (previous, previousIsDirectory) = (path, isDirectory)
        guard isDirectory else { return }
        deepest = path
        directories.append((path.count, .standard))
    }

    /// Tells what the directory gives that was entered last.
    mutating func give(_ protection: ProtectionClass?) {
        guard let last = directories.indices.last else { return }
        directories[last].gives = protection ?? .standard
    }
}
