// The number of failures of a test so far.

import Synchronization

final class IssueCount: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .acquiring) }

    func increment() {
        number.add(1, ordering: .releasing)
    }
}
