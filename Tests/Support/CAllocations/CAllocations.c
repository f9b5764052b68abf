#define _GNU_SOURCE
#include "CAllocations.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library's own, under the names that it keeps for whoever takes the public ones.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static _Thread_local long count;
static _Thread_local long bytes;
// Of all threads: memory is often unmapped by another thread.
static _Atomic long mapped;

long allocations_count(void) { return count; }
long allocations_bytes(void) { return bytes; }
long allocations_of_process(void) {
    struct mallinfo2 heap = mallinfo2();
    return (long)(heap.uordblks + heap.hblkhd) + mapped;
}

// The word in front of a block, where the allocator keeps its size, is paid for too.
static long cost(void *block) { return block == NULL ? 0 : (long)malloc_usable_size(block) + (long)sizeof(size_t); }

static void *taken(void *block) {
    count++;
    bytes += cost(block);
    return block;
}

void *malloc(size_t size) { return taken(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return taken(__libc_calloc(number, size)); }
void *memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

void *realloc(void *block, size_t size) {
    long before = cost(block);
    void *moved = __libc_realloc(block, size);
    if (moved != NULL || size == 0) {
        bytes -= before;
        taken(moved);
    }
    return moved;
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    void *block = memalign(alignment, size);
    if (block == NULL) {
        return ENOMEM;
    }
    *result = block;
    return 0;
}

void free(void *block) {
    bytes -= cost(block);
    __libc_free(block);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    void *place = (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
    if (place != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_FIXED) == 0) {
        mapped += (long)length;
    }
    return place;
}

int munmap(void *address, size_t length) {
    int result = (int)syscall(SYS_munmap, address, length);
    if (result == 0) {
        mapped -= (long)length;
    }
    return result;
}
