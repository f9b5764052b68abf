// Which operations are under way: one at a time for each app, none once the device is ending.

import Platform
import SandboxModel

/// Admits operations on a device and its apps.
final class AppOperations: Sendable {
    private struct State {
        var isEnding = false
        var underWay = 0
        var busy: Set<ContainerIdentifier> = []
    }

    private let state = Monitor(State())

    /// Whether what is under way should be given up.
    var isEnding: Bool { state.access { $0.isEnding } }

    /// Carries out an operation.
    /// - Throws: ``Complaint`` of kind `shuttingDown`, or what the operation throws.
    func run<Result>(_ body: () throws(Complaint) -> Result) throws(Complaint) -> Result {
        try state.access { (state) throws(Complaint) in
            guard !state.isEnding else { throw Complaint(.shuttingDown, "the device is shutting down; try again") }
            state.underWay += 1
        }
        defer { state.access { $0.underWay -= 1 } }
        return try body()
    }

    /// Carries out an operation on one app, when no other is at work on it.
    func run<Result>(
        on app: ContainerIdentifier, _ body: () throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        try run { () throws(Complaint) in
            state.wait { state in
                state.busy.insert(app).inserted ? () : nil
            }
            defer { state.access { _ = $0.busy.remove(app) } }
            return try body()
        }
    }

    /// Carries out a short step on one app, unless an operation is at work on it. It is admitted to the last, because
    /// what the end of the device writes out may need the room that it makes.
    /// - Returns: nil when it was not carried out.
    func tryRun<Result>(on app: ContainerIdentifier, _ body: () -> Result) -> Result? {
        guard state.access({ $0.busy.insert(app).inserted }) else { return nil }
        defer { state.access { _ = $0.busy.remove(app) } }
        return body()
    }

    /// Admits no more, and waits until what is under way has ended.
    /// - Returns: false when somebody else has called this before; it returns at once then.
    func end() -> Bool {
        let isFirst = state.access { state in
            defer { state.isEnding = true }
            return !state.isEnding
        }
        guard isFirst else { return false }
        state.wait { $0.underWay == 0 ? () : nil }
        return true
    }
}
