// Waits for what only the kernel or another process can tell.

import Glibc
public import Testing

/// Asks again and again, until the condition is true. For what this process itself does there are ``Awaited``, and
/// `Monitor` and `Semaphore` of `Platform`.
/// - Parameters:
///   - what: what has not come, in the failure that is recorded at the limit.
///   - limit: enough for a machine with much else to do.
public func eventually(
    _ what: String, within limit: Duration = .seconds(10), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) rethrows {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("has not come within \(limit): \(what)", sourceLocation: sourceLocation)
            return
        }
        usleep(1000)
    }
}

/// The same for a task, which blocks no thread.
public func eventually(
    _ what: String, within limit: Duration = .seconds(10), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("has not come within \(limit): \(what)", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
