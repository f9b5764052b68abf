// Child processes that end when their owner releases them or ends.

import CPlatform
public import Glibc
public import SandboxModel
import Synchronization

/// A session leader whose standard input is a socket to its owner: it reads end-of-file there when the owner is gone,
/// however the owner ended. Every call blocks.
public final class TetheredProcess: Sendable {
    private struct State {
        /// The other end of its standard input and output; nil after ``letGo()``.
        var tether: SharedDescriptor?
        /// waitpid(2) has returned, after which the identifier may be reused.
        var isReaped = false
    }

    public let identifier: pid_t
    private let state: Mutex<State>
    /// Held by the one thread that calls waitpid(2).
    private let reaping = Mutex(())

    /// `posix_spawn(3)`. Standard input and output are the two directions of one socket; standard error is /dev/null.
    /// - Throws: the error of `posix_spawn(3)`, such as ENOENT or EACCES; EMFILE of socketpair(2).
    public init(executable: String, arguments: [String]) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        // Not a pipe: send(2) can suppress SIGPIPE.
        try systemCall { unsafe platform_socket_pair(&ends) }
        let tether = SharedDescriptor(Descriptor(owning: ends[0]))
        let theirs = Descriptor(owning: ends[1])
        identifier = try ProcessStart.start(
            executable: executable, arguments: arguments, descriptors: [theirs.number, theirs.number, nil],
            detached: true)
        state = Mutex(State(tether: tether))
        Exit.watch(self)
    }

    /// Releases the process, which then cleans up and ends.
    deinit {
        Exit.forget(identifier)
        letGo()
        guard !state.withLock({ $0.isReaped }) else { return }
        let identifier = identifier
        try? HostThread(name: "reap") { TetheredProcess.reap(identifier) }.detach()
    }

    /// `send(2)` to its standard input.
    /// - Throws: EPIPE if it no longer reads, or after ``letGo()``.
    public func write(_ bytes: [UInt8]) throws(SystemError) {
        let tether = try tether()
        var rest = bytes[...]
        while !rest.isEmpty { rest = rest.dropFirst(try tether.descriptor.send(rest)) }
    }

    /// `recv(2)` of the next line of its standard output, without its newline, or the rest before end-of-file. One
    /// thread at a time may read.
    /// - Throws: EPIPE after ``letGo()``.
    public func line() throws(SystemError) -> [UInt8] {
        let tether = try tether()
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = try systemCall { unsafe recv(tether.descriptor.number, &byte, 1, 0) }
            guard count == 1, byte != UInt8(ascii: "\n") else { return line }
            line.append(byte)
        }
    }

    private func tether() throws(SystemError) -> SharedDescriptor {
        guard let tether = state.withLock({ $0.tether }) else { throw SystemError(code: EPIPE) }
        return tether
    }

    /// `shutdown(2)` of its standard input.
    public func letGo() {
        state.withLock { state in
            // shutdown(2), not close(2): a process forked from this one may have the socket too.
            if let tether = state.tether { _ = shutdown(tether.descriptor.number, Int32(SHUT_RDWR)) }
            state.tether = nil
        }
    }

    /// `waitpid(2)`. Does not ask the process to end: ``letGo()`` comes first.
    public func waitForEnd() {
        reaping.withLock { _ in
            guard !state.withLock({ $0.isReaped }) else { return }
            TetheredProcess.reap(identifier)
            state.withLock { $0.isReaped = true }
        }
    }

    /// As ``waitForEnd()``, until `deadline` at most.
    fileprivate func waitForEnd(until deadline: ContinuousClock.Instant) {
        let left = max(.zero, deadline - .now)
        guard !state.withLock({ $0.isReaped }), let handle = ProcessHandle(identifier) else { return }
        _ = handle.waitForEnd(milliseconds: Int32(clamping: Int(left / .milliseconds(1))))
    }

    private static func reap(_ identifier: pid_t) {
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) == -1, errno == EINTR {}
    }
}

/// The processes that end with this program. At exit(3) it closes the input of each and waits for its end, so that the
/// next program finds no device of this one.
private enum Exit {
    private struct Held: Sendable {
        weak var process: TetheredProcess?
    }

    private static let held = Mutex<[pid_t: Held]>([:])
    /// The limit for all processes together.
    private static let longestWait = Duration.seconds(10)

    static func watch(_ process: TetheredProcess) {
        _ = handler
        held.withLock { $0[process.identifier] = Held(process: process) }
    }

    static func forget(_ identifier: pid_t) {
        held.withLock { _ = $0.removeValue(forKey: identifier) }
    }

    /// The process that asked for it: one that was forked from it ends without a word.
    private static let handler: pid_t = {
        atexit { Exit.letGo() }
        return getpid()
    }()

    private static func letGo() {
        guard getpid() == handler else { return }
        let processes = held.withLock { $0.values.compactMap(\.process) }
        for process in processes { process.letGo() }
        let deadline = ContinuousClock.now + longestWait
        for process in processes { process.waitForEnd(until: deadline) }
    }
}
