// Child processes that have a process identifier before they execute their program.

import CProcess
public import Glibc
public import SandboxModel

/// A program that is about to run, runs, or has ended.
///
/// The process exists from `init` on and executes the program with ``start()``. It ends without doing so if this
/// process ends before, or with ``abandon()``. Signals sent to this process alone are forwarded to a child that is not
/// detached; signals of the terminal reach both.
public final class ChildProcess: Sendable {
    /// The program to start.
    public struct Plan: Sendable {
        /// The program (a path, or a name to find in `PATH`) and its arguments.
        public var arguments: [String]
        /// Each is `NAME=value`.
        public var environment: [String]
        /// The working directory.
        public var directory: String
        /// Leads a session, with /dev/null as standard descriptors.
        public var isDetached: Bool
        /// The program is bubblewrap. Signals are forwarded to the command that it confines, which has a session
        /// keyring of its own.
        public var isConfined: Bool
        /// The program finds it as the descriptor ``UserNamespace/descriptor``; nil for that of this process.
        public var namespace: UserNamespace?
        /// A new group for the program and its descendants alone, which goes with the last of them; nil for that of
        /// this process. The program begins in the latter as well where the kernel refuses.
        public var group: ControlGroup?

        public init(
            arguments: [String], environment: [String], directory: String, isDetached: Bool = false,
            isConfined: Bool = false
        ) {
            self.arguments = arguments
            self.environment = environment
            self.directory = directory
            self.isDetached = isDetached
            self.isConfined = isConfined
        }
    }

    /// How a program ended.
    public enum End: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)

        /// - Parameter status: of waitpid(2).
        init(status: Int32) {
            // WIFSIGNALED and its siblings are macros that Swift does not import.
            let signal = status & 0x7F
            self = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
        }
    }

    private struct State {
        var child: process_child?
        /// Started or abandoned.
        var isDecided = false
        /// The error of fork(2).
        var failure: SystemError?
        /// The result of waitpid(2); nil while the child lives.
        var end: Result<End, SystemError>?
    }

    public let identifier: pid_t
    /// The parent of the process, and of each descendant that loses its own. It ends with the last of them, and kills
    /// them all at ``endAll``, and if this process is killed.
    public let supervisor: pid_t
    private let state: Monitor<State>

    /// The signal to a supervisor at which it kills everything below it.
    public static let endAll: Int32 = PROCESS_END_ALL
    /// The signal to a supervisor by the process that is about to freeze everything below it. Should that process end
    /// before it sends ``resumed``, the supervisor kills everything. It tells of no stop meanwhile.
    public static let suspended: Int32 = PROCESS_SUSPENDED
    /// The signal to a supervisor that everything below it goes on.
    public static let resumed: Int32 = PROCESS_RESUMED

    /// `fork(2)`, on a thread that then waits for the end.
    /// - Throws: EAGAIN or ENOMEM of fork(2).
    public init(_ plan: Plan) throws(SystemError) {
        let state = Monitor(State())
        self.state = state
        try HostThread(name: "child") {
            let made = Result { () throws(SystemError) in try ChildProcess.make(plan) }
            guard case .success(let child) = made else {
                if case .failure(let failure) = made { state.access { $0.failure = failure } }
                return
            }
            state.access { $0.child = child }
            let end = Result { () throws(SystemError) in try ChildProcess.waitForEnd(of: child) }
            state.access { $0.end = end }
            // A zombie of this process would be found by others that wait for any child.
            ChildProcess.reapSupervisor(of: child)
        }.detach()
        let child = try state.wait { state -> Result<process_child, SystemError>? in
            if let failure = state.failure { return .failure(failure) }
            return state.child.map { .success($0) }
        }.get()
        (identifier, supervisor) = (child.process, child.supervisor)
    }

    private static func make(_ plan: Plan) throws(SystemError) -> process_child {
        // Copies with a NULL at the end, which live until fork(2) has copied the memory.
        var words: [UnsafeMutablePointer<CChar>?] = unsafe plan.arguments.map { unsafe strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe plan.environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        let group = unsafe plan.group.flatMap { unsafe strdup($0.path) }
        defer { unsafe free(group) }
        var child = process_child()
        let error = unsafe words.withUnsafeMutableBufferPointer { words in
            unsafe variables.withUnsafeMutableBufferPointer { variables in
                unsafe plan.directory.withCString { directory in
                    var plan = unsafe process_plan(
                        arguments: words.baseAddress, environment: variables.baseAddress, directory: directory,
                        is_detached: plan.isDetached ? 1 : 0, is_confined: plan.isConfined ? 1 : 0,
                        user_namespace: plan.namespace?.number ?? -1, group: group)
                    return unsafe process_make_child(&plan, &child)
                }
            }
        }
        guard error == 0 else {
            plan.group?.remove()
            throw SystemError(code: error)
        }
        return child
    }

    private static func waitForEnd(of child: process_child) throws(SystemError) -> End {
        var child = child
        var status: Int32 = 0
        let error = unsafe process_await_child(&child, &status)
        guard error == 0 else { throw SystemError(code: error) }
        return End(status: status)
    }

    /// Waits until nothing is left of all that the process has started.
    private static func reapSupervisor(of child: process_child) {
        var child = child
        unsafe process_reap_supervisor(&child)
    }

    /// `execve(2)` in the process: has it execute its program, once, and returns when it has. Does nothing after
    /// ``abandon()``.
    /// - Throws: ENOENT, EACCES, ENOEXEC and the like of execve(2).
    public func start() throws(SystemError) {
        guard var child = takeWaitingChild() else { return }
        let error = unsafe process_start_child(&child)
        guard error == 0 else { throw SystemError(code: error) }
    }

    /// Has the process end without executing its program. Does nothing after ``start()``.
    public func abandon() {
        guard var child = takeWaitingChild() else { return }
        unsafe process_abandon_child(&child)
    }

    /// The child if it still waits, for the first caller.
    private func takeWaitingChild() -> process_child? {
        state.access { state in
            defer { state.isDecided = true }
            return state.isDecided ? nil : state.child
        }
    }

    /// Waits until the program has ended. Any number of threads may wait, before
    /// or after the end.
    public func wait() throws(SystemError) -> End {
        try state.wait { $0.end }.get()
    }

    /// The signals that ask a program to end and that this process, and with it each child, ignores.
    public static var ignoredRequestsToEnd: [Int32] {
        (1..<32).filter { process_asks_for_end($0) != 0 && process_ignores($0) != 0 }
    }
}
