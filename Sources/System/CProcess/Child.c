// A child that waits before it executes its program, and gets the signals of the process that made it. Between the two
// is a supervisor (Supervisor.c), which is the child's parent.
//
// fork(2) from a process with threads: the child makes system calls only and touches no memory that another thread may
// have locked, until execvpe, which takes no lock in glibc.

#define _GNU_SOURCE
#include "CProcess.h"
#include "Signals.h"
#include "Supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(int report, int error) {
    ssize_t written = write(report, &error, sizeof error);
    (void)written;
    _exit(127);
}

// Default actions, and no signal blocked, but those that a confined program is to ignore.
static void take_signals(const struct process_plan *plan, const sigset_t *handled) {
    for (int index = 0; index < PROCESS_FORWARDED; index++) {
        if (sigismember(handled, process_forwarded[index])) {
            signal(process_forwarded[index], SIG_DFL);
        }
    }
    signal(SIGPIPE, SIG_DFL);
    if (plan->is_confined) {
        for (int index = 0; index < PROCESS_FORWARDED; index++) {
            if (process_asks_for_end(process_forwarded[index])) {
                signal(process_forwarded[index], SIG_IGN);
            }
        }
    }
    // Threads of the Swift runtime block every signal.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// The descriptors 0 to 2, the gate as 3, the report as 4, and the namespace, if any, as 5. Returns 0 or an error
// number.
static int take_descriptors(const struct process_plan *plan, int gate, int report) {
    // Moved away first: each may have the number that another is to get.
    gate = fcntl(gate, F_DUPFD_CLOEXEC, 16);
    report = fcntl(report, F_DUPFD_CLOEXEC, 16);
    int space = plan->user_namespace < 0 ? -1 : fcntl(plan->user_namespace, F_DUPFD_CLOEXEC, 16);
    if (dup3(gate, 3, O_CLOEXEC) < 0 || dup3(report, 4, O_CLOEXEC) < 0) {
        _exit(127);
    }
    if (plan->user_namespace >= 0 && dup2(space, PROCESS_NAMESPACE) < 0) {
        return errno;
    }
    syscall(SYS_close_range, plan->user_namespace < 0 ? 5U : PROCESS_NAMESPACE + 1U, ~0U, 0U);
    if (!plan->is_detached) {
        return 0;
    }
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; number < 3; number++) {
        if (nothing < 0 || dup2(nothing, number) < 0) {
            return errno;
        }
    }
    return 0;
}

// An empty session keyring. A host without keyrings has none to keep from the program, and one that forbids the call
// forbids the program as well to use any.
static int leave_keyring(void) {
    enum { JOIN_SESSION_KEYRING = 1 };
    if (syscall(SYS_keyctl, JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS && errno != EPERM) {
        return errno;
    }
    return 0;
}

// Runs in the child.
static void become(const struct process_plan *plan, const sigset_t *handled, int gate, int report) {
    pid_t supervisor = getppid();
    take_signals(plan, handled);
    if (plan->is_detached) {
        setsid();
    }
    int error = take_descriptors(plan, gate, report);
    if (error != 0) {
        fail(4, error);
    }
    if (chdir(plan->directory) != 0) {
        fail(4, errno);
    }
    char word;
    ssize_t count;
    do {
        count = read(3, &word, 1);
    } while (count < 0 && errno == EINTR);
    if (count != 1) {
        _exit(127);
    }
    // A superuser's process that acts as the owner of a device gives the program no way back.
    if (geteuid() != getuid()
        && (setresgid(getegid(), getegid(), getegid()) != 0 || setresuid(geteuid(), geteuid(), geteuid()) != 0)) {
        fail(4, errno);
    }
    if (plan->is_confined && (error = leave_keyring()) != 0) {
        fail(4, error);
    }
    // After the change of users, which undoes it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) {
        _exit(127);
    }
    execvpe(plan->arguments[0], plan->arguments, plan->environment);
    fail(4, errno);
}

struct pipes {
    int gate[2];
    int report[2];
    int control[2];
};

static void close_pair(int pair[2]) {
    for (int index = 0; index < 2; index++) {
        if (pair[index] >= 0) {
            close(pair[index]);
        }
        pair[index] = -1;
    }
}

static void close_pipes(struct pipes *pipes) {
    close_pair(pipes->gate);
    close_pair(pipes->report);
    close_pair(pipes->control);
}

static int make_pipes(struct pipes *pipes) {
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipes->gate) != 0 || pipe2(pipes->report, O_CLOEXEC) != 0
        || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipes->control) != 0) {
        int error = errno;
        close_pipes(pipes);
        return error;
    }
    return 0;
}

// fork(2) into a control group; NULL for that of this process. System calls only, which suffices for a child that makes
// nothing else until it executes its program.
static pid_t fork_into(const char *group) {
    int directory = group == NULL ? -1 : open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        return fork();
    }
    struct clone_args plan = {
        .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned long long)directory};
    pid_t process = (pid_t)syscall(SYS_clone3, &plan, sizeof plan);
    if (process < 0) {
        // A container may forbid the call, and the kernel a group that is managed otherwise.
        process = fork();
    }
    close(directory);
    return process;
}

// Runs in the supervisor, with all signals blocked.
static void make_and_supervise(
    const struct process_plan *plan, const sigset_t *handled, struct pipes *pipes) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (plan->is_detached) {
        setsid();
    }
    pid_t process = fork_into(plan->group);
    if (process == 0) {
        close(pipes->gate[1]);
        close(pipes->report[0]);
        become(plan, handled, pipes->gate[0], pipes->report[1]);
    }
    process_tell(pipes->control[1], SUPERVISOR_MADE, process < 0 ? -errno : process);
    if (process > 0) {
        process_supervise(process, pipes->control[1], plan->group);
    }
    _exit(0);
}

// The number of the process that the supervisor has made, or a negative error number.
static int made(int control) {
    struct supervisor_news news = process_hear(control);
    return news.kind == SUPERVISOR_MADE ? news.value : -EAGAIN;
}

int process_make_child(const struct process_plan *plan, struct process_child *child) {
    struct pipes pipes;
    int error = make_pipes(&pipes);
    if (error != 0) {
        return error;
    }
    sigset_t handled, all, before;
    if (plan->is_detached) {
        sigemptyset(&handled);
    } else {
        process_taken(&handled, plan->is_confined);
        process_forward_confined(plan->is_confined);
    }
    process_set_handlers(&handled);
    // Blocks all signals, so that no handler runs in the child.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t supervisor = fork();
    if (supervisor == 0) {
        close(pipes.control[0]);
        make_and_supervise(plan, &handled, &pipes);
    }
    error = supervisor < 0 ? errno : 0;
    close(pipes.control[1]);
    pipes.control[1] = -1;
    pid_t process = supervisor > 0 ? made(pipes.control[0]) : 0;
    if (process < 0) {
        error = -process;
        waitpid(supervisor, NULL, 0);
    }
    if (process > 0 && !plan->is_detached) {
        process_forward_to(process, plan->is_confined);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        process_remove_handlers(&handled);
        close_pipes(&pipes);
        return error;
    }
    close(pipes.gate[0]);
    close(pipes.report[1]);
    *child = (struct process_child){
        .process = process, .supervisor = supervisor, .control = pipes.control[0], .gate = pipes.gate[1],
        .report = pipes.report[0]};
    return 0;
}

int process_start_child(struct process_child *child) {
    // No SIGPIPE for a child that is gone; it may have reported why.
    ssize_t sent = send(child->gate, "", 1, MSG_NOSIGNAL);
    (void)sent;
    close(child->gate);
    child->gate = -1;
    int error = 0;
    ssize_t count;
    do {
        count = read(child->report, &error, sizeof error);
    } while (count < 0 && errno == EINTR);
    close(child->report);
    child->report = -1;
    return count == sizeof error ? error : 0;
}

void process_abandon_child(struct process_child *child) {
    if (child->gate >= 0) {
        close(child->gate);
    }
    if (child->report >= 0) {
        close(child->report);
    }
    child->gate = child->report = -1;
}

// Whether this process is in the foreground of its terminal, so that a shell waits for it.
static int is_in_foreground(void) {
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) {
        return 0;
    }
    int answer = tcgetpgrp(terminal) == getpgrp();
    close(terminal);
    return answer;
}

// Whether a process is stopped, by its line in /proc.
static int is_stopped(int process) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    ssize_t count = read(file, line, sizeof line - 1);
    close(file);
    line[count < 0 ? 0 : count] = 0;
    const char *end = strrchr(line, ')');
    return end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

// Stops this process too when the command stopped, as an editor does at ^Z, so that the shell notices.
static void stop_as_well(int process) {
    // A child that is being continued together with this process is not stopped for long.
    usleep(20000);
    if (is_stopped(process) && is_in_foreground()) {
        // raise(3) stops this thread before the next line runs.
        raise(SIGSTOP);
        kill(process, SIGCONT);
    }
}

int process_await_child(struct process_child *child, int *status) {
    sigset_t handled, before;
    sigemptyset(&handled);
    for (int index = 0; index < PROCESS_FORWARDED; index++) {
        sigaddset(&handled, process_forwarded[index]);
    }
    int forwards = process_forwards_to(child->process);
    if (forwards) {
        pthread_sigmask(SIG_UNBLOCK, &handled, &before);
    }
    struct supervisor_news news;
    while ((news = process_hear(child->control)).kind == SUPERVISOR_STOPPED) {
        if (forwards) {
            stop_as_well(child->process);
        }
    }
    if (forwards) {
        // The process is a zombie until the supervisor hears that: its number is not reused while a handler may send to
        // it.
        process_forward_to(0, 0);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        process_taken(&handled, process_is_confined());
        process_remove_handlers(&handled);
    }
    if (news.kind == SUPERVISOR_ENDED) {
        *status = news.value;
        process_tell(child->control, SUPERVISOR_RELEASED, 0);
        // It closes its end once it has seen to what is left.
        process_hear(child->control);
    } else {
        // Somebody has killed the supervisor, and the kernel the process with it.
        *status = SIGKILL;
    }
    close(child->control);
    child->control = -1;
    return 0;
}

void process_reap_supervisor(const struct process_child *child) {
    while (waitpid(child->supervisor, NULL, 0) < 0 && errno == EINTR) {
    }
}
