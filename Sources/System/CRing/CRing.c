#define _GNU_SOURCE
#include "CRing.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Flags of Linux 6.5 and 6.6, which older headers lack.
#define SETUP_NO_MMAP (1U << 14)
#define SETUP_REGISTERED_FD_ONLY (1U << 15)
#define SETUP_NO_SQARRAY (1U << 16)

#define COMMAND_REGISTER 1
#define COMMAND_COMMIT_AND_FETCH 2

#define SUBMISSION_SIZE 128

// struct fuse_uring_cmd_req (linux/fuse.h).
struct fuse_command {
    uint64_t flags;
    uint64_t commit;
    uint16_t queue;
    uint8_t padding[6];
};

int ring_make(struct ring *ring, void *memory, unsigned entries) {
    if (entries == 0 || entries > RING_MOST_ENTRIES) {
        return EINVAL;
    }
    uint8_t *rings = memory;
    uint8_t *submissions = rings + RING_MEMORY / 2;
    struct io_uring_params parameters = {
        // DEFER_TASKRUN: the kernel writes to an entry while this thread is in io_uring_enter, and at no other time.
        .flags = IORING_SETUP_SQE128 | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN
            | IORING_SETUP_TASKRUN_FLAG | SETUP_NO_MMAP | SETUP_REGISTERED_FD_ONLY | SETUP_NO_SQARRAY,
        .sq_off.resv2 = (uintptr_t)submissions,
        .cq_off.resv2 = (uintptr_t)rings,
    };
    long number = syscall(SYS_io_uring_setup, entries, &parameters);
    if (number < 0) {
        return errno;
    }
    *ring = (struct ring){
        .number = (int)number,
        .submission_mask = *(unsigned *)(rings + parameters.sq_off.ring_mask),
        .completion_mask = *(unsigned *)(rings + parameters.cq_off.ring_mask),
        .submission_head = (const unsigned *)(rings + parameters.sq_off.head),
        .submission_tail = (unsigned *)(rings + parameters.sq_off.tail),
        .state = (unsigned *)(rings + parameters.sq_off.flags),
        .completion_head = (unsigned *)(rings + parameters.cq_off.head),
        .completion_tail = (unsigned *)(rings + parameters.cq_off.tail),
        .completions = rings + parameters.cq_off.cqes,
        .submissions = submissions,
    };
    return 0;
}

// The caller adds no more commands than the ring has entries before it submits them.
static struct io_uring_sqe *next_submission(struct ring *ring, int device, uint32_t command, uint64_t tag) {
    unsigned tail = *ring->submission_tail + ring->added;
    void *memory = ring->submissions + (tail & ring->submission_mask) * SUBMISSION_SIZE;
    memset(memory, 0, SUBMISSION_SIZE);
    struct io_uring_sqe *submission = memory;
    submission->opcode = IORING_OP_URING_CMD;
    submission->fd = device;
    submission->cmd_op = command;
    submission->user_data = tag;
    ring->added++;
    return submission;
}

void ring_add_register(struct ring *ring, int device, const struct ring_memory *memory, uint16_t queue, uint64_t tag) {
    struct io_uring_sqe *submission = next_submission(ring, device, COMMAND_REGISTER, tag);
    // struct ring_memory is an iovec of two.
    submission->addr = (uintptr_t)memory;
    submission->len = 2;
    struct fuse_command command = {.queue = queue};
    memcpy(submission->cmd, &command, sizeof command);
}

void ring_add_commit(struct ring *ring, int device, uint64_t commit, uint16_t queue, uint64_t tag) {
    struct io_uring_sqe *submission = next_submission(ring, device, COMMAND_COMMIT_AND_FETCH, tag);
    struct fuse_command command = {.commit = commit, .queue = queue};
    memcpy(submission->cmd, &command, sizeof command);
}

static int enter(struct ring *ring, unsigned wait, unsigned flags) {
    if (ring->added > 0) {
        __atomic_store_n(ring->submission_tail, *ring->submission_tail + ring->added, __ATOMIC_RELEASE);
        ring->added = 0;
    }
    // More than those just added after a call that failed.
    unsigned waiting = *ring->submission_tail - __atomic_load_n(ring->submission_head, __ATOMIC_ACQUIRE);
    unsigned all = flags | IORING_ENTER_REGISTERED_RING;
    long count = syscall(SYS_io_uring_enter, ring->number, waiting, wait, all, NULL, 0);
    if (count < 0) {
        return errno;
    }
    // A signal while it waits, after commands were submitted, shows as their number. Fewer than were added are an error
    // too.
    unsigned left = *ring->submission_tail - __atomic_load_n(ring->submission_head, __ATOMIC_ACQUIRE);
    return left > 0 ? EAGAIN : 0;
}

int ring_submit(struct ring *ring, unsigned wait) {
    return enter(ring, wait, IORING_ENTER_GETEVENTS);
}

// Without GETEVENTS the kernel does not run what it has deferred for this thread.
int ring_send(struct ring *ring) {
    return enter(ring, 0, 0);
}

int ring_take(struct ring *ring, uint64_t *tag, int *result) {
    unsigned head = *ring->completion_head;
    if (head == __atomic_load_n(ring->completion_tail, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    const struct io_uring_cqe *completions = ring->completions;
    const struct io_uring_cqe *completion = completions + (head & ring->completion_mask);
    *tag = completion->user_data;
    *result = completion->res;
    __atomic_store_n(ring->completion_head, head + 1, __ATOMIC_RELEASE);
    return 1;
}

int ring_has_news(const struct ring *ring) {
    return (__atomic_load_n(ring->state, __ATOMIC_ACQUIRE) & IORING_SQ_TASKRUN) != 0
        || *ring->completion_head != __atomic_load_n(ring->completion_tail, __ATOMIC_ACQUIRE);
}
