// Confines a command by bubblewrap, so that it sees only the app's home and the system's programs.

import AppContainer
import ArgumentParser
import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// The confinement of a command by bwrap(1). It shows what an app relies on, and is no prison: the command shares the
/// kernel, and the terminal if there is one (ThreatModel.md).
struct Confinement {
    /// The path of bwrap.
    private let program: String

    /// Finds bwrap.
    /// - Throws: ``Complaint`` of kind `confinementMissing`.
    /// The kind's exit code is not the command's: ``RunFailure`` makes it 125.
    init() throws(Complaint) {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let places = path.split(separator: ":").map { "\($0)/bwrap" }
        guard
            let program = places.first(where: { $0.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: $0) })
        else {
            throw Complaint(
                .confinementMissing, "there is no bwrap to confine a command with; install the package bubblewrap")
        }
        self.program = program
    }

    /// Changes a plan so that bubblewrap runs its command, after a trial run of the confinement.
    /// - Throws: ``Complaint`` if this host cannot confine, ``RunFailure`` if the command is not visible inside or
    ///   cannot be run.
    func confine(_ plan: inout ChildProcess.Plan, to app: RunnableApp) throws {
        let command = plan.arguments
        plan.namespace = try namespace(for: app)
        let walls = try self.walls(around: app, command[0], isRemapped: plan.namespace != nil)
        try look(walls, for: command[0], plan)
        // Bubblewrap is started with these signals ignored. The command would inherit that, so env resets them.
        let ignored = Set(ChildProcess.ignoredRequestsToEnd)
        let heeded = Confinement.requestsToEnd.filter { !ignored.contains($0.number) }.map(\.name)
        let inside = heeded.isEmpty ? ["env"] : ["env", "--default-signal=" + heeded.joined(separator: ",")]
        // env takes a name with an equals sign for a variable.
        let start = command[0].contains("=") ? ["sh", "-c", "exec \"$@\"", "sh"] : []
        plan.arguments = [program] + walls + ["--"] + inside + start + command
        plan.isConfined = true
    }

    /// The signals that ask a program to end, with their names for env(1).
    private static let requestsToEnd = [(SIGHUP, "HUP"), (SIGINT, "INT"), (SIGQUIT, "QUIT"), (SIGTERM, "TERM")]
        .map { (number: $0, name: $1) }

    // MARK: Visible paths

    /// Directories at the root, which on most hosts are links into /usr.
    private static let systemDirectories = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]
    /// Files in /etc for dynamic linking, user lookup and time zones.
    private static let systemFiles = [
        "alternatives", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf", "passwd",
        "terminfo", "timezone",
    ]

    /// The options of bwrap: namespaces of its own, the system's programs read-only, and the app's home.
    /// - Parameter command: the program's path or name, for the libraries that it needs.
    /// - Returns: the options, without the `--` before the command.
    private func walls(around app: RunnableApp, _ command: String, isRemapped: Bool) throws(RunFailure) -> [String] {
        let home = app.mountPoint
        var walls = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        // A killed parent could not end the command otherwise: it is in a namespace of processes of its own.
        walls += ["--die-with-parent", "--ro-bind", "/usr", "/usr"]
        // A link is made again as a link: as a bind it would show the same directory twice.
        for name in Confinement.systemDirectories {
            if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/\(name)") {
                walls += ["--symlink", target, "/\(name)"]
            } else {
                walls += ["--ro-bind-try", "/\(name)", "/\(name)"]
            }
        }
        for name in Confinement.systemFiles { walls += ["--ro-bind-try", "/etc/\(name)", "/etc/\(name)"] }
        for directory in try runtimes(app, command) { walls += ["--ro-bind", directory, directory] }
        walls += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", home, home, "--chdir", home]
        // The root that holds these mounts must not be writable.
        walls += ["--remount-ro", "/"]
        // Not on a terminal: the command would lose job control and ^C.
        if ![STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains(where: Terminal.isTerminal) {
            walls.append("--new-session")
        }
        if isRemapped { walls += ["--userns", "\(UserNamespace.descriptor)"] }
        // Root keeps its capabilities on files only: no file but the app's can be changed.
        if geteuid() == 0 {
            walls += ["--cap-drop", "ALL"]
            for name in ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"] { walls += ["--cap-add", "CAP_\(name)"] }
        }
        return walls
    }

    /// The user namespace of root's command, which is root in it, and on the host has no rights but those on files. nil
    /// for any other user, whose namespace bubblewrap makes.
    /// - Throws: ``Complaint`` of kind `unexpected` where the host makes none.
    private func namespace(for app: RunnableApp) throws(Complaint) -> UserNamespace? {
        guard geteuid() == 0 else { return nil }
        return try Complaint.wrap("cannot confine the command: cannot make a user namespace") {
            () throws(SystemError) in
            let home = try HostPath.status(app.mountPoint)
            return try UserNamespace(showing: home.owner, group: home.group)
        }
    }

    /// The directories of Swift's libraries, outside /usr, that the command and the app's executable name. A program
    /// of a toolchain in another place, such as a home, would not start without them.
    /// - Throws: ``RunFailure/cannotStart(_:_:)`` with ENOEXEC for a command that is no proper ELF file.
    private func runtimes(_ app: RunnableApp, _ command: String) throws(RunFailure) -> [String] {
        var paths = app.executable.flatMap { try? ExecutableRunPath(of: $0).directories } ?? []
        if command.contains("/") {
            do throws(SystemError) {
                paths += try ExecutableRunPath(of: absolute(command, in: app.mountPoint)).directories
            } catch {
                throw .cannotStart(command, error)
            }
        }
        var found: [String] = []
        for directory in paths where !directory.hasPrefix("/usr/") && !found.contains(directory) {
            let core = directory + "/libswiftCore.so"
            if FileManager.default.isReadableFile(atPath: core) { found.append(directory) }
        }
        return found
    }

    /// The path of a command, which runs in the app's home.
    private func absolute(_ path: String, in directory: String) -> String {
        path.hasPrefix("/") ? path : "\(directory)/\(path)"
    }

    // MARK: The trial run

    /// Exit codes of the script, different from those of shells and bubblewrap.
    private static let notFound: Int32 = 77
    private static let cannotRun: Int32 = 78
    /// Exits with 0 for a program that is there, and for one that is built into the shell.
    private static let script = """
        found=$(command -v -- "$1") || case $1 in */*) found=$1 ;; *) exit \(notFound) ;; esac
        case $found in */*) ;; *) exit 0 ;; esac
        if [ ! -e "$found" ]; then exit \(notFound); fi
        if [ -d "$found" ] || [ ! -x "$found" ]; then exit \(cannotRun); fi
        """

    /// Runs a script that looks for the command in the same confinement, because bubblewrap has one exit code for all
    /// failures.
    /// - Throws: ``RunFailure/cannotStart(_:_:)`` for a command that is not there (127) or cannot be run (126);
    ///   ``Complaint`` of kind `confinementMissing` or `unexpected` where the host cannot confine.
    private func look(_ walls: [String], for command: String, _ plan: ChildProcess.Plan) throws {
        let arguments = walls + ["--", "/bin/sh", "-c", Confinement.script, "sh", command]
        let end: ChildProcess.End
        let errors: [UInt8]
        do throws(SystemError) {
            (end, errors) = try CapturedProcess.run(
                executable: program, arguments: arguments, environment: plan.environment, namespace: plan.namespace)
        } catch {
            throw Complaint(.confinementMissing, "\(program) cannot be run; install the package bubblewrap")
        }
        switch end {
        case .exited(0): return
        case .exited(Confinement.notFound): throw RunFailure.cannotStart(command, .noEntry)
        case .exited(Confinement.cannotRun): throw RunFailure.cannotStart(command, .accessDenied)
        default:
            let lines = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline)
            let reason = lines.first.map(String.init) ?? "bwrap: it does not say why"
            throw Complaint(.unexpected, "cannot confine the command: \(reason)")
        }
    }
}
