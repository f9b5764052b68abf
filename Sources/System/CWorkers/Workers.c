// Takes the place of libdispatch's watch over its workers, in a program that has libdispatch inside it.
//
// On Linux libdispatch notes the threads that work for its queues, and looks each second at /proc whether they are
// blocked, to start others then. The look goes on for ever once a queue was used: it is all that an idle device would
// wake up for. This program's work that blocks has threads of its own (WorkQueue), so that nothing is to be seen. With
// these two functions, which are all that the rest of libdispatch calls, the linker leaves the watch out; where
// libdispatch is a library of its own, it has its own and these are not called.

/// Notes a worker of a queue.
void _dispatch_workq_worker_register(void *queue);
void _dispatch_workq_worker_unregister(void *queue);

void _dispatch_workq_worker_register(void *queue) { (void)queue; }

void _dispatch_workq_worker_unregister(void *queue) { (void)queue; }
