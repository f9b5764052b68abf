// A program that this process starts and waits for, or lets go of: made first, so that somebody can be told of it, and
// let go then.

import CProcess
public import Glibc
public import SandboxModel

/// A program that is about to run, runs, or has run.
///
/// The process is there from the beginning, with its number; it becomes the program with ``start()``. It ends instead
/// when this process ends before that, or when ``abandon()`` says so. A child that is not detached gets the signals
/// that reach this process alone; those of the terminal reach it by themselves.
public final class ChildProcess: Sendable {
    /// What to start.
    public struct Plan: Sendable {
        /// The first names the program: a path, or a name that is looked for in `PATH`.
        public var arguments: [String]
        /// `NAME=value` each.
        public var environment: [String]
        /// The working directory.
        public var directory: String
        /// In a session of its own, with /dev/null as its standard descriptors.
        public var isDetached: Bool
        /// The program is bubblewrap; signals are handed on to the command that it confines.
        public var isConfined: Bool

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
    }

    private struct State {
        var child: process_child?
        /// Let go of, or told to end.
        var isSettled = false
        var failure: SystemError?
        var end: Result<End, SystemError>?
    }

    public let identifier: pid_t
    private let state: Monitor<State>

    /// Makes the process, on a thread that lasts as long as it does: one that asks to die with its parent means that
    /// thread.
    /// - Throws: EAGAIN or ENOMEM where there is no room for another.
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
            let end = Result { () throws(SystemError) in try ChildProcess.waitForEnd(of: child.process) }
            state.access { $0.end = end }
        }.detach()
        identifier = try state.wait { state -> Result<pid_t, SystemError>? in
            if let failure = state.failure { return .failure(failure) }
            return state.child.map { .success($0.process) }
        }.get()
    }

    private static func make(_ plan: Plan) throws(SystemError) -> process_child {
        // Copies that live until the process is made and has a copy of its own, with the NULL that ends each vector.
        var words: [UnsafeMutablePointer<CChar>?] = unsafe plan.arguments.map { unsafe strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe plan.environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var child = process_child()
        let error = unsafe words.withUnsafeMutableBufferPointer { words in
            unsafe variables.withUnsafeMutableBufferPointer { variables in
                unsafe plan.directory.withCString { directory in
                    var plan = unsafe process_plan(
                        arguments: words.baseAddress, environment: variables.baseAddress, directory: directory,
                        is_detached: plan.isDetached ? 1 : 0, is_confined: plan.isConfined ? 1 : 0)
                    return unsafe process_make_child(&plan, &child)
                }
            }
        }
        guard error == 0 else { throw SystemError(code: error) }
        return child
    }

    private static func waitForEnd(of process: pid_t) throws(SystemError) -> End {
        var status: Int32 = 0
        let error = unsafe process_await_child(process, &status)
        guard error == 0 else { throw SystemError(code: error) }
        // WIFSIGNALED and its siblings are macros that Swift does not import.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }

    /// Lets the process become the program, unless that has happened.
    /// - Throws: ENOENT when there is no such program, EACCES or ENOEXEC when it cannot be run.
    public func start() throws(SystemError) {
        guard var child = settle() else { return }
        let error = unsafe process_start_child(&child)
        guard error == 0 else { throw SystemError(code: error) }
    }

    /// Has the process end without having been anything; once it is the program, nothing happens.
    public func abandon() {
        guard var child = settle() else { return }
        unsafe process_abandon_child(&child)
    }

    private func settle() -> process_child? {
        state.access { state in
            defer { state.isSettled = true }
            return state.isSettled ? nil : state.child
        }
    }

    /// Waits until the program has ended.
    public func wait() throws(SystemError) -> End {
        try state.wait { $0.end }.get()
    }

    /// The signals that ask a program to end and that this process was started to ignore: so is whatever it starts.
    public static var ignoredRequestsToEnd: [Int32] {
        (1..<32).filter { process_asks_for_end($0) != 0 && process_ignores($0) != 0 }
    }
}
