// Darwin's calls of data protection and of extended attributes, on Linux: C code that is written for an iPhone compiles
// unchanged, and meets the rules of a mount. Include this header, or name it with the compiler's option -include.
//
//     open_dprotected_np            a file that has its class before its first byte
//     fcntl                         F_GETPROTECTIONCLASS, F_SETPROTECTIONCLASS, F_FULLFSYNC, F_BARRIERFSYNC
//     getxattr, setxattr, listxattr, removexattr, and the same with f: with Darwin's arguments and names
//
// A class is the attribute user.appcontainer.protection of the mount. An attribute NAME of Darwin is user.NAME of
// Linux. Off a mount files have no class: open_dprotected_np is open(2), and the two commands of fcntl fail with
// ENOTSUP. The owner of a file may set its class whatever its mode, as on Darwin; a mode that keeps him from that is
// widened for him meanwhile, which is not atomic.
#ifndef APPCONTAINER_DARWIN_H
#define APPCONTAINER_DARWIN_H

// -std=c99 and the like leave POSIX out, which Darwin's headers do not.
#if !defined(_DEFAULT_SOURCE) && !defined(_GNU_SOURCE)
#define _DEFAULT_SOURCE 1
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
// Before the names below take the place of its own.
#include <sys/xattr.h>
#include <unistd.h>

#ifndef ENOATTR
#define ENOATTR ENODATA
#endif

// Protection classes: NSFileProtectionComplete, NSFileProtectionCompleteUnlessOpen,
// NSFileProtectionCompleteUntilFirstUserAuthentication, NSFileProtectionNone.
#define PROTECTION_CLASS_A 1
#define PROTECTION_CLASS_B 2
#define PROTECTION_CLASS_C 3
#define PROTECTION_CLASS_D 4
// The class that the directory gives. So does 0.
#define PROTECTION_CLASS_DEFAULT (-1)

#define F_GETPROTECTIONCLASS 63
#define F_SETPROTECTIONCLASS 64
#ifndef F_FULLFSYNC
#define F_FULLFSYNC 51
#endif
#ifndef F_BARRIERFSYNC
#define F_BARRIERFSYNC 85
#endif

#define O_DP_GETRAWENCRYPTED 0x0001
#define O_DP_GETRAWUNENCRYPTED 0x0002
#define O_DP_AUTHENTICATE 0x0004

#undef XATTR_CREATE
#undef XATTR_REPLACE
#define XATTR_NOFOLLOW 0x0001
#define XATTR_CREATE 0x0002
#define XATTR_REPLACE 0x0004
#define XATTR_NOSECURITY 0x0008
#define XATTR_NODEFAULT 0x0010
#define XATTR_SHOWCOMPRESSION 0x0020
#define XATTR_MAXNAMELEN 127
#define XATTR_FINDERINFO_NAME "com.apple.FinderInfo"
#define XATTR_RESOURCEFORK_NAME "com.apple.ResourceFork"

#ifdef __cplusplus
extern "C" {
#endif

// The numbers that Linux has for XATTR_CREATE and XATTR_REPLACE.
enum { appcontainer_linux_create = 1, appcontainer_linux_replace = 2 };
// XATTR_LIST_MAX of Linux.
enum { appcontainer_longest_list = 65536 };

static inline int appcontainer_fails(int error) {
    errno = error;
    return -1;
}

// MARK: Extended attributes

// Writes the attribute's name on Linux into `buffer`, and checks what Darwin checks.
static inline int appcontainer_attribute_name(
    char buffer[XATTR_MAXNAMELEN + 6], const char *name, uint32_t position, int options, int allowed
) {
    size_t length;
    if (!name) return appcontainer_fails(EFAULT);
    length = strlen(name);
    if (length > XATTR_MAXNAMELEN) return appcontainer_fails(ENAMETOOLONG);
    // Only resource forks are read and written in pieces, and here they are not.
    if (!length || position || (options & ~allowed)) return appcontainer_fails(EINVAL);
    memcpy(buffer, "user.", 5);
    memcpy(buffer + 5, name, length + 1);
    return 0;
}

// `path` is null for a descriptor.
static inline ssize_t appcontainer_get(
    const char *path, int fd, const char *name, void *value, size_t size, uint32_t position, int options
) {
    char full[XATTR_MAXNAMELEN + 6];
    int allowed = XATTR_SHOWCOMPRESSION | (path ? XATTR_NOFOLLOW : 0);
    if (appcontainer_attribute_name(full, name, position, options, allowed)) return -1;
    if (!value) size = 0;
    if (!path) return fgetxattr(fd, full, value, size);
    return options & XATTR_NOFOLLOW ? lgetxattr(path, full, value, size) : getxattr(path, full, value, size);
}

static inline int appcontainer_set(
    const char *path, int fd, const char *name, const void *value, size_t size, uint32_t position, int options
) {
    char full[XATTR_MAXNAMELEN + 6];
    int flags = 0, allowed = XATTR_CREATE | XATTR_REPLACE | (path ? XATTR_NOFOLLOW : 0);
    if ((options & XATTR_CREATE) && (options & XATTR_REPLACE)) return appcontainer_fails(EINVAL);
    if (appcontainer_attribute_name(full, name, position, options, allowed)) return -1;
    if (options & XATTR_CREATE) flags = appcontainer_linux_create;
    if (options & XATTR_REPLACE) flags = appcontainer_linux_replace;
    if (!path) return fsetxattr(fd, full, value, size, flags);
    return options & XATTR_NOFOLLOW ? lsetxattr(path, full, value, size, flags)
                                    : setxattr(path, full, value, size, flags);
}

static inline int appcontainer_remove(const char *path, int fd, const char *name, int options) {
    char full[XATTR_MAXNAMELEN + 6];
    int allowed = XATTR_SHOWCOMPRESSION | (path ? XATTR_NOFOLLOW : 0);
    if (appcontainer_attribute_name(full, name, 0, options, allowed)) return -1;
    if (!path) return fremovexattr(fd, full);
    return options & XATTR_NOFOLLOW ? lremovexattr(path, full) : removexattr(path, full);
}

// Whether a name of Linux is one of Darwin's attributes. Other namespaces are not; neither are the forms that a mount
// shows of a file's class and of its exclusion from backups besides Apple's own.
static inline int appcontainer_is_listed(const char *name) {
    return !strncmp(name, "user.", 5) && strncmp(name, "user.appcontainer.", 18)
        && strcmp(name, "user.xdg.robots.backup");
}

static inline ssize_t appcontainer_list(const char *path, int fd, char *names, size_t size, int options) {
    char *list, *name;
    ssize_t length, written = 0;
    int allowed = XATTR_SHOWCOMPRESSION | (path ? XATTR_NOFOLLOW : 0);
    if (options & ~allowed) return appcontainer_fails(EINVAL);
    list = (char *)malloc(appcontainer_longest_list);
    if (!list) return appcontainer_fails(ENOMEM);
    if (!path)
        length = flistxattr(fd, list, appcontainer_longest_list);
    else if (options & XATTR_NOFOLLOW)
        length = llistxattr(path, list, appcontainer_longest_list);
    else
        length = listxattr(path, list, appcontainer_longest_list);
    for (name = list; length > 0 && name < list + length; name += strlen(name) + 1) {
        size_t count = strlen(name) - 5 + 1;
        if (!appcontainer_is_listed(name)) continue;
        if (names && (size_t)written + count > size) {
            free(list);
            return appcontainer_fails(ERANGE);
        }
        if (names) memcpy(names + written, name + 5, count);
        written += (ssize_t)count;
    }
    free(list);
    return length < 0 ? -1 : written;
}

static inline ssize_t appcontainer_getxattr(
    const char *path, const char *name, void *value, size_t size, uint32_t position, int options
) {
    return path ? appcontainer_get(path, -1, name, value, size, position, options) : appcontainer_fails(EFAULT);
}

static inline ssize_t appcontainer_fgetxattr(
    int fd, const char *name, void *value, size_t size, uint32_t position, int options
) {
    return appcontainer_get(NULL, fd, name, value, size, position, options);
}

static inline int appcontainer_setxattr(
    const char *path, const char *name, const void *value, size_t size, uint32_t position, int options
) {
    return path ? appcontainer_set(path, -1, name, value, size, position, options) : appcontainer_fails(EFAULT);
}

static inline int appcontainer_fsetxattr(
    int fd, const char *name, const void *value, size_t size, uint32_t position, int options
) {
    return appcontainer_set(NULL, fd, name, value, size, position, options);
}

static inline ssize_t appcontainer_listxattr(const char *path, char *names, size_t size, int options) {
    return path ? appcontainer_list(path, -1, names, size, options) : appcontainer_fails(EFAULT);
}

static inline ssize_t appcontainer_flistxattr(int fd, char *names, size_t size, int options) {
    return appcontainer_list(NULL, fd, names, size, options);
}

static inline int appcontainer_removexattr(const char *path, const char *name, int options) {
    return path ? appcontainer_remove(path, -1, name, options) : appcontainer_fails(EFAULT);
}

static inline int appcontainer_fremovexattr(int fd, const char *name, int options) {
    return appcontainer_remove(NULL, fd, name, options);
}

// MARK: Protection classes

// The raw values of Foundation by the classes' numbers; null for a number that is no class.
static inline const char *appcontainer_class_name(int number) {
    switch (number) {
    case PROTECTION_CLASS_A: return "NSFileProtectionComplete";
    case PROTECTION_CLASS_B: return "NSFileProtectionCompleteUnlessOpen";
    case PROTECTION_CLASS_C: return "NSFileProtectionCompleteUntilFirstUserAuthentication";
    case PROTECTION_CLASS_D: return "NSFileProtectionNone";
    default: return NULL;
    }
}

// Whether a descriptor leads to a file or directory of a mount. A copy elsewhere may have an attribute that has the
// name of the class; this one is never copied.
static inline int appcontainer_is_mounted(int fd) { return fgetxattr(fd, "user.appcontainer.backup", NULL, 0) >= 0; }

static inline int appcontainer_get_class(int fd) {
    char name[64];
    ssize_t length;
    int number;
    // By mode too: of a file that its owner may not read he hears no class.
    if (!appcontainer_is_mounted(fd)) return errno == EBADF || errno == EACCES ? -1 : appcontainer_fails(ENOTSUP);
    length = fgetxattr(fd, "user.appcontainer.protection", name, sizeof name - 1);
    // The bundle and the home's top level have none.
    if (length < 0) return errno == ENODATA ? appcontainer_fails(ENOTSUP) : -1;
    name[length] = 0;
    for (number = PROTECTION_CLASS_A; number <= PROTECTION_CLASS_D; number++)
        if (!strcmp(name, appcontainer_class_name(number))) return number;
    return appcontainer_fails(ENOTSUP);
}

// -1 with EACCES where the file's mode keeps the caller from reading or writing attributes.
static inline int appcontainer_set_class_by_mode(int fd, int number) {
    const char *name = appcontainer_class_name(number);
    if (!appcontainer_is_mounted(fd)) return errno == EBADF || errno == EACCES ? -1 : appcontainer_fails(ENOTSUP);
    if (!name) return appcontainer_fails(EINVAL);
    return fsetxattr(fd, "user.appcontainer.protection", name, strlen(name), 0);
}

// Darwin asks who owns the file, and not for its mode, which decides on attributes here. So the owner may read and
// write a file for a moment whose mode forbids that; nobody else may meanwhile. This is not atomic: a mode that
// somebody else gives the file in this moment is lost, and a process that ends in it leaves the file with a mode that
// is too wide.
static inline int appcontainer_set_class(int fd, int number) {
    struct stat status;
    int result = appcontainer_set_class_by_mode(fd, number), error;
    mode_t mode;
    if (!result || errno != EACCES) return result;
    if (fstat(fd, &status)) return -1;
    mode = status.st_mode & 07777;
    if (status.st_uid != geteuid() || (mode & (S_IRUSR | S_IWUSR)) == (S_IRUSR | S_IWUSR))
        return appcontainer_fails(EACCES);
    if (fchmod(fd, mode | S_IRUSR | S_IWUSR)) return -1;
    result = appcontainer_set_class_by_mode(fd, number);
    error = errno;
    // Where this fails the caller hears of it: the class is set, but the mode is not what it was.
    if (fchmod(fd, mode) && !result) return -1;
    errno = error;
    return result;
}

static inline int appcontainer_fcntl(int fd, int command, ...) {
    va_list arguments;
    int result;
    va_start(arguments, command);
    switch (command) {
    case F_GETPROTECTIONCLASS: result = appcontainer_get_class(fd); break;
    case F_SETPROTECTIONCLASS: result = appcontainer_set_class(fd, va_arg(arguments, int)); break;
    case F_FULLFSYNC: result = fsync(fd); break;
    case F_BARRIERFSYNC: result = fdatasync(fd); break;
    // A number or a pointer; as in the C library, both are read as the larger.
    default: result = fcntl(fd, command, va_arg(arguments, void *));
    }
    va_end(arguments);
    return result;
}

// MARK: New files

static inline int appcontainer_close(int fd) {
    int error = errno;
    close(fd);
    return appcontainer_fails(error);
}

// Makes the file in a new directory that has the class, which is possible in every state of the device, and links it to
// its place. A locked device may refuse files of the class that the directory gives, and allow those of this one.
static inline int appcontainer_create_apart(int directory, const char *name, int flags, int number, mode_t mode) {
    static unsigned counter;
    char apart[64];
    int place, fd = -1, error;
    snprintf(apart, sizeof apart, ".dat.nosync%lX.%u", (unsigned long)getpid(), __sync_add_and_fetch(&counter, 1));
    if (mkdirat(directory, apart, 0700)) return -1;
    place = openat(directory, apart, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place >= 0 && !appcontainer_set_class(place, number))
        fd = openat(place, name, flags | O_CREAT | O_EXCL, mode);
    error = errno;
    if (fd >= 0) {
        // linkat(2) replaces nothing.
        if (linkat(place, name, directory, name, 0)) {
            error = errno;
            close(fd);
            fd = -1;
        }
        unlinkat(place, name, 0);
    }
    if (place >= 0) close(place);
    unlinkat(directory, apart, AT_REMOVEDIR);
    errno = error;
    return fd;
}

// A new file; EEXIST where the name is taken. Where the class is refused no name is left behind.
static inline int appcontainer_create(int directory, const char *name, int flags, int number, mode_t mode) {
    int fd = openat(directory, name, flags | O_CREAT | O_EXCL, mode);
    if (fd < 0) {
        if (errno != EPERM || number == PROTECTION_CLASS_A) return -1;
        return appcontainer_create_apart(directory, name, flags, number, mode);
    }
    if (appcontainer_set_class(fd, number)) {
        int error = errno;
        unlinkat(directory, name, 0);
        errno = error;
        return appcontainer_close(fd);
    }
    return fd;
}

// Opens the file, or makes it with the class. `links` is how many links at the end of a path may be followed.
static inline int appcontainer_open_or_create(const char *path, int flags, int number, mode_t mode, int links) {
    char target[PATH_MAX * 2];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int directory, fd, attempt;
    size_t length = slash ? (size_t)(slash - path) : 0;
    ssize_t count;
    if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) return open(path, flags, mode);
    if (length >= PATH_MAX) return appcontainer_fails(ENAMETOOLONG);
    memcpy(target, path, length);
    strcpy(target + length, slash ? "/" : ".");
    directory = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    if (!appcontainer_is_mounted(directory) || appcontainer_get_class(directory) == number) {
        close(directory);
        return open(path, flags, mode);
    }
    // The file may come or go between two calls.
    for (attempt = 0; attempt < 100; attempt++) {
        if (!(flags & O_EXCL)) {
            fd = openat(directory, name, flags & ~O_CREAT);
            if (fd >= 0 || errno != ENOENT) break;
        }
        fd = appcontainer_create(directory, name, flags, number, mode);
        if (fd >= 0 || errno != EEXIST || (flags & O_EXCL)) break;
        // A link that leads to nothing: its target is what comes into being.
        count = readlinkat(directory, name, target + length + 1, PATH_MAX - 1);
        if (count < 0) continue;
        target[length + 1 + (size_t)count] = 0;
        close(directory);
        if (!links) return appcontainer_fails(ELOOP);
        if (!slash || target[length + 1] == '/')
            return appcontainer_open_or_create(target + length + 1, flags, number, mode, links - 1);
        return appcontainer_open_or_create(target, flags, number, mode, links - 1);
    }
    if (fd < 0) return appcontainer_close(directory);
    close(directory);
    return fd;
}

/// Opens a file, or makes it with a protection class, which it has before its first byte. The class of a file that
/// exists stays. The mode follows `dpflags` where `flags` has O_CREAT.
///
/// Fails with EPERM where the device is locked for the class, EINVAL for a number that is no class, ENOTSUP where
/// `dpflags` asks for encrypted content: a mount does not show it.
static inline int open_dprotected_np(const char *path, int flags, int number, int dpflags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, dpflags);
        mode = (mode_t)va_arg(arguments, unsigned);
        va_end(arguments);
    }
    if (!path) return appcontainer_fails(EFAULT);
    if (dpflags & ~(O_DP_GETRAWENCRYPTED | O_DP_GETRAWUNENCRYPTED | O_DP_AUTHENTICATE))
        return appcontainer_fails(EINVAL);
    // Darwin's first answer too: encrypted content is never written.
    if (dpflags && (flags & O_ACCMODE) != O_RDONLY) return appcontainer_fails(EINVAL);
    if (dpflags) return appcontainer_fails(ENOTSUP);
    if (number == PROTECTION_CLASS_DEFAULT || !number || !(flags & O_CREAT)) return open(path, flags, mode);
    if (!appcontainer_class_name(number)) return appcontainer_fails(EINVAL);
    return appcontainer_open_or_create(path, flags, number, mode, 40);
}

#ifdef __cplusplus
}
#endif

#define fcntl appcontainer_fcntl
#define getxattr appcontainer_getxattr
#define fgetxattr appcontainer_fgetxattr
#define setxattr appcontainer_setxattr
#define fsetxattr appcontainer_fsetxattr
#define listxattr appcontainer_listxattr
#define flistxattr appcontainer_flistxattr
#define removexattr appcontainer_removexattr
#define fremovexattr appcontainer_fremovexattr

#endif
