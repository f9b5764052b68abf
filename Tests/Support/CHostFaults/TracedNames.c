#define _GNU_SOURCE
#include "HostTrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Calls that give and take names. Paths through /proc/self/fd are looked up as the kernel does.

static int noted(int entered, int result, enum trace_kind kind, int directory, const char *path, const char *target) {
    if (entered && result == 0) {
        trace_note_name(kind, directory, path, target);
    }
    trace_leave(entered);
    return result;
}

int mkdirat(int directory, const char *path, mode_t mode) {
    int entered = trace_enter();
    return noted(entered, (int)syscall(SYS_mkdirat, directory, path, mode), trace_made, directory, path, NULL);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int mknodat(int directory, const char *path, mode_t mode, dev_t number) {
    int entered = trace_enter();
    return noted(entered, (int)syscall(SYS_mknodat, directory, path, mode, number), trace_made, directory, path, NULL);
}

int symlinkat(const char *target, int directory, const char *path) {
    int entered = trace_enter();
    return noted(entered, (int)syscall(SYS_symlinkat, target, directory, path), trace_made, directory, path, target);
}

int linkat(int from_directory, const char *from, int directory, const char *path, int flags) {
    int entered = trace_enter();
    int result = (int)syscall(SYS_linkat, from_directory, from, directory, path, flags);
    return noted(entered, result, trace_linked, directory, path, NULL);
}

int unlinkat(int directory, const char *path, int flags) {
    int entered = trace_enter();
    return noted(entered, (int)syscall(SYS_unlinkat, directory, path, flags), trace_removed, directory, path, NULL);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

static int opened(int directory, const char *path, int flags, mode_t mode) {
    if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_PATH)) {
        return (int)syscall(SYS_openat, directory, path, flags, mode);
    }
    int entered = trace_enter();
    int existed = entered && trace_inode(directory, path, 1, NULL) != 0;
    int fd = (int)syscall(SYS_openat, directory, path, flags, mode);
    if (entered && fd >= 0 && !existed) {
        trace_note_name(trace_made, directory, path, NULL);
    }
    if (entered && fd >= 0 && existed && flags & O_TRUNC) {
        trace_note((struct trace_entry){.kind = trace_resized, .inode = trace_inode(fd, "", 1, NULL)});
    }
    trace_leave(entered);
    return fd;
}

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return opened(AT_FDCWD, path, flags, mode);
}

static _Thread_local long opens;

long faults_opens(void) { return opens; }

int openat(int directory, const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    opens++;
    return opened(directory, path, flags, mode);
}
