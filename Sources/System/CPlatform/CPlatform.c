#define _GNU_SOURCE
#include "CPlatform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <malloc.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

const int platform_O_PATH = O_PATH;
const int platform_O_TMPFILE = O_TMPFILE;
const int platform_O_NOATIME = O_NOATIME;
const int platform_AT_EMPTY_PATH = AT_EMPTY_PATH;
const int platform_SEEK_DATA = SEEK_DATA;
const int platform_SEEK_HOLE = SEEK_HOLE;

int platform_fallocate(int fd, int mode, int64_t offset, int64_t length) { return fallocate(fd, mode, offset, length); }

int platform_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    return renameat2(from_directory, from, to_directory, to, flags);
}

long platform_getdents64(int fd, void *buffer, size_t size) { return getdents64(fd, buffer, size); }

int platform_syncfs(int fd) { return syncfs(fd); }

int platform_begin_writeback(int fd, int64_t offset, int64_t count) {
    return sync_file_range(fd, offset, count, SYNC_FILE_RANGE_WRITE);
}

// The C library has no wrapper for these two, and libcap is not worth a dependency for one bit. Both act on the
// calling thread only.
// The groups of a user as the database has them. Returns their count, or -1.
static int groups_of(uid_t user, gid_t group, gid_t *groups, int most) {
    size_t size = 1 << 16;
    char *buffer = malloc(size);
    struct passwd entry, *found = NULL;
    if (buffer == NULL) {
        return -1;
    }
    int count = 1;
    groups[0] = group;
    if (getpwuid_r(user, &entry, buffer, size, &found) == 0 && found != NULL) {
        count = most;
        if (getgrouplist(found->pw_name, group, groups, &count) < 0) {
            count = 1;
        }
    }
    free(buffer);
    return count;
}

int platform_act_as(unsigned user, unsigned group) {
    enum { MOST = 1024 };
    static gid_t groups[MOST];
    // CAP_IPC_LOCK goes with the superuser, and keys stay locked in memory.
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_MEMLOCK, &unlimited);
    int count = groups_of(user, group, groups, MOST);
    if (count < 0) {
        errno = ENOMEM;
        return -1;
    }
    if (setgroups((size_t)count, groups) != 0 || setresgid((gid_t)-1, group, (gid_t)-1) != 0) {
        return -1;
    }
    return setresuid((uid_t)-1, user, (uid_t)-1);
}

int platform_set_thread_user(unsigned user, unsigned group) {
    // The group is changed while the user is the superuser.
    if (user == 0) {
        return syscall(SYS_setresuid, -1, 0, -1) != 0 ? -1 : (int)syscall(SYS_setresgid, -1, group, -1);
    }
    return syscall(SYS_setresgid, -1, group, -1) != 0 ? -1 : (int)syscall(SYS_setresuid, -1, user, -1);
}

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

int platform_change_mode(int directory, const char *name, unsigned mode) {
    return (int)syscall(SYS_fchmodat2, directory, name, mode, AT_SYMLINK_NOFOLLOW);
}

int platform_capability_fsetid(int effective) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0) {
        return -1;
    }
    uint32_t bit = 1u << CAP_FSETID;
    uint32_t before = data[0].effective;
    if (effective) {
        data[0].effective |= bit & data[0].permitted;
    } else {
        data[0].effective &= ~bit;
    }
    if (data[0].effective != before && syscall(SYS_capset, &header, data) != 0) {
        return -1;
    }
    return (before & bit) != 0;
}

int platform_get_inode_flags(int fd, uint32_t *flags) {
    int value = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &value) != 0) {
        return -1;
    }
    *flags = (uint32_t)value;
    return 0;
}

int platform_set_inode_flags(int fd, uint32_t flags) {
    int value = (int)flags;
    return ioctl(fd, FS_IOC_SETFLAGS, &value);
}

long platform_copy_file_range(int from, int64_t *from_offset, int to, int64_t *to_offset, size_t count) {
    return copy_file_range(from, from_offset, to, to_offset, count, 0);
}

unsigned platform_device_major(uint64_t device) { return major(device); }
unsigned platform_device_minor(uint64_t device) { return minor(device); }

const char *platform_error_name(int error) { return strerrorname_np(error); }

int platform_clone_file(int from, int to) { return ioctl(to, FICLONE, from); }

int platform_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

int platform_receive_descriptor(int socket) {
    char byte;
    struct iovec vector = {.iov_base = &byte, .iov_len = 1};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0) {
        return -1;
    }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
        errno = ENOMSG;
        return -1;
    }
    int received;
    memcpy(&received, CMSG_DATA(header), sizeof received);
    return received;
}

int platform_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int platform_watch_removals(const char *directory) {
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch != -1 && inotify_add_watch(watch, directory, IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) == -1) {
        int error = errno;
        close(watch);
        errno = error;
        return -1;
    }
    return watch;
}

int platform_watch_readiness(int descriptor, int writing) {
    int watch = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = writing ? EPOLLOUT : EPOLLIN};
    if (watch != -1 && epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &event) == -1) {
        int error = errno;
        close(watch);
        errno = error;
        return -1;
    }
    return watch;
}

int platform_peer_user(int socket, uint32_t *user) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        return -1;
    }
    *user = credentials.uid;
    return 0;
}

int platform_peer_process(int socket, int32_t *process) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        return -1;
    }
    *process = credentials.pid;
    return 0;
}

int platform_accept(int socket) {
    return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int platform_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int platform_signal_process(int descriptor, int number) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0);
}

static _Thread_local const void *remembered;

void platform_remember(const void *pointer) {
    remembered = pointer;
}

const void *platform_remembered(void) {
    return remembered;
}

static cpu_set_t allowed_processors;
static pthread_once_t allowed_once = PTHREAD_ONCE_INIT;

static void look_at_allowed(void) {
    // A machine of more processors than the set holds answers EINVAL: then all count as allowed.
    if (sched_getaffinity(getpid(), sizeof allowed_processors, &allowed_processors) != 0) {
        memset(&allowed_processors, 0xff, sizeof allowed_processors);
    }
}

int platform_allowed(unsigned processor) {
    pthread_once(&allowed_once, look_at_allowed);
    return processor < CPU_SETSIZE && CPU_ISSET(processor, &allowed_processors);
}

static _Thread_local int is_bound;

int platform_run_on(unsigned processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (processor >= CPU_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        return -1;
    }
    is_bound = 1;
    return 0;
}

int platform_is_bound(void) {
    return is_bound;
}

int platform_run_anywhere(void) {
    pthread_once(&allowed_once, look_at_allowed);
    is_bound = 0;
    return sched_setaffinity(0, sizeof allowed_processors, &allowed_processors);
}

#if defined(__x86_64__)
__attribute__((target("avx"))) static void zero_wide_registers(void) {
    __asm__ volatile("vzeroall" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                     "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

__attribute__((target("avx512f"))) static void zero_further_registers(void) {
    __asm__ volatile(
        "vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n vpxorq %%zmm18, %%zmm18, %%zmm18\n"
        "vpxorq %%zmm19, %%zmm19, %%zmm19\n vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
        "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n vpxorq %%zmm24, %%zmm24, %%zmm24\n"
        "vpxorq %%zmm25, %%zmm25, %%zmm25\n vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
        "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n vpxorq %%zmm30, %%zmm30, %%zmm30\n"
        "vpxorq %%zmm31, %%zmm31, %%zmm31" ::: "memory");
}

static void zero_vector_registers(void) {
    if (__builtin_cpu_supports("avx")) {
        zero_wide_registers();
    } else {
        __asm__ volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
                         "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
                         "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
                         "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15"
                         ::: "memory");
    }
    if (__builtin_cpu_supports("avx512f")) {
        zero_further_registers();
    }
}
#else
// The kernel's signal frame and the calls between two requests use these registers too.
static void zero_vector_registers(void) {}
#endif

__attribute__((noinline)) void platform_wipe_stack(void) {
    char frames[64 * 1024];
    explicit_bzero(frames, sizeof frames);
    zero_vector_registers();
}

int platform_wait_until(void *semaphore, uint64_t nanoseconds) {
    struct timespec end = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
}

void platform_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

long platform_getrandom(void *buffer, size_t size) { return getrandom(buffer, size, 0); }

void platform_trim_heap(void) { malloc_trim(0); }

void platform_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }

enum platform_content_call platform_content_call(long number) {
    switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
        return PLATFORM_CALL_READ;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
        return PLATFORM_CALL_WRITE;
    case SYS_truncate:
    case SYS_ftruncate:
        return PLATFORM_CALL_TRUNCATE;
    case SYS_fallocate:
        return PLATFORM_CALL_FALLOCATE;
    case SYS_lseek:
        return PLATFORM_CALL_SEEK;
    default:
        return PLATFORM_CALL_OTHER;
    }
}

int platform_refresh_status(int fd) {
    struct statx status;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status);
}

int platform_open_by_handle(int mount, int type, const void *bytes, unsigned count, int flags) {
    _Alignas(struct file_handle) char memory[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    struct file_handle *handle = (struct file_handle *)memory;
    if (count > MAX_HANDLE_SZ) {
        errno = EINVAL;
        return -1;
    }
    handle->handle_bytes = count;
    handle->handle_type = type;
    memcpy(handle->f_handle, bytes, count);
    return open_by_handle_at(mount, handle, flags | O_CLOEXEC);
}

long platform_getxattr(const char *path, const char *name, void *value, size_t size, int follow) {
    return follow ? getxattr(path, name, value, size) : lgetxattr(path, name, value, size);
}

// The number is the same on every architecture but alpha, and glibc 2.36 does not have it.
#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif

struct xattr_args_of_getxattrat {
    uint64_t value;
    uint32_t size;
    uint32_t flags;
};

long platform_getxattrat(int directory, const char *name, const char *attribute, void *value, size_t size) {
    struct xattr_args_of_getxattrat args = {.value = (uint64_t)(uintptr_t)value, .size = (uint32_t)size};
    return syscall(SYS_getxattrat, directory, name, AT_SYMLINK_NOFOLLOW, attribute, &args, sizeof args);
}

int platform_setxattr(const char *path, const char *name, const void *value, size_t size, int flags, int follow) {
    return follow ? setxattr(path, name, value, size, flags) : lsetxattr(path, name, value, size, flags);
}

int platform_removexattr(const char *path, const char *name, int follow) {
    return follow ? removexattr(path, name) : lremovexattr(path, name);
}

long platform_listxattr(const char *path, char *list, size_t size, int follow) {
    return follow ? listxattr(path, list, size) : llistxattr(path, list, size);
}

int platform_birth_time(int fd, int64_t *seconds, uint32_t *nanoseconds) {
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) {
        return -1;
    }
    if (!(status.stx_mask & STATX_BTIME)) {
        errno = ENODATA;
        return -1;
    }
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return 0;
}

int platform_filesystem_type(int fd, int64_t *type, int64_t *block_size) {
    struct statfs found;
    if (fstatfs(fd, &found) != 0) {
        return -1;
    }
    *type = found.f_type;
    *block_size = found.f_bsize;
    return 0;
}

int platform_status_without_write_times(int fd, void *result) {
    struct statx found;
    const unsigned wanted = STATX_BASIC_STATS & ~(STATX_MTIME | STATX_CTIME);
    if (statx(fd, "", AT_EMPTY_PATH, wanted, &found) != 0) {
        return -1;
    }
    struct stat *status = result;
    status->st_dev = makedev(found.stx_dev_major, found.stx_dev_minor);
    status->st_ino = found.stx_ino;
    status->st_nlink = found.stx_nlink;
    status->st_mode = found.stx_mode;
    status->st_uid = found.stx_uid;
    status->st_gid = found.stx_gid;
    status->st_rdev = makedev(found.stx_rdev_major, found.stx_rdev_minor);
    status->st_size = (off_t)found.stx_size;
    status->st_blksize = found.stx_blksize;
    status->st_blocks = (blkcnt_t)found.stx_blocks;
    status->st_atim.tv_sec = found.stx_atime.tv_sec;
    status->st_atim.tv_nsec = found.stx_atime.tv_nsec;
    return 0;
}
