// System calls and constants that glibc declares under _GNU_SOURCE only, which a header that Swift imports must not
// define (Swift would see two definitions of fd_set). Each function is the call itself: -1 and errno on failure.
// Includes the compiler's own headers only: Swift confuses a type that two modules declare.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern const int platform_O_PATH;
extern const int platform_O_TMPFILE;
extern const int platform_O_NOATIME;
extern const int platform_AT_EMPTY_PATH;
extern const int platform_SEEK_DATA;
extern const int platform_SEEK_HOLE;

enum {
    platform_FALLOC_KEEP_SIZE = 0x01,
    platform_FALLOC_PUNCH_HOLE = 0x02,
    platform_FALLOC_ZERO_RANGE = 0x10,
    platform_RENAME_NOREPLACE = 1,
    platform_RENAME_EXCHANGE = 2,
};

int platform_fallocate(int fd, int mode, int64_t offset, int64_t length);
int platform_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags);
long platform_getdents64(int fd, void *buffer, size_t size);
int platform_syncfs(int fd);
/// SYNC_FILE_RANGE_WRITE: dirty pages of the range start on their way to the disk, and nothing waits for them.
int platform_begin_writeback(int fd, int64_t offset, int64_t count);

/// Takes CAP_FSETID out of this thread's effective set (0) or puts it back (1). Without it the host clears the
/// set-user-ID and set-group-ID bits of a file that is written to, as it would for the application itself.
int platform_capability_fsetid(int effective);

/// Gives every thread of a superuser's process the effective user and group of another, with the groups that the user
/// database names, so that the kernel lets this process do to files what that user may. The real and the saved user
/// stay.
int platform_act_as(unsigned user, unsigned group);

/// setresuid(2) and setresgid(2) of the effective user and group, of the calling thread alone: glibc's own functions
/// change all threads.
int platform_set_thread_user(unsigned user, unsigned group);

/// fchmodat2(2) with AT_SYMLINK_NOFOLLOW. Linux 6.6 has it.
int platform_change_mode(int directory, const char *name, unsigned mode);

/// FS_IOC_GETFLAGS and FS_IOC_SETFLAGS on an open descriptor.
int platform_get_inode_flags(int fd, uint32_t *flags);
int platform_set_inode_flags(int fd, uint32_t flags);

/// The processor's pause between two looks at memory that another one changes.
static inline void platform_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

long platform_copy_file_range(int from, int64_t *from_offset, int to, int64_t *to_offset, size_t count);

/// The filesystem's magic number and the size of its blocks, by fstatfs(2).
int platform_filesystem_type(int fd, int64_t *type, int64_t *block_size);

/// When the file came into being, by statx(2); -1 and ENODATA where the host filesystem does not record it.
int platform_birth_time(int fd, int64_t *seconds, uint32_t *nanoseconds);

/// The result of fstat. The times of modification and change stay as they are in `status`, a struct stat.
/// A kernel with multigrain timestamps notes that somebody looked at those, and gives the next write a time of its own.
int platform_status_without_write_times(int fd, void *status);

/// The numbers that sysfs knows a device by, out of a struct stat's st_dev: makedev(3).
unsigned platform_device_major(uint64_t device);
unsigned platform_device_minor(uint64_t device);

/// "EPERM" for EPERM; null for a number that is no error's.
const char *platform_error_name(int error);

/// FICLONE: `to` shares all extents of `from`, where the host filesystem can.
int platform_clone_file(int from, int to);

/// Two ends of a socket that a program started by this one does not get.
int platform_socket_pair(int ends[2]);

/// A descriptor that came over the socket; -1 and errno when the other end closed without sending one.
int platform_receive_descriptor(int socket);

/// Two ends that a program started by this one does not get.
int platform_pipe(int ends[2]);

/// A descriptor that can be read when entries of a directory were removed or moved out of it (inotify), and does not
/// make a read of nothing wait.
int platform_watch_removals(const char *directory);

/// A descriptor that can be read while a read of another, or a write to it, would not wait (epoll). It never hangs up.
int platform_watch_readiness(int descriptor, int writing);

/// The user at the other end of a connected Unix socket (SO_PEERCRED).
int platform_peer_user(int socket, uint32_t *user);
/// The process at the other end; 0 for one of a PID namespace that this process does not see.
int platform_peer_process(int socket, int32_t *process);
/// The connection of the next client, non-blocking and closed on exec (accept4).
int platform_accept(int socket);

int platform_pidfd_open(int process);

/// Remembers a pointer for the calling thread, and answers it; null in a thread that has remembered none.
void platform_remember(const void *pointer);
const void *platform_remembered(void);

/// sem_clockwait(3) on a sem_t, until CLOCK_MONOTONIC shows so many nanoseconds.
int platform_wait_until(void *semaphore, uint64_t nanoseconds);

/// Names the calling thread, by at most 15 bytes.
void platform_name_thread(const char *name);

/// sched_setaffinity(2) of the calling thread: one processor, or all that `platform_allowed` showed at the process's
/// start.
int platform_run_on(unsigned processor);
int platform_run_anywhere(void);
/// Whether the calling thread is bound by `platform_run_on`.
int platform_is_bound(void);
/// Whether the process might use a processor when `platform_allowed` was first called.
int platform_allowed(unsigned processor);

/// Zeroes the calling thread's stack below the caller, as far as a request reaches, and its vector registers: a signal
/// has the kernel store those on the stack.
void platform_wipe_stack(void);

/// The kind of call on content that a system call's number stands for.
enum platform_content_call {
    PLATFORM_CALL_OTHER,
    PLATFORM_CALL_READ,
    PLATFORM_CALL_WRITE,
    PLATFORM_CALL_TRUNCATE,
    PLATFORM_CALL_FALLOCATE,
    PLATFORM_CALL_SEEK,
};
enum platform_content_call platform_content_call(long number);

/// malloc_trim(3), which Swift's Glibc lacks.
void platform_trim_heap(void);

/// M_ARENA_MAX of mallopt(3), which Swift's Glibc lacks. Before the first thread is made.
void platform_limit_arenas(int count);

/// The number of the mount that a descriptor leads to, which no other mount ever has. -1 with ENOSYS before Linux 6.8.
int platform_mount_number(int fd, uint64_t *number);

/// A mount as statmount(2) describes it. The texts lie in the caller's memory.
struct platform_mount {
    /// STATMOUNT_*: what the kernel told.
    uint64_t told;
    uint64_t attributes;
    /// Its number in mountinfo.
    uint32_t listed_number;
    uint32_t filesystem_flags;
    uint32_t minor;
    const char *root, *mount_point, *type, *subtype, *source, *options;
};

enum {
    platform_STATMOUNT_SB_BASIC = 0x1,
    platform_STATMOUNT_MNT_BASIC = 0x2,
    platform_STATMOUNT_MNT_ROOT = 0x8,
    platform_STATMOUNT_MNT_POINT = 0x10,
    platform_STATMOUNT_FS_TYPE = 0x20,
    platform_STATMOUNT_MNT_OPTS = 0x80,
    platform_STATMOUNT_FS_SUBTYPE = 0x100,
    platform_STATMOUNT_SB_SOURCE = 0x200,
};

/// Describes the mount with such a number. -1 with ENOSYS before Linux 6.8, EOVERFLOW where the memory is too small.
/// - Parameters:
///   - wanted: STATMOUNT_*; the kernel leaves out those that it does not know, and a text that the mount has not.
///   - memory: for the answer, aligned for 64 bits; 512 bytes and the texts.
int platform_statmount(uint64_t number, uint64_t wanted, void *memory, size_t size, struct platform_mount *mount);

/// The numbers of this namespace's mounts after one of them, in the order of mounting. -1 with ENOSYS before Linux 6.8.
long platform_listmount(uint64_t after, uint64_t *numbers, size_t count);

/// Binds a directory to another, read-only from the first moment; mounts below it are not part of the bind.
int platform_bind_read_only(const char *source, const char *target);

/// Has the filesystem asked for a file's status anew (AT_STATX_FORCE_SYNC of statx(2)).
int platform_refresh_status(int fd);

/// open_by_handle_at(2), which Swift's Glibc lacks: `bytes` are what name_to_handle_at(2) tells of a file.
int platform_open_by_handle(int mount, int type, const void *bytes, unsigned count, int flags);

/// getrandom(2) and the calls of xattr(7), whose headers Swift's Glibc lacks. `follow` 0 acts on a symbolic link
/// itself.
long platform_getrandom(void *buffer, size_t size);
long platform_getxattr(const char *path, const char *name, void *value, size_t size, int follow);
/// getxattrat(2) of an entry, a symbolic link itself. Linux 6.13 has it.
long platform_getxattrat(int directory, const char *name, const char *attribute, void *value, size_t size);
int platform_setxattr(const char *path, const char *name, const void *value, size_t size, int flags, int follow);
int platform_removexattr(const char *path, const char *name, int follow);
long platform_listxattr(const char *path, char *list, size_t size, int follow);

/// pidfd_send_signal(2).
int platform_signal_process(int descriptor, int number);

/// Installs a handler, once, that tells of a SIGBUS which a mapping in a mount of a device has caused: the file, its
/// class and the remedy, in one line on standard error. Then it does what the earlier action does. Any other SIGBUS
/// goes the same way without a word.
int platform_report_bus_errors(void);
