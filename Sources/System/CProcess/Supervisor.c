// The supervisor of a program: a process that nothing which the program starts gets away from.
//
// As a subreaper (prctl(2)) it becomes the parent of each descendant whose parent has ended. It runs after fork(2) in a
// copy of a process with threads: system calls only.

#define _GNU_SOURCE
#include "Supervisor.h"
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int process_tell(int socket, enum supervisor_word kind, int value) {
    struct supervisor_news news = {.kind = kind, .value = value};
    ssize_t count;
    do {
        count = send(socket, &news, sizeof news, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count == sizeof news;
}

struct supervisor_news process_hear(int socket) {
    struct supervisor_news news;
    ssize_t count;
    do {
        count = recv(socket, &news, sizeof news, 0);
    } while (count < 0 && errno == EINTR);
    return count == sizeof news ? news : (struct supervisor_news){.kind = SUPERVISOR_GONE};
}

struct supervision {
    int process;
    // Everything below this process is frozen, or about to be.
    int is_suspended;
    // The process that has suspended it; -1 while there is none that can be watched.
    int suspender;
    // -1 once nothing is to be told any more.
    int control;
    int signals;
    // The maker has been told of the end.
    int is_told;
    // The maker knows it: the zombie may go.
    int is_released;
    // Everything is to end.
    int is_ending;
};

// Kills each child. Their children become children of this process then. Returns how many there were.
static int kill_children(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    char text[4096];
    int killed = 0;
    int number = 0;
    ssize_t count;
    while ((count = read(file, text, sizeof text)) > 0) {
        for (ssize_t index = 0; index < count; index++) {
            if (text[index] >= '0' && text[index] <= '9') {
                number = number * 10 + (text[index] - '0');
            } else if (number > 0) {
                killed += kill(number, SIGKILL) == 0;
                number = 0;
            }
        }
    }
    if (number > 0) {
        killed += kill(number, SIGKILL) == 0;
    }
    close(file);
    return killed;
}

static int status_of(const siginfo_t *state) {
    return state->si_code == CLD_EXITED ? (state->si_status & 0xFF) << 8 : state->si_status & 0x7F;
}

static void release(struct supervision *supervision) {
    supervision->is_released = 1;
}

static void close_control(struct supervision *supervision) {
    if (supervision->control >= 0) {
        close(supervision->control);
    }
    supervision->control = -1;
}

static void resume(struct supervision *supervision) {
    supervision->is_suspended = 0;
    if (supervision->suspender >= 0) {
        close(supervision->suspender);
    }
    supervision->suspender = -1;
}

// The sender of a signal has suspended what is below this process. Should it end before it resumes that, nobody else
// would.
static void suspend(struct supervision *supervision, int sender) {
    resume(supervision);
    supervision->is_suspended = 1;
    // 0 for a sender that this process's namespace does not show.
    supervision->suspender = sender > 0 ? (int)syscall(SYS_pidfd_open, sender, 0U) : -1;
    if (supervision->suspender < 0 && sender > 0 && errno == ESRCH) {
        supervision->is_ending = 1;
    }
}

static void hear_signals(struct supervision *supervision) {
    struct signalfd_siginfo signal;
    while (read(supervision->signals, &signal, sizeof signal) == sizeof signal) {
        if (signal.ssi_signo == PROCESS_END_ALL) {
            supervision->is_ending = 1;
        } else if (signal.ssi_signo == PROCESS_SUSPENDED) {
            suspend(supervision, (int)signal.ssi_pid);
        } else if (signal.ssi_signo == PROCESS_RESUMED) {
            resume(supervision);
        }
    }
}

// Whether the process was stopped, and not by a suspension.
static int was_stopped(struct supervision *supervision) {
    siginfo_t state = {0};
    if (waitid(P_PID, (id_t)supervision->process, &state, WSTOPPED | WNOHANG) != 0 || state.si_pid == 0) {
        return 0;
    }
    // Word of a suspension comes before the stop.
    hear_signals(supervision);
    return !supervision->is_suspended;
}

// Tells of the process, and lets go of what has ended. Returns 0 when nothing is left.
static int see_to_children(struct supervision *supervision) {
    siginfo_t state = {0};
    if (!supervision->is_told && was_stopped(supervision)) {
        process_tell(supervision->control, SUPERVISOR_STOPPED, 0);
    }
    while (1) {
        memset(&state, 0, sizeof state);
        // WNOWAIT leaves a zombie, to see whose it is.
        if (waitid(P_ALL, 0, &state, WEXITED | WNOHANG | WNOWAIT) != 0) {
            return errno == EINTR;
        }
        if (state.si_pid == 0) {
            return 1;
        }
        if (state.si_pid == supervision->process && !supervision->is_released) {
            if (!supervision->is_told && !process_tell(supervision->control, SUPERVISOR_ENDED, status_of(&state))) {
                release(supervision);
            }
            supervision->is_told = 1;
            if (!supervision->is_released) {
                // Others that have ended wait behind it for a moment.
                return 1;
            }
        }
        waitpid(state.si_pid, NULL, 0);
    }
}

// A packet from the maker, or its end.
static void hear_maker(struct supervision *supervision) {
    struct supervisor_news news = process_hear(supervision->control);
    if (news.kind == SUPERVISOR_GONE && !supervision->is_told && getsid(0) != getpid()) {
        // Killed: a detached program has a session, and goes on without its maker.
        supervision->is_ending = 1;
    }
    if (news.kind == SUPERVISOR_GONE || news.kind == SUPERVISOR_RELEASED) {
        release(supervision);
    }
}

// Keeps nothing but what it needs: no pipe of the program, no directory of a mount.
static void let_go(struct supervision *supervision) {
    int control = fcntl(supervision->control, F_DUPFD_CLOEXEC, 16);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; number < 3 && nothing >= 0; number++) {
        dup2(nothing, number);
    }
    supervision->control = dup3(control, 3, O_CLOEXEC);
    syscall(SYS_close_range, 4U, ~0U, 0U);
    if (chdir("/") != 0) {
        // It keeps its directory then.
    }
    sigset_t heard;
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    sigaddset(&heard, PROCESS_END_ALL);
    sigaddset(&heard, PROCESS_SUSPENDED);
    sigaddset(&heard, PROCESS_RESUMED);
    supervision->signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
}

void process_supervise(int process, int control, const char *group) {
    struct supervision supervision = {.process = process, .suspender = -1, .control = control};
    let_go(&supervision);
    while (see_to_children(&supervision)) {
        if (supervision.is_released) {
            // The maker waits for that: what is left of the program is left to this process.
            close_control(&supervision);
        }
        int killed = supervision.is_ending ? kill_children() : 0;
        struct pollfd events[] = {
            {.fd = supervision.signals, .events = POLLIN},
            {.fd = supervision.control, .events = POLLIN},
            // Readable when that process has ended.
            {.fd = supervision.suspender, .events = POLLIN},
        };
        // A process that ends may leave children: they are looked for again soon, also if this user may not kill it.
        if (poll(events, 3, supervision.is_ending ? (killed > 0 ? 1 : 100) : -1) < 0) {
            continue;
        }
        // Of the process that it was before any news of another.
        if (events[2].revents != 0) {
            supervision.is_ending = 1;
            resume(&supervision);
        }
        hear_signals(&supervision);
        if (events[1].revents != 0) {
            hear_maker(&supervision);
        }
    }
    if (group != NULL) {
        // Nothing is in it any more, but perhaps groups that the program has made.
        rmdir(group);
    }
}
