// The uses of volumes that this process was told of.

import Synchronization

/// Identifiers of uses that began since the start and have not ended. A container of one may not be there yet.
///
/// Lock: of the set, a leaf.
final class BegunUses: Sendable {
    private let uses = Mutex<Set<String>>([])

    func insert(_ use: String) { uses.withLock { _ = $0.insert(use) } }

    func remove(_ ended: [String]) { uses.withLock { $0.subtract(ended) } }

    func hasAny(of others: [String]) -> Bool { uses.withLock { !$0.isDisjoint(with: others) } }
}
