// Starting a process that outlives this one and keeps nothing of it, and hearing from it once.

import CPlatform
public import Glibc
public import SandboxModel

/// A process in a session of its own that reports once, over a pipe, how its start went.
public struct DetachedProcess: ~Copyable {
    public let identifier: pid_t
    private let reports: Descriptor

    /// Starts a program with `/` as its working directory, /dev/null as its standard descriptors, and of this
    /// process's other descriptors none but `lock`, a directory that is
    /// locked; it finds it in ``Parent``.
    public init(
        executable: String, arguments: [String], lock: borrowing Descriptor
    ) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        try systemCall { unsafe platform_pipe(&ends) }
        let reports = Descriptor(owning: ends[0])
        let report = Descriptor(owning: ends[1])

        let identifier = try ProcessStart.start(
            executable: executable, arguments: arguments, descriptors: [nil, nil, nil, report.number, lock.number],
            detached: true)
        self.init(identifier: identifier, reports: reports)
    }

    private init(identifier: pid_t, reports: consuming Descriptor) {
        self.identifier = identifier
        self.reports = reports
    }

    /// Waits for the report.
    /// - Returns: what the process wrote until it closed its end; empty when it ended without a word.
    public borrowing func report() throws(SystemError) -> [UInt8] {
        try reports.readToEnd()
    }

    /// What a detached process finds of the one that started it.
    public struct Parent: ~Copyable {
        private let report: Descriptor
        private let lock: Descriptor

        /// - Returns: nil when this process was not started by ``DetachedProcess``.
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

        /// Tells the parent how the start went, and lets go of its lock.
        public consuming func send(_ bytes: [UInt8]) {
            let number = report.number
            // A parent that has gone meanwhile wants no report; SIGPIPE is ignored by every server.
            _ = try? systemCall { unsafe bytes.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) } }
        }
    }
}

/// Another process, held by a descriptor, so that its number cannot come to mean a third one.
public struct ProcessHandle: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// - Returns: nil when there is no such process.
    public init?(_ identifier: pid_t) {
        guard identifier > 0, let number = try? systemCall({ platform_pidfd_open(identifier) }) else { return nil }
        descriptor = Descriptor(owning: number)
    }

    /// Waits until the process has ended and its descriptors are closed.
    /// - Returns: false when the time was up first.
    public borrowing func waitForEnd(milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        let ready = try? systemCall { unsafe poll(&request, 1, milliseconds) }
        return (ready ?? 0) > 0
    }

    /// Can be read when the process has ended; for who waits for many things at once.
    public var eventDescriptor: Int32 { descriptor.number }

    /// - Throws: ESRCH when it has ended, EPERM when it is another user's.
    public borrowing func send(_ signal: Int32) throws(SystemError) {
        let number = descriptor.number
        try systemCall { platform_signal_process(number, signal) }
    }
}

extension Descriptor {
    /// An exclusive `flock`, as soon as whoever has it lets go.
    public borrowing func lock() throws(SystemError) {
        let number = self.number
        try systemCall { flock(number, LOCK_EX) }
    }
}
