// A process that ends the FUSE mounts of its parent if the parent is killed.
//
// A thread that waits in the kernel for a mount of its own process (a notification or syncfs that has to write dirty
// pages) cannot be killed. If all other threads are, nobody answers it. While it waits, the process keeps /dev/fuse
// open, so that the kernel does not end the mount, and all users of the mount hang. The guard sees the other threads
// gone and that one left, and aborts the connection.
//
// Callers in a mount over io_uring that wait for a stopped process (SIGSTOP) are not freed by an abort of the
// connection (fs/fuse/dev_uring.c): their requests lie in its rings. The guard kills it after a while.
//
// fork(2) from a process with threads: the guard makes system calls only and uses memory of its own.

#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_MOUNTS 256
// Between two looks at a process of which a thread has ended.
#define LOOK_MILLISECONDS 500
#define MOST_LOOKS 10
// Between two looks at a process that may be stopped, and how long it may be: somebody who stops a process by hand may
// want to see that its callers wait.
#define STOP_LOOK_MILLISECONDS 2500
#define MOST_STOPPED_MILLISECONDS 5000

static struct guarded_mount mounts[MOST_MOUNTS];

static void record(const struct guarded_mount *news) {
    for (int index = 0; index < MOST_MOUNTS; index++) {
        if (news->is_mounted ? mounts[index].is_mounted == 0
                             : mounts[index].is_mounted != 0 && mounts[index].connection == news->connection) {
            mounts[index] = *news;
            return;
        }
    }
}

static void end_mounts(void) {
    for (int index = 0; index < MOST_MOUNTS; index++) {
        if (mounts[index].is_mounted == 0) {
            continue;
        }
        char path[64];
        snprintf(path, sizeof path, "/sys/fs/fuse/connections/%u/abort", mounts[index].connection);
        int control = open(path, O_WRONLY | O_CLOEXEC);
        if (control != -1) {
            ssize_t written = write(control, "1", 1);
            close(control);
            if (written == 1) {
                continue;
            }
        }
        // Where fusectl is not mounted. Only root may do this.
        umount2(mounts[index].path, MNT_FORCE);
    }
}

enum state { GONE, ALIVE, HALF_GONE, STOPPED };

// GONE: or about to be. HALF_GONE: the first thread has ended and others have not.
static enum state state_of(pid_t process) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file == -1) {
        return GONE;
    }
    ssize_t count = read(file, line, sizeof line - 1);
    close(file);
    if (count <= 0) {
        return GONE;
    }
    line[count] = 0;
    const char *end = strrchr(line, ')');
    if (end == NULL) {
        return GONE;
    }
    if (end[2] == 'T') {
        return STOPPED;
    }
    if (end[2] != 'Z' && end[2] != 'X') {
        return ALIVE;
    }
    // The number of threads: field 20 of proc_pid_stat(5), 17 after the state.
    const char *field = end + 2;
    for (int index = 0; index < 17 && field != NULL; index++) {
        field = strchr(field + 1, ' ');
    }
    return field != NULL && atoi(field + 1) > 1 ? HALF_GONE : GONE;
}

// Whether callers wait in a mount over io_uring.
static int has_ring_callers(void) {
    for (int index = 0; index < MOST_MOUNTS; index++) {
        if (mounts[index].is_mounted == 0 || mounts[index].uses_rings == 0) {
            continue;
        }
        char path[64], line[32];
        snprintf(path, sizeof path, "/sys/fs/fuse/connections/%u/waiting", mounts[index].connection);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file == -1) {
            // Where fusectl is not mounted nothing tells: better to end one process than to let callers wait.
            return 1;
        }
        ssize_t count = read(file, line, sizeof line - 1);
        close(file);
        line[count > 0 ? count : 0] = 0;
        if (atoi(line) > 0) {
            return 1;
        }
    }
    return 0;
}

static int serves_rings(void) {
    for (int index = 0; index < MOST_MOUNTS; index++) {
        if (mounts[index].is_mounted != 0 && mounts[index].uses_rings != 0) {
            return 1;
        }
    }
    return 0;
}

static void take_note(int number) { (void)number; }

// Has the kernel send a signal to this process whenever the thread ends whose child it is. A process's first thread is
// next after the one that made this process; in a daemon it waits for signals only, and ends at once with a kill.
// Nothing else reports that the first thread has ended and others have not: a pidfd stopped doing so with Linux 6.15.
static void expect_ends(void) {
    struct sigaction action = {.sa_handler = take_note};
    sigaction(SIGUSR1, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
}

static _Noreturn void stand_by(pid_t process, int news) {
    // Blocked but while this process waits, so that none comes between a look and the wait.
    sigset_t only, none;
    sigemptyset(&none);
    sigemptyset(&only);
    sigaddset(&only, SIGUSR1);
    sigprocmask(SIG_SETMASK, &only, NULL);
    expect_ends();
    int looks = MOST_LOOKS, stopped_milliseconds = 0;
    while (1) {
        // Nothing reports that a process was stopped.
        const long wait = looks > 0 ? LOOK_MILLISECONDS : STOP_LOOK_MILLISECONDS;
        const struct timespec pause = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000};
        struct pollfd event = {.fd = news, .events = POLLIN};
        if (ppoll(&event, 1, looks > 0 || serves_rings() ? &pause : NULL, &none) == -1) {
            // A thread is about to end. The state of the process may tell so a moment later only.
            looks = MOST_LOOKS;
            event.revents = 0;
        } else if (looks > 0) {
            looks -= 1;
        }
        struct guarded_mount mount;
        if (event.revents & POLLIN && read(news, &mount, sizeof mount) == (ssize_t)sizeof mount) {
            record(&mount);
            continue;
        }
        enum state state = state_of(process);
        stopped_milliseconds = state == STOPPED && has_ring_callers() ? stopped_milliseconds + (int)wait : 0;
        if (stopped_milliseconds > MOST_STOPPED_MILLISECONDS) {
            kill(process, SIGKILL);
        }
        // Threads take time to end. One that is still there after a while waits in vain.
        while (state_of(process) == HALF_GONE) {
            usleep(200 * 1000);
            if (state_of(process) == HALF_GONE) {
                end_mounts();
            }
        }
        if (state_of(process) == GONE) {
            _exit(0);
        }
        if (event.revents & POLLHUP) {
            // The parent lives and has dismissed its guard.
            _exit(0);
        }
    }
}

int process_start_guard(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == -1) {
        return -1;
    }
    pid_t process = getpid();
    pid_t guard = fork();
    if (guard == 0) {
        for (int number = SIGHUP; number <= SIGTERM; number++) {
            signal(number, SIG_IGN);
        }
        prctl(PR_SET_NAME, "appcontainer-by");
        dup2(ends[0], 3);
        // Keeps none of the parent's descriptors: others tell by its standard streams whether it lives.
        int null = open("/dev/null", O_RDWR);
        for (int stream = 0; null != -1 && stream < 3; stream++) {
            dup2(null, stream);
        }
        syscall(SYS_close_range, 4U, ~0U, 0U);
        stand_by(process, 3);
    }
    int error = errno;
    close(ends[0]);
    if (guard == -1) {
        close(ends[1]);
        errno = error;
        return -1;
    }
    return ends[1];
}
