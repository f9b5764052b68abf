#define _GNU_SOURCE
#include "CHostFaults.h"
#include "HostTrace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// Each thread has its own: tests of other files run at the same time.
static _Thread_local int mode = faults_off;
static _Thread_local long left;
static _Thread_local long seen;
static _Thread_local int error_number;

void faults_arm(enum faults_mode new_mode, long countdown, int error) {
    seen = 0;
    left = countdown;
    error_number = error;
    mode = new_mode;
}

void faults_disarm(void) { mode = faults_off; }

long faults_count(void) { return seen; }

// 1: make the change; 0: leave it out and say it was made; -1: fail.
static int next(void) {
    seen++;
    if (mode == faults_off) {
        return 1;
    }
    long now = left--;
    if (now > 1) {
        return 1;
    }
    if (mode == faults_crash) {
        return 0;
    }
    if (now == 1) {
        errno = error_number;
        return -1;
    }
    return 1;
}

static ssize_t written(int fd, const void *bytes, size_t count, off_t offset) {
    size_t done = 0;
    while (done < count) {
        size_t part = 4096 - (size_t)((offset + (off_t)done) & 4095);
        if (part > count - done) {
            part = count - done;
        }
        int verdict = next();
        if (verdict < 0) {
            return done > 0 ? (ssize_t)done : -1;
        }
        if (verdict > 0) {
            long wrote = syscall(SYS_pwrite64, fd, (const char *)bytes + done, part, offset + (off_t)done);
            if (wrote != (long)part) {
                return done > 0 ? (ssize_t)done : wrote;
            }
        }
        done += part;
    }
    return (ssize_t)count;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    int entered = trace_enter();
    ssize_t done = written(fd, bytes, count, offset);
    if (entered && done > 0) {
        trace_note((struct trace_entry){
            .kind = trace_wrote, .inode = trace_inode(fd, "", 1, NULL), .offset = offset, .bytes = bytes,
            .count = (size_t)done});
    }
    trace_leave(entered);
    return done;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    int entered = trace_enter();
    ssize_t done = syscall(SYS_write, fd, bytes, count);
    uint32_t kind = 0;
    uint64_t inode = entered && done > 0 ? trace_inode(fd, "", 1, &kind) : 0;
    if (inode != 0 && S_ISREG(kind)) {
        trace_note((struct trace_entry){
            .kind = trace_wrote, .inode = inode, .offset = lseek(fd, 0, SEEK_CUR) - done, .bytes = bytes,
            .count = (size_t)done});
    }
    trace_leave(entered);
    return done;
}

int ftruncate(int fd, off_t length) {
    int entered = trace_enter();
    int verdict = next();
    int result = verdict < 0 ? -1 : verdict == 0 ? 0 : (int)syscall(SYS_ftruncate, fd, length);
    if (entered && result == 0) {
        trace_note(
            (struct trace_entry){.kind = trace_resized, .inode = trace_inode(fd, "", 1, NULL), .length = length});
    }
    trace_leave(entered);
    return result;
}

int fallocate(int fd, int flags, off_t offset, off_t length) {
    int entered = trace_enter();
    int verdict = next();
    int result = verdict < 0 ? -1 : verdict == 0 ? 0 : (int)syscall(SYS_fallocate, fd, flags, offset, length);
    struct stat status;
    if (entered && result == 0 && fstat(fd, &status) == 0) {
        int punches = flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE);
        trace_note((struct trace_entry){
            .kind = punches ? trace_punched : trace_resized, .inode = trace_inode(fd, "", 1, NULL),
            .offset = punches ? offset : 0, .length = punches ? length : status.st_size});
    }
    trace_leave(entered);
    return result;
}

static _Thread_local int mirror = -1;

void faults_mirror(int fd) { mirror = fd; }

static int copied(int fd, int result) {
    if (result < 0 || mirror < 0) {
        return result;
    }
    char page[4096];
    off_t offset = 0;
    long got;
    syscall(SYS_ftruncate, mirror, (off_t)0);
    while ((got = syscall(SYS_pread64, fd, page, sizeof page, offset)) > 0) {
        syscall(SYS_pwrite64, mirror, page, (size_t)got, offset);
        offset += got;
    }
    return result;
}

static _Thread_local unsigned long synchronized[256];
static _Thread_local size_t synchronized_count;

void faults_forget_synchronized(void) { synchronized_count = 0; }

int faults_synchronized(unsigned long inode) {
    for (size_t index = 0; index < synchronized_count; index++) {
        if (synchronized[index] == inode) {
            return 1;
        }
    }
    return 0;
}

static int noted(int fd, int result) {
    struct statx status;
    size_t capacity = sizeof synchronized / sizeof *synchronized;
    // Not from whoever serves a mount: a test may count what it is asked.
    int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
    if (result == 0 && synchronized_count < capacity && statx(fd, "", flags, STATX_INO, &status) == 0) {
        synchronized[synchronized_count++] = status.stx_ino;
    }
    return copied(fd, result);
}

static int traced(int entered, enum trace_kind kind, int fd, int result) {
    if (entered && result == 0) {
        trace_note_synchronized(kind, fd);
    }
    trace_leave(entered);
    return noted(fd, result);
}

int fsync(int fd) {
    int entered = trace_enter();
    return traced(entered, trace_synchronized, fd, (int)syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
    int entered = trace_enter();
    return traced(entered, trace_synchronized_data, fd, (int)syscall(SYS_fdatasync, fd));
}
