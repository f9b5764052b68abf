// Records every call of this process that changes a filesystem, with its content, so that a test can replay the calls
// and ask what a host that loses power would have kept. It takes the place of the C library's functions, and of
// fchmodat2 through syscall(2). Calls of all threads are recorded, in the order in which they took effect.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum trace_kind {
    /// `inode` of `mode` came to be as `name` in `directory`; `bytes` is a symbolic link's target.
    trace_made,
    /// `bytes` at `offset`.
    trace_wrote,
    /// The length is `length` now.
    trace_resized,
    /// `length` bytes from `offset` are zeros now; the length of the file stays.
    trace_punched,
    /// `inode` has a further name.
    trace_linked,
    trace_removed,
    /// `name` in `directory` to `other_name` in `other_directory`; `length` has the flags of renameat2.
    trace_renamed,
    /// `name` is the attribute's.
    trace_attribute_set,
    trace_attribute_removed,
    trace_mode_changed,
    trace_synchronized,
    trace_synchronized_data,
    trace_synchronized_all,
    /// Of the test itself: `offset` is its number.
    trace_marked,
};

/// The parts that a kind does not name are zero.
struct trace_entry {
    enum trace_kind kind;
    uint32_t mode;
    uint64_t inode, directory, other_directory;
    int64_t offset, length;
    const char *name, *other_name;
    const uint8_t *bytes;
    size_t count;
    /// Return addresses of a synchronization, from the inside out.
    void *const *callers;
    size_t caller_count;
};

/// Forgets what was recorded, and records calls on the filesystem that has the directory open as `fd`.
void trace_arm(int fd);
void trace_disarm(void);
/// Records a moment of the test's own.
void trace_mark(int64_t number);

size_t trace_count(void);
/// Valid until the next arming.
const struct trace_entry *trace_at(size_t index);

/// The demangled name of the function of this program that holds an address, which the caller frees; null for a
/// function of a library.
char *trace_function(const void *address);
