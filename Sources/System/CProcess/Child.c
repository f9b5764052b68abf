// A child that waits before it executes its program, and gets the signals of its parent.
//
// fork(2) from a process with threads: the child makes system calls only and touches no memory that another thread may have
// locked, until execvpe, which takes no lock in glibc.

#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Signals by which a shell, a terminal or a harness ends, stops or continues a command, or has it redraw. SIGTSTP comes last.
static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
enum { FORWARDED = sizeof forwarded / sizeof forwarded[0] };

// The child that gets signals, 0 if there is none. A signal handler reads both.
static _Atomic int target;
static _Atomic int is_confined;
// A signal that came before the child.
static _Atomic int early;

int process_asks_for_end(int number) {
    return number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

// The first child of a process; 0 if there is none or /proc does not show it. System calls only.
static int first_child(int process) {
    char path[64], text[32];
    // snprintf takes no lock for %d.
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    int child = 0;
    for (ssize_t index = 0; index < count && text[index] >= '0' && text[index] <= '9'; index++) {
        child = child * 10 + (text[index] - '0');
    }
    return child;
}

// The kernel sends the terminal's signals to the whole foreground process group, the child included. Only signals that were
// sent to this process alone are forwarded.
static void forward(int number, siginfo_t *information, void *context) {
    (void)context;
    int saved = errno;
    int process = target;
    if (information->si_code == SI_KERNEL) {
        // Has reached the child too.
    } else if (process == 0) {
        early = number;
    } else if (!is_confined) {
        kill(process, number);
    } else {
        // bubblewrap, then its first process inside, then the command.
        int first = first_child(process);
        int command = first > 0 ? first_child(first) : 0;
        if (command > 0) {
            kill(command, number);
        } else if (process_asks_for_end(number)) {
            kill(process, SIGKILL);
        }
    }
    errno = saved;
}

// The signals of `forwarded` that this process does not ignore. Ignored ones stay ignored, in the child too.
static void taken(sigset_t *set, int confined) {
    sigemptyset(set);
    for (int index = 0; index < FORWARDED; index++) {
        struct sigaction action;
        // bubblewrap stops with the command; nothing else shows that the command stopped.
        if (forwarded[index] == SIGTSTP && confined) {
            continue;
        }
        if (sigaction(forwarded[index], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            sigaddset(set, forwarded[index]);
        }
    }
}

static void set_handlers(const sigset_t *set) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART, .sa_sigaction = forward};
    for (int index = 0; index < FORWARDED; index++) {
        if (sigismember(set, forwarded[index])) {
            sigaction(forwarded[index], &action, NULL);
        }
    }
}

static void remove_handlers(const sigset_t *set) {
    for (int index = 0; index < FORWARDED; index++) {
        if (sigismember(set, forwarded[index])) {
            // Drops a pending signal: it was meant for the child.
            signal(forwarded[index], SIG_IGN);
            signal(forwarded[index], SIG_DFL);
        }
    }
}

int process_ignores(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void fail(int report, int error) {
    ssize_t written = write(report, &error, sizeof error);
    (void)written;
    _exit(127);
}

// Runs in the child.
static void become(const struct process_plan *plan, const sigset_t *handled, int gate, int report) {
    for (int index = 0; index < FORWARDED; index++) {
        if (sigismember(handled, forwarded[index])) {
            signal(forwarded[index], SIG_DFL);
        }
    }
    signal(SIGPIPE, SIG_DFL);
    if (plan->is_confined) {
        for (int index = 0; index < FORWARDED; index++) {
            if (process_asks_for_end(forwarded[index])) {
                signal(forwarded[index], SIG_IGN);
            }
        }
    }
    // Threads of the Swift runtime block every signal.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (plan->is_detached) {
        setsid();
        int nothing = open("/dev/null", O_RDWR);
        for (int number = 0; number < 3; number++) {
            if (nothing < 0 || dup2(nothing, number) < 0) {
                fail(report, errno);
            }
        }
    }
    // Moved away first: either may have the number that the other is to get.
    gate = fcntl(gate, F_DUPFD_CLOEXEC, 16);
    report = fcntl(report, F_DUPFD_CLOEXEC, 16);
    if (dup3(gate, 3, O_CLOEXEC) < 0 || dup3(report, 4, O_CLOEXEC) < 0) {
        _exit(127);
    }
    syscall(SYS_close_range, 5U, ~0U, 0U);
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
    execvpe(plan->arguments[0], plan->arguments, plan->environment);
    fail(4, errno);
}

int process_make_child(const struct process_plan *plan, struct process_child *child) {
    int gate[2], report[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) != 0) {
        return errno;
    }
    if (pipe2(report, O_CLOEXEC) != 0) {
        int error = errno;
        close(gate[0]);
        close(gate[1]);
        return error;
    }
    sigset_t handled, all, before;
    if (plan->is_detached) {
        sigemptyset(&handled);
    } else {
        taken(&handled, plan->is_confined);
        is_confined = plan->is_confined;
    }
    set_handlers(&handled);
    // Blocks all signals, so that no handler runs in the child.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t process = fork();
    if (process == 0) {
        close(gate[1]);
        close(report[0]);
        become(plan, &handled, gate[0], report[1]);
    }
    int error = process < 0 ? errno : 0;
    if (process > 0 && !plan->is_detached) {
        target = process;
        int number = early;
        if (number != 0) {
            // bubblewrap would ignore it.
            kill(process, plan->is_confined && process_asks_for_end(number) ? SIGKILL : number);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(gate[0]);
    close(report[1]);
    if (error != 0) {
        remove_handlers(&handled);
        close(gate[1]);
        close(report[0]);
        return error;
    }
    *child = (struct process_child){.process = process, .gate = gate[1], .report = report[0]};
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

// Stops this process too when the command stopped, as an editor does at ^Z, so that the shell notices.
static void stop_as_well(int process) {
    // A child that is being continued together with this process is not stopped for long.
    usleep(20000);
    siginfo_t state = {0};
    if (waitid(P_PID, (id_t)process, &state, WSTOPPED | WNOHANG | WNOWAIT) != 0 || state.si_pid == 0) {
        return;
    }
    waitid(P_PID, (id_t)process, &state, WSTOPPED | WNOHANG);
    if (is_in_foreground()) {
        // raise(3) stops this thread before the next line runs.
        raise(SIGSTOP);
        kill(process, SIGCONT);
    }
}

int process_await_child(int process, int *status) {
    sigset_t handled, before;
    sigemptyset(&handled);
    for (int index = 0; index < FORWARDED; index++) {
        sigaddset(&handled, forwarded[index]);
    }
    int forwards = target == process;
    if (forwards) {
        pthread_sigmask(SIG_UNBLOCK, &handled, &before);
    }
    int error = 0;
    while (1) {
        siginfo_t state = {0};
        // WNOWAIT leaves a zombie, whose number is not reused while a handler may still send to it.
        int options = WEXITED | WNOWAIT | (forwards ? WSTOPPED : 0);
        if (waitid(P_PID, (id_t)process, &state, options) != 0) {
            if (errno == EINTR) {
                continue;
            }
            error = errno;
            break;
        }
        if (state.si_code == CLD_STOPPED || state.si_code == CLD_TRAPPED) {
            stop_as_well(process);
            continue;
        }
        break;
    }
    if (forwards) {
        target = 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        taken(&handled, is_confined);
        remove_handlers(&handled);
    }
    if (error == 0 && waitpid(process, status, 0) < 0) {
        error = errno;
    }
    return error;
}
