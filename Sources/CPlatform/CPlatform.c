#define _GNU_SOURCE
#include "CPlatform.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const int platform_O_PATH = O_PATH;
const int platform_O_TMPFILE = O_TMPFILE;
const int platform_AT_EMPTY_PATH = AT_EMPTY_PATH;
const int platform_SEEK_DATA = SEEK_DATA;
const int platform_SEEK_HOLE = SEEK_HOLE;

int platform_fallocate(int fd, int mode, int64_t offset, int64_t length) { return fallocate(fd, mode, offset, length); }

int platform_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    return renameat2(from_directory, from, to_directory, to, flags);
}

ssize_t platform_getdents64(int fd, void *buffer, size_t size) { return getdents64(fd, buffer, size); }

int platform_syncfs(int fd) { return syncfs(fd); }

// The C library has no wrapper for these two, and libcap is not worth a dependency for one bit. Both act on the
// calling thread only.
int platform_capability_fsetid(int effective) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0) {
        return -1;
    }
    uint32_t bit = 1u << CAP_FSETID;
    if (effective) {
        data[0].effective |= bit & data[0].permitted;
    } else {
        data[0].effective &= ~bit;
    }
    return (int)syscall(SYS_capset, &header, data);
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
