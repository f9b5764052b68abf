// The operations under way on a device and its apps: one at a time for each app, none once the device is ending.

import Platform
import SandboxModel

/// Admits operations on a device and its apps, and waits for them at the device's end.
///
/// An operation on an app is a lock that callers hold while they change its containers, mounts or processes; it comes
/// before all other locks of the device. Lock of its own: for moments only, and never while an operation runs.
final class AppOperations: Sendable {
    private struct State {
        var isEnding = false
        /// Operations on apps among them.
        var underWay = 0
        /// Apps with an operation, or with a step of ``tryRun(on:_:)``.
        var busy: Set<ContainerIdentifier> = []
    }

    private let state = Monitor(State())

    /// Whether long work should end early, because the device is ending.
    var isEnding: Bool { state.access { $0.isEnding } }

    /// Carries out an operation.
    /// - Throws: ``Complaint`` of kind `shuttingDown`, or what the operation throws.
    func run<Result>(_ body: () throws(Complaint) -> Result) throws(Complaint) -> Result {
        try admit()
        defer { state.access { $0.underWay -= 1 } }
        return try body()
    }

    /// Counts an operation that is under way from now on.
    /// - Throws: ``Complaint`` of kind `shuttingDown`.
    private func admit() throws(Complaint) {
        try state.access { (state) throws(Complaint) in
            guard !state.isEnding else { throw Complaint(.shuttingDown, "the device is shutting down; try again") }
            state.underWay += 1
        }
    }

    /// Carries out an operation on one app. Waits until no other is under way on it. A thread that begins several does
    /// so in the order of the registry.
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

    /// Carries out an operation on several apps, each there once, in the order of the registry.
    func run<Result>(
        onEach apps: ArraySlice<ContainerIdentifier>, _ body: () throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        // In a loop, as an app brings as many extensions as it likes.
        var held = 0
        defer {
            state.access { state in
                for app in apps.prefix(held) { state.busy.remove(app) }
                state.underWay -= held
            }
        }
        for app in apps {
            try admit()
            held += 1
            state.wait { state in
                state.busy.insert(app).inserted ? () : nil
            }
        }
        return try body()
    }

    /// Carries out a short step on one app, unless an operation is under way on it. Admitted while the device ends too:
    /// its last writes may need the space that a purge frees.
    /// - Returns: nil when it was not carried out.
    func tryRun<Result>(on app: ContainerIdentifier, _ body: () -> Result) -> Result? {
        guard state.access({ $0.busy.insert(app).inserted }) else { return nil }
        defer { state.access { _ = $0.busy.remove(app) } }
        return body()
    }

    /// Admits no more operations, and waits for the end of those under way.
    /// - Returns: false at once, when another thread has called this before.
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
