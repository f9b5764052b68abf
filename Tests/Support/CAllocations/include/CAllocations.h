// Takes the place of the C library's allocator in a test process, which stays behind it, and counts for each thread
// what the thread asked it for.
#pragma once

/// Blocks that the calling thread has taken from the heap so far.
long allocations_count(void);

/// Bytes that the calling thread has taken from the heap and not given back, with what the allocator adds to each
/// block. Negative when it gave back what others took.
long allocations_bytes(void);

/// Bytes that all threads of the process have from the heap, and those of their own mappings without a file, whether
/// they were touched or not. Unlike the resident set it does not depend on what the allocator keeps.
long allocations_of_process(void);
