// An io_uring(7) for the commands of FUSE over io_uring, by its system calls: a ring that one thread makes, uses and
// ends with.
//
// liburing would be a further library for two system calls. The ring lies in memory that its owner gives, and has no
// descriptor: no program that this one starts can inherit it, and it ends with its thread.
#pragma once

#include <stdint.h>

enum {
    /// Bytes of memory for a ring of at most RING_MOST_ENTRIES: two pages.
    RING_MEMORY = 8192,
    RING_MOST_ENTRIES = 16,
    /// Of struct fuse_uring_req_header (linux/fuse.h): the request's and then the reply's header; the first argument of
    /// the request; commit number and size of the payload.
    RING_HEADER = 288,
    RING_OPERATION_OFFSET = 128,
    RING_COMMIT_OFFSET = 264,
    RING_PAYLOAD_SIZE_OFFSET = 272,
};

/// Used by the thread that made it, and by no other.
struct ring {
    int number;
    unsigned added;
    unsigned submission_mask;
    unsigned completion_mask;
    const unsigned *submission_head;
    unsigned *submission_tail;
    const unsigned *state;
    unsigned *completion_head;
    const unsigned *completion_tail;
    const void *completions;
    uint8_t *submissions;
};

/// The memory of one entry, as REGISTER tells it to the kernel: RING_HEADER bytes, and the payload.
struct ring_memory {
    void *header;
    uint64_t header_size;
    void *payload;
    uint64_t payload_size;
};

/// io_uring_setup(2). `memory` has RING_MEMORY zeroed bytes, aligned to a page, until the thread has ended.
/// Returns 0 or an errno.
int ring_make(struct ring *ring, void *memory, unsigned entries);

/// Adds FUSE_IO_URING_CMD_REGISTER. `memory` must be valid until `ring_submit`; `tag` comes back with the request.
void ring_add_register(struct ring *ring, int device, const struct ring_memory *memory, uint16_t queue, uint64_t tag);

/// Adds FUSE_IO_URING_CMD_COMMIT_AND_FETCH: the reply to the request of that number is in the entry's memory.
void ring_add_commit(struct ring *ring, int device, uint64_t commit, uint16_t queue, uint64_t tag);

/// io_uring_enter(2): submits the commands that were added, lets the kernel fill entries, and waits for a completion if
/// `wait` is 1. Returns 0 or an errno; EINTR after a signal.
int ring_submit(struct ring *ring, unsigned wait);

/// As `ring_submit`, but the kernel fills no entry, but for those of commits: with the next request of their queue.
int ring_send(struct ring *ring);

/// Takes the next completion. Returns 0 if there is none.
int ring_take(struct ring *ring, uint64_t *tag, int *result);

/// Whether `ring_submit` and `ring_take` would bring something: no system call.
int ring_has_news(const struct ring *ring);
