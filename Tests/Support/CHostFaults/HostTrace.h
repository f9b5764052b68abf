// The recorder as the interposed functions use it: enter, make the call, note it, leave.
#pragma once

#include "CHostTrace.h"

/// Whether calls are recorded. If so, no other call is made before trace_leave.
int trace_enter(void);
/// Keeps errno.
void trace_leave(int entered);

/// An inode of the traced filesystem, and its mode; 0 for any other. `path` may be "" for `fd` itself.
uint64_t trace_inode(int fd, const char *path, int follow, uint32_t *mode);

/// Each copies what it is given, and does nothing for inode 0.
void trace_note(struct trace_entry entry);
/// Notes a change of a name, with the directory that a path names.
void trace_note_name(enum trace_kind kind, int directory, const char *path, const char *target);
/// Notes a synchronization, with its callers.
void trace_note_synchronized(enum trace_kind kind, int fd);
