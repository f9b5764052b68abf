// A process that goes on until whoever started it lets go of it, or ends.

import CPlatform
public import Glibc
public import SandboxModel
import Synchronization

/// A program in a session of its own that is held by its standard input: it reads there that its owner has gone, however
/// that came about. Every call blocks.
public final class TetheredProcess: Sendable {
    private struct State {
        /// The other end of its standard input and output; nil when it was let go of.
        var tether: SharedDescriptor?
        /// Somebody has waited for its end, after which its number may be another's.
        var isReaped = false
    }

    public let identifier: pid_t
    private let state: Mutex<State>
    /// One waits; the others wait for that.
    private let reaping = Mutex(())

    public init(executable: String, arguments: [String]) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        // Not a pipe: to write to a socket that nobody reads any more can be done without a signal.
        try systemCall { unsafe platform_socket_pair(&ends) }
        let tether = SharedDescriptor(Descriptor(owning: ends[0]))
        let theirs = Descriptor(owning: ends[1])
        identifier = try ProcessStart.start(
            executable: executable, arguments: arguments, descriptors: [theirs.number, theirs.number, nil],
            detached: true)
        state = Mutex(State(tether: tether))
        Exit.watch(self)
    }

    /// Lets go; the process ends when it has put everything in order.
    deinit {
        Exit.forget(identifier)
        letGo()
        guard !state.withLock({ $0.isReaped }) else { return }
        let identifier = identifier
        try? HostThread(name: "reap") { TetheredProcess.reap(identifier) }.detach()
    }

    /// Writes to its standard input.
    /// - Throws: EPIPE when it reads no more, or was let go of.
    public func write(_ bytes: [UInt8]) throws(SystemError) {
        let tether = try tether()
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = try systemCall {
                unsafe rest.withUnsafeBytes {
                    unsafe send(tether.descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
            rest = rest.dropFirst(sent)
        }
    }

    /// The next line of its standard output, without its end; shorter where it ended before.
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

    /// Ends its standard input.
    public func letGo() {
        state.withLock { state in
            // For all who have it: a process that was forked from this one may.
            if let tether = state.tether { _ = shutdown(tether.descriptor.number, Int32(SHUT_RDWR)) }
            state.tether = nil
        }
    }

    /// Waits for its end.
    public func waitForEnd() {
        reaping.withLock { _ in
            guard !state.withLock({ $0.isReaped }) else { return }
            TetheredProcess.reap(identifier)
            state.withLock { $0.isReaped = true }
        }
    }

    /// As ``waitForEnd()``, for so long at most.
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

/// The end of this program: whatever it holds then is let go of and waited for, so that who comes next finds nothing.
private enum Exit {
    private struct Held: Sendable {
        weak var process: TetheredProcess?
    }

    private static let held = Mutex<[pid_t: Held]>([:])
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
