// The signals that a process hands on to the child that it waits for.

#define _GNU_SOURCE
#include "Signals.h"
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

// Signals by which a shell, a terminal or a harness ends, stops or continues a command, or has it redraw. SIGTSTP comes
// last.
const int process_forwarded[PROCESS_FORWARDED] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                                                          SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};

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

// The kernel sends the terminal's signals to the whole foreground process group, the child included. Only signals that
// were sent to this process alone are forwarded.
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
void process_taken(sigset_t *set, int confined) {
    sigemptyset(set);
    for (int index = 0; index < PROCESS_FORWARDED; index++) {
        struct sigaction action;
        // bubblewrap stops with the command; nothing else shows that the command stopped.
        if (process_forwarded[index] == SIGTSTP && confined) {
            continue;
        }
        if (sigaction(process_forwarded[index], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            sigaddset(set, process_forwarded[index]);
        }
    }
}

void process_set_handlers(const sigset_t *set) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART, .sa_sigaction = forward};
    for (int index = 0; index < PROCESS_FORWARDED; index++) {
        if (sigismember(set, process_forwarded[index])) {
            sigaction(process_forwarded[index], &action, NULL);
        }
    }
}

void process_remove_handlers(const sigset_t *set) {
    for (int index = 0; index < PROCESS_FORWARDED; index++) {
        if (sigismember(set, process_forwarded[index])) {
            // Drops a pending signal: it was meant for the child.
            signal(process_forwarded[index], SIG_IGN);
            signal(process_forwarded[index], SIG_DFL);
        }
    }
}

int process_ignores(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void process_forward_to(int process, int confined) {
    target = process;
    int number = early;
    if (process != 0 && number != 0) {
        // bubblewrap would ignore it.
        kill(process, confined && process_asks_for_end(number) ? SIGKILL : number);
    }
}

int process_forwards_to(int process) { return target == process; }

void process_forward_confined(int confined) { is_confined = confined; }

int process_is_confined(void) { return is_confined; }
