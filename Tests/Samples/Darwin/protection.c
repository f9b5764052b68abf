// A test of data protection in Darwin's calls, as one writes it for an iPhone. On Linux it compiles unchanged:
//
//     cc -include appcontainer/darwin.h -o protection protection.c
//     ./protection DIRECTORY LOCK UNLOCK RESTART
//
// DIRECTORY is an empty one in an unlocked app's home; the others are shell commands that lock the device, unlock it,
// and boot it anew.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { COMPLETE = 1, UNLESS_OPEN = 2, UNTIL_FIRST_UNLOCK = 3, NONE = 4 };

static int checks, failures;

static void check(int holds, const char *what, int line) {
    checks++;
    if (holds) return;
    failures++;
    printf("line %d: %s (errno %d, %s)\n", line, what, errno, strerror(errno));
}

#define CHECK(condition) check((condition), #condition, __LINE__)
// A call that has to fail, and how.
#define FAILS(call, error) (errno = 0, CHECK((call) == -1 && errno == (error)))

static int class_of(const char *path) {
    int fd = open(path, O_RDONLY), number;
    if (fd < 0) return -1;
    number = fcntl(fd, F_GETPROTECTIONCLASS);
    close(fd);
    return number;
}

static int set_class(const char *path, int number) {
    int fd = open(path, O_RDONLY), result, error;
    if (fd < 0) return -1;
    result = fcntl(fd, F_SETPROTECTIONCLASS, number);
    error = errno;
    close(fd);
    errno = error;
    return result;
}

static int make(const char *path, int number) {
    return open_dprotected_np(path, O_RDWR | O_CREAT | O_EXCL, number, 0, 0640);
}

static void fill(const char *path, int number) {
    int fd = make(path, number);
    CHECK(fd >= 0);
    CHECK(write(fd, "plain text", 10) == 10);
    CHECK(fsync(fd) == 0);
    CHECK(close(fd) == 0);
}

static int exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

static void run(const char *command) {
    if (system(command) == 0) return;
    printf("cannot go on: %s\n", command);
    exit(1);
}

// MARK: While unlocked

static void classes_at_creation(void) {
    static const char *names[] = {"", "a", "b", "c", "d"};
    struct stat status;
    int number, fd;
    umask(022);
    for (number = COMPLETE; number <= NONE; number++) {
        fill(names[number], number);
        CHECK(class_of(names[number]) == number);
        CHECK(stat(names[number], &status) == 0 && (status.st_mode & 0777) == 0640 && status.st_size == 10);
    }
    // The default, and a file that is there: its class stays.
    CHECK((fd = open("plain", O_WRONLY | O_CREAT, 0600)) >= 0 && fcntl(fd, F_GETPROTECTIONCLASS) == UNTIL_FIRST_UNLOCK);
    close(fd);
    CHECK((fd = open_dprotected_np("a", O_RDWR | O_CREAT, NONE, 0, 0600)) >= 0);
    CHECK(fcntl(fd, F_GETPROTECTIONCLASS) == COMPLETE && lseek(fd, 0, SEEK_END) == 10);
    close(fd);
    CHECK((fd = open_dprotected_np("a", O_RDONLY, 0, 0)) >= 0);
    close(fd);
    FAILS(make("a", COMPLETE), EEXIST);
    FAILS(open_dprotected_np("missing", O_RDWR, COMPLETE, 0), ENOENT);
    FAILS(open_dprotected_np("missing/a", O_RDWR | O_CREAT, COMPLETE, 0, 0600), ENOENT);
    FAILS(make("unknown", 9), EINVAL);
    CHECK(!exists("unknown"));
    FAILS(open_dprotected_np("a", O_RDONLY, 0, O_DP_GETRAWENCRYPTED), ENOTSUP);
    FAILS(open_dprotected_np("a", O_RDWR, 0, O_DP_GETRAWENCRYPTED), EINVAL);
    // Through a link that leads to nothing yet.
    CHECK(mkdir("directory", 0755) == 0 && symlink("../target", "directory/link") == 0);
    CHECK((fd = open_dprotected_np("directory/link", O_RDWR | O_CREAT, UNLESS_OPEN, 0, 0600)) >= 0);
    CHECK(class_of("target") == UNLESS_OPEN);
    close(fd);
}

static void classes_are_changed_and_inherited(void) {
    int fd;
    CHECK(set_class("plain", NONE) == 0 && class_of("plain") == NONE);
    FAILS(set_class("plain", 0), EINVAL);
    FAILS(set_class("plain", 5), EINVAL);
    CHECK(class_of("plain") == NONE);
    CHECK(mkdir("vault", 0755) == 0 && set_class("vault", COMPLETE) == 0 && class_of("vault") == COMPLETE);
    CHECK((fd = open("vault/inside", O_RDWR | O_CREAT | O_EXCL, 0600)) >= 0);
    CHECK(fcntl(fd, F_GETPROTECTIONCLASS) == COMPLETE);
    close(fd);
    CHECK(mkdir("vault/inner", 0755) == 0 && class_of("vault/inner") == COMPLETE);
    fill("vault/open", NONE);
    CHECK(class_of("vault/open") == NONE);
    CHECK(rename("vault/inside", "moved") == 0 && class_of("moved") == COMPLETE);
    // The other commands are as they were.
    CHECK((fd = open("plain", O_RDWR | O_APPEND)) >= 0 && (fcntl(fd, F_GETFL) & O_APPEND));
    CHECK(fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(fcntl(fd, F_FULLFSYNC) == 0);
    close(fd);
    FAILS(fcntl(fd, F_GETPROTECTIONCLASS), EBADF);
}

// The mode of a file keeps nobody from giving it a class whose file it is.
static void classes_of_files_that_cannot_be_written(void) {
    static const mode_t modes[] = {0444, 0400, 0440, 0555, 0200, 0};
    struct stat status;
    size_t index;
    int fd;
    for (index = 0; index < sizeof modes / sizeof *modes; index++) {
        mode_t mode = modes[index];
        fd = open_dprotected_np("read only", O_RDWR | O_CREAT | O_EXCL, COMPLETE, 0, mode);
        CHECK(fd >= 0);
        CHECK(write(fd, "plain text", 10) == 10);
        CHECK(fstat(fd, &status) == 0 && (status.st_mode & 07777) == mode);
        CHECK(!(mode & S_IRUSR) || fcntl(fd, F_GETPROTECTIONCLASS) == COMPLETE);
        CHECK(fcntl(fd, F_SETPROTECTIONCLASS, NONE) == 0);
        CHECK(fstat(fd, &status) == 0 && (status.st_mode & 07777) == mode);
        FAILS(fcntl(fd, F_SETPROTECTIONCLASS, 5), EINVAL);
        CHECK(fstat(fd, &status) == 0 && (status.st_mode & 07777) == mode);
        CHECK(fchmod(fd, 0600) == 0 && fcntl(fd, F_GETPROTECTIONCLASS) == NONE);
        CHECK(close(fd) == 0 && unlink("read only") == 0);
    }
    // The mask takes the owner's bit too.
    umask(0222);
    CHECK((fd = make("read only", UNLESS_OPEN)) >= 0 && fcntl(fd, F_GETPROTECTIONCLASS) == UNLESS_OPEN);
    CHECK(fstat(fd, &status) == 0 && (status.st_mode & 07777) == 0440);
    CHECK(close(fd) == 0 && unlink("read only") == 0);
    umask(022);
    // A directory.
    CHECK(mkdir("closed", 0555) == 0 && set_class("closed", COMPLETE) == 0 && class_of("closed") == COMPLETE);
    CHECK(stat("closed", &status) == 0 && (status.st_mode & 07777) == 0555 && rmdir("closed") == 0);
}

static void attributes(void) {
    char value[16], names[64], longest[129];
    int fd = open("plain", O_RDWR);
    CHECK(listxattr("plain", NULL, 0, 0) == 0);
    CHECK(setxattr("plain", "com.example.colour", "red", 3, 0, XATTR_CREATE) == 0);
    FAILS(setxattr("plain", "com.example.colour", "blue", 4, 0, XATTR_CREATE), EEXIST);
    FAILS(setxattr("plain", "com.example.none", "blue", 4, 0, XATTR_REPLACE), ENOATTR);
    FAILS(setxattr("plain", "com.example.colour", "blue", 4, 0, XATTR_CREATE | XATTR_REPLACE), EINVAL);
    FAILS(setxattr("plain", "com.example.colour", "blue", 4, 3, 0), EINVAL);
    CHECK(fsetxattr(fd, "com.example.colour", "blue", 4, 0, XATTR_REPLACE) == 0);
    CHECK(getxattr("plain", "com.example.colour", value, sizeof value, 0, 0) == 4 && !memcmp(value, "blue", 4));
    CHECK(fgetxattr(fd, "com.example.colour", NULL, 0, 0, 0) == 4);
    FAILS(getxattr("plain", "com.example.colour", value, 2, 0, 0), ERANGE);
    FAILS(getxattr("plain", "com.example.none", value, sizeof value, 0, XATTR_NOFOLLOW), ENOATTR);
    FAILS(fgetxattr(fd, "com.example.colour", value, sizeof value, 0, XATTR_NOFOLLOW), EINVAL);
    memset(longest, 'x', 128);
    longest[128] = 0;
    FAILS(setxattr("plain", longest, "", 0, 0, 0), ENAMETOOLONG);
    longest[127] = 0;
    CHECK(setxattr("plain", longest, "", 0, 0, 0) == 0 && removexattr("plain", longest, 0) == 0);
    // Its class is no attribute here.
    CHECK(listxattr("plain", NULL, 0, 0) == 19 && flistxattr(fd, names, sizeof names, 0) == 19);
    CHECK(!strcmp(names, "com.example.colour"));
    FAILS(listxattr("plain", names, 18, 0), ERANGE);
    CHECK(fremovexattr(fd, "com.example.colour", 0) == 0);
    FAILS(removexattr("plain", "com.example.colour", 0), ENOATTR);
    close(fd);
    // The mark of files that stay out of backups.
    CHECK(setxattr("plain", "com.apple.metadata:com_apple_backup_excludeItem", "x", 1, 0, 0) == 0);
    CHECK(listxattr("plain", names, sizeof names, 0) == 48);
    CHECK(!strcmp(names, "com.apple.metadata:com_apple_backup_excludeItem"));
    CHECK(removexattr("plain", "com.apple.metadata:com_apple_backup_excludeItem", 0) == 0);
    CHECK(listxattr("plain", names, sizeof names, 0) == 0);
    // A link itself carries none, and its target does.
    CHECK(symlink("plain", "link") == 0 && setxattr("link", "com.example.of-target", "x", 1, 0, 0) == 0);
    FAILS(getxattr("link", "com.example.of-target", value, sizeof value, 0, XATTR_NOFOLLOW), ENOATTR);
    CHECK(removexattr("plain", "com.example.of-target", 0) == 0);
}

// MARK: While locked

static sigjmp_buf after_bus_error;
static void on_bus_error(int number) { siglongjmp(after_bus_error, number); }

// Whether the first byte of a mapping can be read.
static int can_be_read(volatile char *mapping) {
    char byte;
    if (sigsetjmp(after_bus_error, 1)) return 0;
    byte = mapping[0];
    return byte == 'p';
}

static void locked(const char *lock, const char *unlock) {
    int a = open("a", O_RDWR), b = open("b", O_RDWR), d = open("d", O_RDWR), fd;
    char byte, *mapping = mmap(NULL, 10, PROT_READ, MAP_SHARED, a, 0);
    struct stat status;
    signal(SIGBUS, on_bus_error);
    CHECK(can_be_read(mapping));
    run(lock);

    // Files that were open before.
    FAILS(pread(a, &byte, 1, 0), EPERM);
    FAILS(pwrite(a, "x", 1, 0), EPERM);
    FAILS(ftruncate(a, 0), EPERM);
    CHECK(fsync(a) == 0);
    CHECK(!can_be_read(mapping));
    CHECK(pread(b, &byte, 1, 0) == 1 && byte == 'p' && pwrite(b, "P", 1, 0) == 1);
    CHECK(pread(d, &byte, 1, 0) == 1 && pwrite(d, "P", 1, 0) == 1);
    CHECK(fcntl(a, F_GETPROTECTIONCLASS) == COMPLETE);

    // Files that are opened now.
    FAILS(open("a", O_RDONLY), EPERM);
    FAILS(open_dprotected_np("a", O_RDWR | O_CREAT, NONE, 0, 0600), EPERM);
    FAILS(open("b", O_RDONLY), EPERM);
    CHECK((fd = open("c", O_RDONLY)) >= 0);
    close(fd);
    CHECK((fd = open("d", O_RDONLY)) >= 0);
    close(fd);
    FAILS(truncate("a", 0), EPERM);

    // Files that are made now, in a directory whose files could not be, too.
    FAILS(make("new a", COMPLETE), EPERM);
    CHECK(!exists("new a"));
    FAILS(open("vault/new a", O_RDWR | O_CREAT, 0600), EPERM);
    FAILS(make("vault/new a", COMPLETE), EPERM);
    CHECK(!exists("vault/new a"));
    CHECK((fd = make("vault/new b", UNLESS_OPEN)) >= 0);
    CHECK(fcntl(fd, F_GETPROTECTIONCLASS) == UNLESS_OPEN && write(fd, "plain text", 10) == 10);
    CHECK(fstat(fd, &status) == 0 && status.st_nlink == 1 && (status.st_mode & 0777) == 0640);
    CHECK(pread(fd, &byte, 1, 0) == 1 && byte == 'p');
    close(fd);
    FAILS(open("vault/new b", O_RDONLY), EPERM);
    FAILS(make("vault/new b", UNLESS_OPEN), EEXIST);
    fill("vault/new d", NONE);
    CHECK(class_of("vault/new d") == NONE);

    // Classes: to one that is locked there is no way, but B takes what it cannot open.
    FAILS(fcntl(d, F_SETPROTECTIONCLASS, COMPLETE), EPERM);
    FAILS(fcntl(a, F_SETPROTECTIONCLASS, NONE), EPERM);
    CHECK(set_class("vault/new d", UNLESS_OPEN) == 0);

    // Everything but content.
    CHECK(stat("a", &status) == 0 && status.st_size == 10 && chmod("a", 0600) == 0);
    CHECK(setxattr("a", "com.example.colour", "red", 3, 0, 0) == 0);
    CHECK(getxattr("a", "com.example.colour", NULL, 0, 0, 0) == 3);
    CHECK(rename("a", "renamed") == 0 && link("renamed", "a") == 0 && unlink("renamed") == 0);

    run(unlock);
    CHECK(pread(a, &byte, 1, 0) == 1 && byte == 'p' && can_be_read(mapping));
    CHECK((fd = open("b", O_RDONLY)) >= 0 && read(fd, &byte, 1) == 1 && byte == 'P');
    close(fd);
    CHECK(class_of("vault/new b") == UNLESS_OPEN && class_of("vault/new d") == UNLESS_OPEN);
    CHECK(munmap(mapping, 10) == 0);
    close(a);
    close(b);
    close(d);
}

static void before_first_unlock(const char *restart, const char *unlock) {
    int fd;
    run(restart);
    FAILS(open("a", O_RDONLY), EPERM);
    FAILS(open("b", O_RDONLY), EPERM);
    FAILS(open("c", O_RDONLY), EPERM);
    CHECK((fd = open("d", O_RDONLY)) >= 0);
    close(fd);
    FAILS(make("new c", UNTIL_FIRST_UNLOCK), EPERM);
    CHECK(!exists("new c"));
    CHECK((fd = make("new b", UNLESS_OPEN)) >= 0 && write(fd, "x", 1) == 1);
    close(fd);
    fill("new d", NONE);
    run(unlock);
    CHECK(class_of("c") == UNTIL_FIRST_UNLOCK && class_of("new b") == UNLESS_OPEN && class_of("new d") == NONE);
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "usage: protection DIRECTORY LOCK UNLOCK RESTART\n");
        return 64;
    }
    if (chdir(words[1])) return perror(words[1]), 1;
    classes_at_creation();
    classes_are_changed_and_inherited();
    classes_of_files_that_cannot_be_written();
    attributes();
    locked(words[2], words[3]);
    before_first_unlock(words[4], words[3]);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
