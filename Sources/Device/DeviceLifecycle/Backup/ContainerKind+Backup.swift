// The places of a container that are never in a backup: the policy's answer, for paths as the host has them.

import BackingStore
import SandboxModel
import SandboxPolicy

extension ContainerKind {
    /// Whether a place is never in a backup, with all that is in it.
    /// - Parameter path: from the container.
    func isNeverInBackup(_ path: [FileName]) -> Bool {
        switch self {
        case .data: SandboxPolicy.isNeverInBackup(inData: path)
        case .group: SandboxPolicy.isNeverInBackup(inGroup: path)
        case .bundle, .iCloud: true
        }
    }

    /// Whether a path is or lies in such a place.
    func leavesOut(_ path: [FileName]) -> Bool {
        path.indices.contains { isNeverInBackup(Array(path[...$0])) }
    }
}
