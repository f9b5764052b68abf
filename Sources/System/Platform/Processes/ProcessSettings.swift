// What a process sets once for itself.

import Glibc
public import SandboxModel

public enum ProcessSettings {
    /// Lets the process have as many open files as the host grants it.
    public static func raiseOpenFileLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// How many files the process may have open.
    public static var openFileLimit: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Leaves no core dump. Keys are left out of one in any case, should a program that the host pipes them to ask for more.
    public static func forbidDumps() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// Ends this process by a signal, so that whoever waits for it sees the end that another process has met. Returns
    /// when the signal ends no process.
    public static func end(by number: Int32) {
        forbidDumps()
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    /// Keeps the standard descriptors from meaning files that are opened later: one that is closed is opened so that
    /// what it is for fails.
    public static func occupyStandardDescriptors() {
        for (number, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] {
            // The lowest number that is free is this one.
            if fcntl(number, F_GETFD) == -1 { _ = unsafe open("/dev/null", flags) }
        }
    }

    /// A variable of the environment; nil where it is not set. No other thread may be changing the environment.
    public static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        // The environment's own memory, which is copied before anybody else runs.
        return unsafe String(cString: value)
    }

    /// Sets a variable of the environment, for this process and those that it starts. No other thread may be reading it.
    public static func setVariable(_ name: String, to value: String) throws(SystemError) {
        try systemCall { unsafe setenv(name, value, 1) }
    }

    /// The path of the running program.
    public static func executable() throws(SystemError) -> String {
        let target = try HostPath.symbolicLinkTarget("/proc/self/exe")
        // A program that was replaced on disk meanwhile runs on, and can be started once more only in this way.
        return (try? HostPath.status(target)) == nil ? "/proc/self/exe" : target
    }
}
