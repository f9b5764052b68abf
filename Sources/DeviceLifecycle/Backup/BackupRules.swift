import SandboxModel
import BackingStore
enum BackupRules {
    /// Whether a path is or lies in a place that is never in a backup.
    static func isIn(leftOut path: [FileName], of kind: ContainerKind) -> Bool {
        path.indices.contains { isNeverIn(Array(path[...$0]), of: kind) }
    }

    static func isNeverIn(_ path: [FileName], of kind: ContainerKind) -> Bool {
        guard kind == .data else { return kind == .iCloud || kind == .bundle }
        switch path.count {
        case 1: return path[0] != "Documents" && path[0] != "Library"
        case 2: return path == ["Library", "Caches"]
        default: return false
        }
    }
}
