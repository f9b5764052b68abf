// One operation at a time for each name.

import SandboxModel
import Synchronization

/// Lets operations on different names run at once, and those on one name in the order in which they came. The others
/// wait without a thread.
///
/// Lock: its own, a leaf, for moments only.
final class NamedTurns: Sendable {
    /// The operations that wait, for each name on which one runs.
    private let waiting = Mutex<[String: [CheckedContinuation<Void, Never>]]>([:])

    func run<Result>(
        _ name: String, _ body: () async throws(Complaint) -> Result
    ) async throws(Complaint) -> Result {
        await begin(name)
        defer { end(name) }
        return try await body()
    }

    private func begin(_ name: String) async {
        await withCheckedContinuation { turn in
            let isFree = waiting.withLock { waiting in
                guard waiting[name] != nil else {
                    waiting[name] = []
                    return true
                }
                waiting[name]?.append(turn)
                return false
            }
            if isFree { turn.resume() }
        }
    }

    private func end(_ name: String) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard waiting[name]?.isEmpty == false else {
                waiting[name] = nil
                return nil
            }
            return waiting[name]?.removeFirst()
        }
        next?.resume()
    }
}
