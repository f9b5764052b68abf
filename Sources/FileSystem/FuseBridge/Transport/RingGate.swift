// The start of a connection over io_uring: all rings are made before the kernel is told of them.

import Glibc
import Platform
import SandboxModel

/// INIT's answer binds the kernel to rings and cannot be taken back, so the workers make them first, and wait here.
final class RingGate: Sendable {
    private enum Order {
        case wait, register, giveUp
    }

    private struct State {
        var order = Order.wait
        var made = 0
        var registered = 0
        var failure: SystemError?

        mutating func note(_ code: Int32, in step: WritableKeyPath<State, Int>) {
            if code == 0 { self[keyPath: step] += 1 } else { failure = failure ?? SystemError(code: code) }
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

    /// Waits until every worker has its ring, or one has none.
    func waitUntilMade() throws(SystemError) { try wait(for: \.made) }

    /// Has the workers register their entries, and waits until all have, or one could not.
    func register() throws(SystemError) {
        state.access { $0.order = .register }
        try wait(for: \.registered)
    }

    func giveUp() { state.access { $0.order = .giveUp } }

    private func wait(for step: KeyPath<State, Int>) throws(SystemError) {
        let failure: SystemError? = state.wait { state in
            // The outer optional is the monitor's: nil goes on waiting.
            if let failure = state.failure { return .some(failure) }
            return state[keyPath: step] == count ? .some(nil) : nil
        }
        if let failure { throw failure }
    }
}
