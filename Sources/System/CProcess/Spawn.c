// Starting a program with an exact set of descriptors.

#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 8 };

int process_spawn(
    int *process, const char *path, char *const arguments[], char *const environment[], const int descriptors[],
    int count, int detached) {
    if (count > MOST_DESCRIPTORS) {
        return EINVAL;
    }
    // Duplicated above the target numbers, so that no dup2 overwrites the source of another.
    int high[MOST_DESCRIPTORS];
    int error = 0;
    for (int index = 0; index < count; index++) {
        high[index] = descriptors[index] < 0 ? -1 : fcntl(descriptors[index], F_DUPFD_CLOEXEC, 16);
        if (descriptors[index] >= 0 && high[index] < 0) {
            error = errno;
        }
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (error == 0) {
        for (int index = 0; index < count; index++) {
            if (high[index] >= 0) {
                posix_spawn_file_actions_adddup2(&actions, high[index], index);
            } else {
                posix_spawn_file_actions_addopen(&actions, index, "/dev/null", index == 0 ? O_RDONLY : O_WRONLY, 0);
            }
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, count);
        short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
        if (detached) {
            posix_spawn_file_actions_addchdir_np(&actions, "/");
            flags |= POSIX_SPAWN_SETSID;
        }
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, flags);
        error = posix_spawn(process, path, &actions, &attributes, arguments, environment ? environment : environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (int index = 0; index < count; index++) {
        if (high[index] >= 0) {
            close(high[index]);
        }
    }
    return error;
}

int process_wait(int process, int *status) {
    while (waitpid(process, status, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}
