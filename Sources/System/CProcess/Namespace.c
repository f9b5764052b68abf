// A user namespace for a program that the superuser confines.

#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Writes a file of a process in /proc with one write, as maps have to be. Returns 0 or an error number.
static int write_map(int process, const char *name, unsigned identifier) {
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    int length = identifier == 0 ? snprintf(text, sizeof text, "0 0 1\n")
                                 : snprintf(text, sizeof text, "0 0 1\n%u %u 1\n", identifier, identifier);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return errno;
    }
    int error = write(file, text, (size_t)length) == length ? 0 : errno;
    close(file);
    return error;
}

int process_make_namespace(unsigned user, unsigned group) {
    // A process that is the first of the namespace until a descriptor keeps it. It makes no call but to wait for its
    // end.
    pid_t first = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
    if (first == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (1) {
            pause();
        }
    }
    if (first < 0) {
        return -1;
    }
    int error = write_map(first, "uid_map", user);
    if (error == 0) {
        error = write_map(first, "gid_map", group);
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)first);
    int space = error == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (error == 0 && space < 0) {
        error = errno;
    }
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    errno = error;
    return space;
}
