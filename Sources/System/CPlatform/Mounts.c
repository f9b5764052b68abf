// Mounts one by one: statmount(2) and listmount(2), which Debian's headers do not declare yet, with the layouts of
// linux/mount.h; and a bind in one step.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { statmount_call = 457, listmount_call = 458 };

/// struct mnt_id_req, in its first version.
struct request {
    uint32_t size, spare;
    uint64_t number, parameter;
};

/// struct statmount, up to the last field that is read.
struct answer {
    uint32_t size, options;
    uint64_t told;
    uint32_t major, minor;
    uint64_t magic;
    uint32_t filesystem_flags, type;
    uint64_t number, parent;
    uint32_t listed_number, listed_parent;
    uint64_t attributes, propagation, peer_group, master, propagate_from;
    uint32_t root, mount_point;
    uint64_t namespace;
    uint32_t subtype, source;
};

/// Where the texts begin.
enum { texts_offset = 512 };

_Static_assert(offsetof(struct answer, mount_point) == 108, "struct statmount");
_Static_assert(offsetof(struct answer, source) == 124, "struct statmount");

int platform_mount_number(int fd, uint64_t *number) {
    // STATX_MNT_ID_UNIQUE, of Linux 6.8.
    const unsigned wanted = 0x4000;
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted, &status) == -1) {
        return -1;
    }
    if ((status.stx_mask & wanted) == 0) {
        errno = ENOSYS;
        return -1;
    }
    // stx_mnt_id, at 144 in every version of the structure.
    memcpy(number, (const char *)&status + 144, sizeof *number);
    return 0;
}

int platform_statmount(uint64_t number, uint64_t wanted, void *memory, size_t size, struct platform_mount *mount) {
    struct request request = {.size = sizeof request, .number = number, .parameter = wanted};
    if (size <= texts_offset) {
        errno = EOVERFLOW;
        return -1;
    }
    if (syscall(statmount_call, &request, memory, size, 0) == -1) {
        return -1;
    }
    const struct answer *answer = memory;
    const char *texts = (const char *)memory + texts_offset;
    const struct {
        uint64_t flag;
        uint32_t offset;
        const char **text;
    } all[] = {
        {platform_STATMOUNT_MNT_ROOT, answer->root, &mount->root},
        {platform_STATMOUNT_MNT_POINT, answer->mount_point, &mount->mount_point},
        {platform_STATMOUNT_FS_TYPE, answer->type, &mount->type},
        {platform_STATMOUNT_FS_SUBTYPE, answer->subtype, &mount->subtype},
        {platform_STATMOUNT_SB_SOURCE, answer->source, &mount->source},
        {platform_STATMOUNT_MNT_OPTS, answer->options, &mount->options},
    };
    for (size_t index = 0; index < sizeof all / sizeof *all; index += 1) {
        const int is_told = (answer->told & all[index].flag) != 0 && all[index].offset < size - texts_offset;
        *all[index].text = is_told ? texts + all[index].offset : "";
    }
    mount->told = answer->told;
    mount->attributes = answer->attributes;
    mount->listed_number = answer->listed_number;
    mount->filesystem_flags = answer->filesystem_flags;
    mount->minor = answer->minor;
    return 0;
}

long platform_listmount(uint64_t after, uint64_t *numbers, size_t count) {
    // LSMT_ROOT: all mounts below the root of the namespace.
    struct request request = {.size = sizeof request, .number = UINT64_MAX, .parameter = after};
    return syscall(listmount_call, &request, numbers, count, 0);
}

int platform_bind_read_only(const char *source, const char *target) {
    int mount = open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (mount == -1) return -1;
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    int result = mount_setattr(mount, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
    if (result == 0) result = move_mount(mount, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
    int error = errno;
    close(mount);
    errno = error;
    return result;
}
