// A program that this process starts: made first, let go later, waited for while signals are handed on to it.
//
// The child is made by fork(2) from a process with threads: nothing in it but system calls and memory of its own, until
// execvpe, which glibc keeps free of locks.

#define _GNU_SOURCE
#include "CPlatform.h"

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

// What a shell, a terminal or a harness sends to have a command end, look or draw itself anew. SIGTSTP is the last one.
static const int handed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
enum { HANDED_ON = sizeof handed_on / sizeof handed_on[0] };

// Read by a signal handler. One child a process is handed signals: 0 when there is none.
static _Atomic int target;
static _Atomic int is_confined;
// A signal that came before there was a child to hand it to.
static _Atomic int early;

int platform_asks_for_end(int number) {
    return number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

// The first child of a process, by system calls alone; 0 when there is none or it is not shown.
static int first_child(int process) {
    char path[64], text[32];
    // What snprintf does with %d takes no lock.
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

// The kernel sends what is typed to the whole foreground process group, the child included; only what somebody sent to
// this process alone is handed on.
static void hand_on(int number, siginfo_t *information, void *context) {
    (void)context;
    int saved = errno;
    int process = target;
    if (information->si_code == SI_KERNEL) {
        // Has reached the child as well.
    } else if (process == 0) {
        early = number;
    } else if (!is_confined) {
        kill(process, number);
    } else {
        // The program that confines, the first process inside, the command.
        int first = first_child(process);
        int command = first > 0 ? first_child(first) : 0;
        if (command > 0) {
            kill(command, number);
        } else if (platform_asks_for_end(number)) {
            kill(process, SIGKILL);
        }
    }
    errno = saved;
}

// The signals of `handed_on` that this process takes: what its caller has it ignore stays ignored, by the child too.
static void taken(sigset_t *set, int confined) {
    sigemptyset(set);
    for (int index = 0; index < HANDED_ON; index++) {
        struct sigaction action;
        // What confines stops with the command; nobody else could tell that it has.
        if (handed_on[index] == SIGTSTP && confined) {
            continue;
        }
        if (sigaction(handed_on[index], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            sigaddset(set, handed_on[index]);
        }
    }
}

static void set_handlers(const sigset_t *set) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART, .sa_sigaction = hand_on};
    for (int index = 0; index < HANDED_ON; index++) {
        if (sigismember(set, handed_on[index])) {
            sigaction(handed_on[index], &action, NULL);
        }
    }
}

static void remove_handlers(const sigset_t *set) {
    for (int index = 0; index < HANDED_ON; index++) {
        if (sigismember(set, handed_on[index])) {
            // Drops one that was sent before, and that no thread has got round to yet: it was meant for the child.
            signal(handed_on[index], SIG_IGN);
            signal(handed_on[index], SIG_DFL);
        }
    }
}

int platform_ignores(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void fail(int report, int error) {
    ssize_t written = write(report, &error, sizeof error);
    (void)written;
    _exit(127);
}

// In the child.
static void become(const struct platform_plan *plan, const sigset_t *handled, int gate, int report) {
    for (int index = 0; index < HANDED_ON; index++) {
        if (sigismember(handled, handed_on[index])) {
            signal(handed_on[index], SIG_DFL);
        }
    }
    signal(SIGPIPE, SIG_DFL);
    if (plan->is_confined) {
        for (int index = 0; index < HANDED_ON; index++) {
            if (platform_asks_for_end(handed_on[index])) {
                signal(handed_on[index], SIG_IGN);
            }
        }
    }
    // The threads of Swift's runtime block every signal.
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
    // Out of the way first: either may have the number that the other is to have.
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
    execvpe(plan->arguments[0], plan->arguments, plan->environment);
    fail(4, errno);
}

int platform_make_child(const struct platform_plan *plan, struct platform_child *child) {
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
    // No handler runs in the child.
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
            // What confines would ignore it.
            kill(process, plan->is_confined && platform_asks_for_end(number) ? SIGKILL : number);
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
    *child = (struct platform_child){.process = process, .gate = gate[1], .report = report[0]};
    return 0;
}

int platform_start_child(struct platform_child *child) {
    // A child that is gone has no gate to go through, which is no reason for a signal; it may have said why.
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

void platform_abandon_child(struct platform_child *child) {
    if (child->gate >= 0) {
        close(child->gate);
    }
    if (child->report >= 0) {
        close(child->report);
    }
    child->gate = child->report = -1;
}

// Whether the shell that waits for this process would want it to stop: it is in the foreground of its terminal.
static int is_in_foreground(void) {
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) {
        return 0;
    }
    int answer = tcgetpgrp(terminal) == getpgrp();
    close(terminal);
    return answer;
}

// The command has stopped, as an editor does at ^Z: the shell has to see this process stop.
static void stop_as_well(int process) {
    // One that is just being continued with this process is not stopped for long.
    usleep(20000);
    siginfo_t state = {0};
    if (waitid(P_PID, (id_t)process, &state, WSTOPPED | WNOHANG | WNOWAIT) != 0 || state.si_pid == 0) {
        return;
    }
    waitid(P_PID, (id_t)process, &state, WSTOPPED | WNOHANG);
    if (is_in_foreground()) {
        // To this thread, which is then not past the next line when the process stops.
        raise(SIGSTOP);
        kill(process, SIGCONT);
    }
}

int platform_await_child(int process, int *status) {
    sigset_t handled, before;
    sigemptyset(&handled);
    for (int index = 0; index < HANDED_ON; index++) {
        sigaddset(&handled, handed_on[index]);
    }
    int hands_on = target == process;
    if (hands_on) {
        pthread_sigmask(SIG_UNBLOCK, &handled, &before);
    }
    int error = 0;
    while (1) {
        siginfo_t state = {0};
        // Left a zombie: its number stays its own until no handler knows it any more.
        int options = WEXITED | WNOWAIT | (hands_on ? WSTOPPED : 0);
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
    if (hands_on) {
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

int platform_signal_process(int descriptor, int number) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0);
}
