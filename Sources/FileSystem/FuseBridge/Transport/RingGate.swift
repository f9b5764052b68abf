// The start of a connection over io_uring: all rings are made before the kernel is told of them.

import Glibc
import Platform
import SandboxModel

/// After INIT's answer the kernel waits for the entries of every queue, so the workers make their rings first, and wait
/// here.
final class RingGate: Sendable {
    private enum Order {
        case wait, register, giveUp
    }

    private struct State {
        var order = Order.wait
        var made = 0
        var registered = 0
        var failed = 0
        /// Of the first that failed.
        var failure: SystemError?

        mutating func note(_ code: Int32, in step: WritableKeyPath<State, Int>) {
            if code == 0 {
                self[keyPath: step] += 1
                return
            }
            failed += 1
            failure = failure ?? SystemError(code: code)
        }
    }

    private let count: Int
    private let state = Monitor(State())

    /// - Parameter count: of the workers.
    init(_ count: Int) {
        self.count = count
    }

    // MARK: For the workers

    /// - Parameter code: an errno; 0 if the ring is made.
    func reportMade(_ code: Int32) { state.access { $0.note(code, in: \.made) } }

    /// - Parameter code: as of ``reportMade(_:)``, for the entries.
    func reportRegistered(_ code: Int32) { state.access { $0.note(code, in: \.registered) } }

    /// Waits for the session's decision.
    func mayRegister() -> Bool {
        state.wait { state in
            switch state.order {
            case .wait: nil
            case .register: true
            case .giveUp: false
            }
        }
    }

    // MARK: For the session

    /// Waits until every worker has its ring, or has failed to make one.
    func waitUntilMade() throws(SystemError) { try wait(for: \.made) }

    /// Has the workers register their entries, and waits until each has, or could not.
    func register() throws(SystemError) {
        state.access { $0.order = .register }
        try wait(for: \.registered)
    }

    func giveUp() { state.access { $0.order = .giveUp } }

    private func wait(for step: KeyPath<State, Int>) throws(SystemError) {
        let failure: SystemError? = state.wait { state in
            // The outer optional is the monitor's: nil goes on waiting.
            state[keyPath: step] + state.failed == count ? .some(state.failure) : nil
        }
        if let failure { throw failure }
    }
}
