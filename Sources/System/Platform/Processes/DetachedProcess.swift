// Daemons: a process that outlives this one, keeps nothing of it, and reports once.

import CPlatform
public import Glibc
public import SandboxModel

/// A session leader that reports over a pipe, once, how its start went.
public struct DetachedProcess: ~Copyable {
    public let identifier: pid_t
    private let reports: Descriptor

    /// `posix_spawn(3)`: starts a program with `/` as its working directory, /dev/null as its standard descriptors, and
    /// `lock`, a locked directory that it finds in ``Parent``. It gets no other descriptor of this process.
    /// - Throws: the error of `posix_spawn(3)`, such as ENOENT or EACCES; EMFILE of pipe2(2).
    public init(
        executable: String, arguments: [String], lock: borrowing Descriptor
    ) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        try systemCall { unsafe platform_pipe(&ends) }
        let reports = Descriptor(owning: ends[0])
        let report = Descriptor(owning: ends[1])

        // The process gets this one's own user: it is to decide itself in whose name it acts.
        let (reporting, locked) = (report.number, lock.number)
        let identifier = try ActingUser.asSuperuser { () throws(SystemError) in
            try ProcessStart.start(
                executable: executable, arguments: arguments, descriptors: [nil, nil, nil, reporting, locked],
                detached: true)
        }
        self.init(identifier: identifier, reports: reports)
    }

    private init(identifier: pid_t, reports: consuming Descriptor) {
        self.identifier = identifier
        self.reports = reports
    }

    /// `read(2)`: waits for the report.
    /// - Returns: the bytes that the process wrote before it closed the pipe; empty if it ended without a report.
    /// - Throws: EFBIG for a report above 16 MiB.
    public borrowing func report() throws(SystemError) -> [UInt8] {
        try reports.readToEnd()
    }

    /// The parent, as the detached process finds it in descriptors 3 and 4.
    public struct Parent: ~Copyable {
        private let report: Descriptor
        private let lock: Descriptor

        /// Owns both descriptors from then on. Call it once, before other code opens files that could get their
        /// numbers.
        /// - Returns: nil if ``DetachedProcess`` did not start this process.
        public init?() {
            var pipe = stat()
            var directory = stat()
            guard unsafe fstat(3, &pipe) == 0, pipe.st_mode & S_IFMT == S_IFIFO,
                unsafe fstat(4, &directory) == 0, directory.st_mode & S_IFMT == S_IFDIR,
                fcntl(3, F_SETFD, FD_CLOEXEC) == 0, fcntl(4, F_SETFD, FD_CLOEXEC) == 0
            else { return nil }
            report = Descriptor(owning: 3)
            lock = Descriptor(owning: 4)
        }

        /// `write(2)` of the report; then both descriptors are closed.
        public consuming func send(_ bytes: [UInt8]) {
            let number = report.number
            // EPIPE if the parent has ended. Every server ignores SIGPIPE.
            _ = try? systemCall { unsafe bytes.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) } }
        }
    }
}

/// Another process by a pidfd, so that a reused process identifier cannot mean a third one.
public struct ProcessHandle: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// `pidfd_open(2)`.
    /// - Returns: nil if there is no such process.
    public init?(_ identifier: pid_t) {
        guard identifier > 0, let number = try? systemCall({ platform_pidfd_open(identifier) }) else { return nil }
        descriptor = Descriptor(owning: number)
    }

    /// `poll(2)`: waits until the process has ended and its descriptors are closed.
    /// - Returns: false after the time limit.
    /// - Parameter milliseconds: a negative number waits without limit. A signal begins the time anew.
    public borrowing func waitForEnd(milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        let ready = try? systemCall { unsafe poll(&request, 1, milliseconds) }
        return (ready ?? 0) > 0
    }

    /// Readable once the process has ended, for poll(2).
    public var eventDescriptor: Int32 { descriptor.number }

    /// `pidfd_send_signal(2)`.
    /// - Throws: ESRCH after the process has ended, EPERM for another user's.
    public borrowing func send(_ signal: Int32) throws(SystemError) {
        let number = descriptor.number
        try systemCall { platform_signal_process(number, signal) }
    }
}

extension Descriptor {
    /// `flock(2)` with `LOCK_EX`: waits for the lock.
    public borrowing func lock() throws(SystemError) {
        let number = self.number
        try systemCall { flock(number, LOCK_EX) }
    }
}
