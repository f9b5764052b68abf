// Starting programs, and the guard of mounts: C because no Swift may run between fork(2) and execve(2).
// Includes no header of the C library: Swift confuses a type that two modules declare.
#pragma once

/// Starts a program with posix_spawn(3), with default signals.
///
/// `descriptors` become its descriptors from 0 on (-1 is /dev/null), at most 8; all others are closed. `environment`
/// may be NULL for that of this process. A detached program leads a session and has `/` as its working directory.
/// Returns 0 or an error number.
int process_spawn(
    int *process, const char *path, char *const arguments[], char *const environment[], const int descriptors[],
    int count, int detached);

/// Has CommandLine answer with the arguments that this process was started with, also where there is no /proc. To be
/// called once, before the first use of CommandLine.
void process_use_own_arguments(void);

/// waitpid(2), for a process of process_spawn. Returns 0 or an error number.
int process_wait(int process, int *status);

/// A program to start.
struct process_plan {
    /// The program (a path, or a name to find in PATH) and its arguments. Ends with NULL.
    char *const *arguments;
    /// Ends with NULL.
    char *const *environment;
    /// The working directory.
    const char *directory;
    /// Leads a session, with /dev/null as standard descriptors.
    int is_detached;
    /// The program is bubblewrap. Signals go to the command that it confines, which gets a session keyring of its own.
    int is_confined;
    /// A user namespace that the program finds as the descriptor PROCESS_NAMESPACE; -1 for none.
    int user_namespace;
    /// The directory of an empty control group that the program begins in, and that its supervisor removes; NULL for
    /// none. It begins in that of this process where the kernel refuses.
    const char *group;
};

/// The descriptor of a plan's user namespace in the program.
#define PROCESS_NAMESPACE 5

/// The signal at which a supervisor kills everything below it. Nothing else sends it: a real-time signal.
#define PROCESS_END_ALL 45
/// The signal that tells a supervisor that its sender is about to freeze everything below it. The supervisor tells of
/// no stop then, and kills everything below it if the sender ends before PROCESS_RESUMED.
#define PROCESS_SUSPENDED 46
/// The signal after everything below a supervisor goes on again.
#define PROCESS_RESUMED 47

/// A forked process that waits to become its program, and its supervisor.
///
/// The supervisor is the parent of the process, and becomes that of each descendant whose own parent has ended, so
/// that nothing gets out of its reach. It kills everything below it if this process is killed, or at PROCESS_END_ALL.
/// It ends with the last process below it.
struct process_child {
    int process;
    int supervisor;
    int control;
    int gate;
    int report;
};

/// Forks a process that waits in the working directory, and ends with this process or with process_abandon_child.
///
/// Unless it is detached, signals to this process alone are forwarded to it: one such child at a time.
/// Returns 0 or an error number.
int process_make_child(const struct process_plan *plan, struct process_child *child);
/// Has the process execute its program.
/// Returns 0, also if it was killed, or the error number of execve(2).
int process_start_child(struct process_child *child);
/// Has the process end without executing its program.
void process_abandon_child(struct process_child *child);
/// Waits for the end of the process, as waitpid(2) does, which only one thread may do. Stops this process when a
/// shell's job control stops the child. Returns 0 or an error number.
int process_await_child(struct process_child *child, int *status);
/// Waits for the end of the supervisor, which may be long after that of the process, and takes its zombie away. After
/// process_await_child.
void process_reap_supervisor(const struct process_child *child);

/// Makes a user namespace in which root and one other user and group are themselves, and nobody else is anybody: its
/// processes have no rights on the host that root has by capabilities. For a superuser.
/// Returns a descriptor, closed on exec; -1 and errno on failure.
int process_make_namespace(unsigned user, unsigned group);

/// Whether a signal asks a program to end: SIGHUP, SIGINT, SIGQUIT, SIGTERM.
int process_asks_for_end(int number);
/// Whether this process ignores a signal.
int process_ignores(int number);

/// A message to the guard of mounts.
struct guarded_mount {
    /// 0 when the mount has ended.
    int is_mounted;
    /// Whether requests come by io_uring.
    int uses_rings;
    /// The minor number of its device: the number of its FUSE connection.
    unsigned connection;
    /// Its mount point; empty if it does not fit.
    char path[244];
};
/// Starts a process that ends the mounts of this one if it is killed and one of its threads cannot end, and kills this
/// one if it stays stopped while callers wait for its rings. Returns a pipe that takes `struct guarded_mount`, each in
/// one write; -1 and errno on failure.
int process_start_guard(void);
