// Names of entries that were purged, until the kernel drops what it caches of them.

import SandboxModel
import Synchronization

/// A list that purges add to and that is emptied when the purged files are removed.
///
/// Lock rule: its lock is a leaf, held for a change of the list.
final class WithdrawnNames: Sendable {
    private let names = Mutex<[(name: FileName, parent: Node)]>([])

    func add(_ withdrawn: [FileName], in parent: Node) {
        names.withLock { $0 += withdrawn.map { ($0, parent) } }
    }

    /// The names that were added since the last call.
    func takeAll() -> [(name: FileName, parent: Node)] {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }
}
