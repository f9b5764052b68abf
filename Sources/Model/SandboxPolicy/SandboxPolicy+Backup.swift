// The content of a backup, by place and by mark of exclusion. Asked by the mount, and by a backup's walk over a
// container.

public import SandboxModel

extension SandboxPolicy {
    /// The number of names of a path that lead to a place which is never in a backup: 2 for a path in `Library/Caches`;
    /// nil for a path that may be in a backup.
    ///
    /// - Parameters:
    ///   - path: from the app's home, and so from the data container as well; in a group container behind
    ///     `Groups` and its identifier.
    ///   - bundle: the `.app` directory's name.
    public static func neverInBackup(_ path: [FileName], bundle: FileName) -> Int? {
        guard let top = path.first else { return nil }
        if top == bundle || top == HomeLayout.iCloud || top == HomeLayout.metadata { return 1 }
        if top == HomeLayout.groups {
            return isNeverInBackup(inGroup: Array(path.dropFirst(2).prefix(2))) ? 4 : nil
        }
        return PurgeableDirectory.allCases.map(\.path).first { path.starts(with: $0) }?.count
    }

    /// The places of a home that are never in a backup: for each, ``neverInBackup(_:bundle:)`` is the number of its
    /// names.
    ///
    /// - Parameter groups: the identifiers of the app's groups.
    public static func placesNeverInBackup(
        bundle: FileName, groups: [FileName], hasICloud: Bool
    ) -> [[FileName]] {
        [[bundle], [HomeLayout.metadata]] + (hasICloud ? [[HomeLayout.iCloud]] : [])
            + PurgeableDirectory.allCases.map(\.path)
            + groups.flatMap { group in PurgeableDirectory.ofGroup.map { [HomeLayout.groups, group] + $0.path } }
    }

    /// Whether a place of a data container, as the host has it, is never in a backup, with all that is in it. At the
    /// top only the directories of apps are backed up, and nothing of the system's, such as an update under way.
    public static func isNeverInBackup(inData path: [FileName]) -> Bool {
        if path.count == 1 { return !backedUpNames.contains(path[0]) }
        return PurgeableDirectory.allCases.contains { $0.path == path }
    }

    /// The same for a group container.
    public static func isNeverInBackup(inGroup path: [FileName]) -> Bool {
        PurgeableDirectory.ofGroup.contains { $0.path == path }
    }

    private static let backedUpNames = [HomeLayout.documents, HomeLayout.library]

    /// The treatment of a path by a backup.
    ///
    /// A path that bears a mark itself is excluded, wherever it lies. Of several excluded directories above it the
    /// outermost is named: there a backup stops, and nothing below can bring a path back in.
    ///
    /// - Parameters:
    ///   - path: from the app's home.
    ///   - never: as ``neverInBackup(_:bundle:)``.
    ///   - isMarked: whether the first so many names lead to something with the mark. Asked for the path itself, then
    ///     from the outermost directory inwards; never for the home, which bears none.
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
