// What a backup has and what it never has. Asked by the mount, node by node, and by a backup's walk over a container.

public import SandboxModel

extension SandboxPolicy {
    /// How many names of a path lead to what is never in a backup: 2 for what lies in `Library/Caches`, nil for a path
    /// that may be in one.
    ///
    /// - Parameters:
    ///   - path: from the app's home, and so from the data container as well; in a group container behind
    ///     `Groups` and its identifier.
    ///   - bundle: the `.app` directory's name.
    public static func neverInBackup(_ path: [FileName], bundle: FileName) -> Int? {
        guard let top = path.first else { return nil }
        if top == bundle || top == iCloudName || top == metadataName { return 1 }
        return PurgeableDirectory.allCases.map(\.path).first { path.starts(with: $0) }?.count
    }

    /// Whether a place of a data container, as the host has it, is never in a backup, with all that is in it. Of what lies at
    /// its top a backup has what apps keep there, and nothing of the system's, such as an update on its way.
    public static func isNeverInBackup(inData path: [FileName]) -> Bool {
        if path.count == 1 { return !backedUpNames.contains(path[0]) }
        return PurgeableDirectory.allCases.contains { $0.path == path }
    }

    private static let backedUpNames: [FileName] = ["Documents", "Library"]
    private static let iCloudName: FileName = "iCloud"
    private static let metadataName: FileName = ".com.apple.mobile_container_manager.metadata.plist"

    /// What a backup does with a path, by the places that it never has and the marks on the way.
    ///
    /// What bears a mark itself is excluded, wherever it lies. Of several directories above it that are excluded the
    /// outermost is told: there a backup stops, and nothing below can bring a path back in.
    ///
    /// - Parameters:
    ///   - path: from the app's home.
    ///   - never: how many of its names lead to what is never in a backup.
    ///   - isMarked: whether what so many of the names lead to bears the mark. Asked of the path itself first, and then
    ///     of what is above, from the outside in; never of the home, which bears none.
    public static func inclusion<Failure: Error>(
        of path: [FileName], never: Int?, isMarked: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> BackupInclusion {
        guard !path.isEmpty else { return .included }
        func isExcluded(_ count: Int) throws(Failure) -> Bool {
            if count == never { return true }
            return try isMarked(count)
        }
        if try isExcluded(path.count) { return .excluded }
        for count in 1..<path.count where try isExcluded(count) { return .excludedBy(Array(path.prefix(count))) }
        return .included
    }
}
