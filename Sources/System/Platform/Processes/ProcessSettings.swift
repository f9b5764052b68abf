// Settings of this process.

import CPlatform
import Glibc
public import SandboxModel

public enum ProcessSettings {
    /// `setrlimit(2)` of `RLIMIT_CORE`: no core dumps. Keys stay out of them in any case (`MADV_DONTDUMP`), for hosts
    /// that pipe dumps to a program, which this limit does not stop.
    public static func forbidDumps() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// `raise(3)`: ends this process by a signal, so that its parent sees how a child of it ended. Returns if the
    /// signal ends no process.
    public static func end(by number: Int32) {
        forbidDumps()
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    /// `sigaction(2)` of SIGBUS: before a mapping of a file in a mount ends this process, a line on standard error
    /// tells the file, its class and the remedy. It asks the device by opening the file, so its record has a refusal
    /// more.
    /// An earlier action applies afterwards, and one that is set later takes the place of this.
    public static func reportBusErrors() {
        // The kernel refuses no such call.
        _ = platform_report_bus_errors()
    }

    /// `open(2)` of /dev/null at each standard descriptor that is closed, so that no file opened later takes its
    /// number, and in the wrong direction, so that its use fails as before.
    public static func occupyStandardDescriptors() {
        for (number, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] {
            // open(2) takes the lowest free number, which is this one.
            if fcntl(number, F_GETFD) == -1 { _ = unsafe open("/dev/null", flags) }
        }
    }

    /// `getenv(3)`. No other thread may change the environment meanwhile.
    public static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        // Memory of the environment, copied at once.
        return unsafe String(cString: value)
    }

    /// `setenv(3)`. No other thread may read the environment meanwhile.
    public static func setVariable(_ name: String, to value: String) throws(SystemError) {
        try systemCall { unsafe setenv(name, value, 1) }
    }

    /// `readlink(2)` of /proc/self/exe: the path of the running program.
    public static func executable() throws(SystemError) -> String {
        let target = try HostPath.symbolicLinkTarget("/proc/self/exe")
        // A program that was replaced on disk can be started again only by this path.
        return (try? HostPath.status(target)) == nil ? "/proc/self/exe" : target
    }
}
