#define _GNU_SOURCE
#include "HostTrace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

// Calls on attributes and modes, and those that copy inside the host. Owners, times and the flags of chattr(1) are not
// recorded: no content hangs on them.

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

// The call itself: the C library's own function, whose place ours takes, cannot be had.
static long direct(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long result __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
#else
#error "a system call of this architecture"
#endif
    if (result < 0 && result >= -4095) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static void note_mode(int fd, const char *path, int follow) {
    struct trace_entry entry = {.kind = trace_mode_changed};
    entry.inode = trace_inode(fd, path, follow, &entry.mode);
    trace_note(entry);
}

// Nothing else in the product's code makes a change by this function.
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
    long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (number != SYS_fchmodat2) {
        return direct(number, a, b, c, d, e, f);
    }
    int entered = trace_enter();
    long result = direct(number, a, b, c, d, e, f);
    if (entered && result == 0) {
        note_mode((int)a, (const char *)b, 0);
    }
    trace_leave(entered);
    return result;
}

int fchmod(int fd, mode_t mode) {
    int entered = trace_enter();
    int result = (int)syscall(SYS_fchmod, fd, mode);
    if (entered && result == 0) {
        note_mode(fd, "", 1);
    }
    trace_leave(entered);
    return result;
}

int chmod(const char *path, mode_t mode) {
    int entered = trace_enter();
    int result = (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
    if (entered && result == 0) {
        note_mode(AT_FDCWD, path, 1);
    }
    trace_leave(entered);
    return result;
}

static int attribute(
    long call, enum trace_kind kind, const char *path, const char *name, const void *value, size_t size, int flags) {
    int entered = trace_enter();
    int result = (int)syscall(call, path, name, value, size, flags);
    if (entered && result == 0) {
        struct trace_entry entry = {.kind = kind, .name = name, .bytes = value, .count = size};
        entry.inode = trace_inode(AT_FDCWD, path, call == SYS_setxattr || call == SYS_removexattr, NULL);
        trace_note(entry);
    }
    trace_leave(entered);
    return result;
}

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    return attribute(SYS_setxattr, trace_attribute_set, path, name, value, size, flags);
}

int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    return attribute(SYS_lsetxattr, trace_attribute_set, path, name, value, size, flags);
}

int removexattr(const char *path, const char *name) {
    return attribute(SYS_removexattr, trace_attribute_removed, path, name, NULL, 0, 0);
}

int lremovexattr(const char *path, const char *name) {
    return attribute(SYS_lremovexattr, trace_attribute_removed, path, name, NULL, 0, 0);
}

// Notes the content that a file has now in a range, as if it had been written.
static void note_content(int fd, off_t offset, size_t count) {
    uint8_t *bytes = malloc(count > 0 ? count : 1);
    long got = bytes == NULL ? -1 : syscall(SYS_pread64, fd, bytes, count, offset);
    if (got < 0) {
        abort();
    }
    trace_note((struct trace_entry){
        .kind = trace_wrote, .inode = trace_inode(fd, "", 1, NULL), .offset = offset, .bytes = bytes, .count = got});
    free(bytes);
}

ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t count, unsigned flags) {
    int entered = trace_enter();
    off_t start = to_offset != NULL ? *to_offset : lseek(to, 0, SEEK_CUR);
    long result = syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags);
    if (entered && result > 0) {
        note_content(to, start, (size_t)result);
    }
    trace_leave(entered);
    return result;
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    int entered = request == FICLONE ? trace_enter() : 0;
    int result = (int)syscall(SYS_ioctl, fd, request, argument);
    if (entered && result == 0) {
        off_t length = lseek(fd, 0, SEEK_END);
        note_content(fd, 0, length > 0 ? (size_t)length : 0);
    }
    trace_leave(entered);
    return result;
}

int syncfs(int fd) {
    int entered = trace_enter();
    int result = (int)syscall(SYS_syncfs, fd);
    if (entered && result == 0) {
        trace_note_synchronized(trace_synchronized_all, fd);
    }
    trace_leave(entered);
    return result;
}
