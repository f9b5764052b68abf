#define _GNU_SOURCE
#include "HostTrace.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_int armed;
static dev_t device;
static struct trace_entry *entries;
static size_t entry_count, capacity;

static dev_t device_of(const struct statx *status) { return makedev(status->stx_dev_major, status->stx_dev_minor); }

void trace_arm(int fd) {
    struct statx status;
    pthread_mutex_lock(&turn);
    for (size_t index = 0; index < entry_count; index++) {
        free((void *)entries[index].name);
        free((void *)entries[index].other_name);
        free((void *)entries[index].bytes);
        free((void *)entries[index].callers);
    }
    entry_count = 0;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO, &status) != 0) {
        abort();
    }
    device = device_of(&status);
    atomic_store(&armed, 1);
    pthread_mutex_unlock(&turn);
}

void trace_disarm(void) {
    pthread_mutex_lock(&turn);
    atomic_store(&armed, 0);
    pthread_mutex_unlock(&turn);
}

size_t trace_count(void) { return entry_count; }

const struct trace_entry *trace_at(size_t index) { return &entries[index]; }

static _Thread_local int error_number;

int trace_enter(void) {
    if (!atomic_load_explicit(&armed, memory_order_relaxed)) {
        return 0;
    }
    pthread_mutex_lock(&turn);
    return 1;
}

void trace_leave(int entered) {
    if (entered) {
        error_number = errno;
        pthread_mutex_unlock(&turn);
        errno = error_number;
    }
}

uint64_t trace_inode(int fd, const char *path, int follow, uint32_t *mode) {
    struct statx status;
    int flags = AT_STATX_DONT_SYNC | (*path == 0 ? AT_EMPTY_PATH : follow ? 0 : AT_SYMLINK_NOFOLLOW);
    int kept = errno;
    int failed = statx(fd, path, flags, STATX_INO | STATX_TYPE | STATX_MODE, &status) != 0;
    errno = kept;
    if (failed || device_of(&status) != device) {
        return 0;
    }
    if (mode != NULL) {
        *mode = status.stx_mode;
    }
    return status.stx_ino;
}

static void *copied(const void *bytes, size_t count) {
    void *copy = bytes == NULL ? NULL : malloc(count > 0 ? count : 1);
    if (copy != NULL && count > 0) {
        memcpy(copy, bytes, count);
    }
    return copy;
}

void trace_note(struct trace_entry entry) {
    if (entry.inode == 0) {
        return;
    }
    if (entry_count == capacity) {
        capacity = capacity * 2 + 1024;
        entries = realloc(entries, capacity * sizeof *entries);
        if (entries == NULL) {
            abort();
        }
    }
    entry.name = entry.name == NULL ? NULL : strdup(entry.name);
    entry.other_name = entry.other_name == NULL ? NULL : strdup(entry.other_name);
    entry.bytes = copied(entry.bytes, entry.count);
    entry.callers = copied(entry.callers, entry.caller_count * sizeof *entry.callers);
    entries[entry_count++] = entry;
}

// The inode of the directory that a path lies in, and the path's last name.
static uint64_t parent(int directory, const char *path, const char **name) {
    const char *slash = strrchr(path, '/');
    char above[4096];
    if (slash == NULL) {
        *name = path;
        return trace_inode(directory, directory == AT_FDCWD ? "." : "", 1, NULL);
    }
    *name = slash + 1;
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof above) {
        abort();
    }
    memcpy(above, path, length);
    above[length] = 0;
    return trace_inode(directory, above, 1, NULL);
}

void trace_note_name(enum trace_kind kind, int directory, const char *path, const char *target) {
    struct trace_entry entry = {.kind = kind};
    entry.directory = parent(directory, path, &entry.name);
    entry.inode = kind == trace_removed ? entry.directory : trace_inode(directory, path, 0, &entry.mode);
    entry.bytes = (const uint8_t *)target;
    entry.count = target == NULL ? 0 : strlen(target);
    if (entry.directory != 0) {
        trace_note(entry);
    }
}

void trace_note_synchronized(enum trace_kind kind, int fd) {
    enum { DEEPEST = 96 };
    void *callers[DEEPEST];
    int count = backtrace(callers, DEEPEST);
    struct trace_entry entry = {.kind = kind, .inode = trace_inode(fd, "", 1, NULL)};
    entry.callers = callers;
    entry.caller_count = count > 0 ? (size_t)count : 0;
    trace_note(entry);
}

void trace_mark(int64_t number) {
    int entered = trace_enter();
    if (entered) {
        trace_note((struct trace_entry){.kind = trace_marked, .inode = 1, .offset = number});
    }
    trace_leave(entered);
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    int entered = trace_enter();
    int result = (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
    if (entered && result == 0) {
        struct trace_entry entry = {.kind = trace_renamed, .length = flags};
        entry.directory = parent(from_directory, from, &entry.name);
        entry.other_directory = parent(to_directory, to, &entry.other_name);
        entry.inode = entry.directory;
        trace_note(entry);
    }
    trace_leave(entered);
    return result;
}

int renameat(int from_directory, const char *from, int to_directory, const char *to) {
    return renameat2(from_directory, from, to_directory, to, 0);
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
