// Tells which file of a mount a SIGBUS came of, before the process ends. Everything after the installation runs in a
// signal handler: system calls and static memory only, because a signal's stack may be small.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum {
    FUSE_MAGIC = 0x65735546,
    LONGEST_PATH = 4096,
    // Waits of 1 ms for the report of another thread.
    LONGEST_WAIT = 2000,
};

static const char removed[] = " (deleted)";
static const char attribute[] = "user.appcontainer.protection";

// The action that this handler has replaced.
static struct sigaction earlier;
// The process whose thread uses the memory below; 0 while none does. A child of a fork has a copy, and not the thread.
static _Atomic pid_t reporter;
static char input[4096];
// The path of a mapping as the kernel shows it.
static char shown[LONGEST_PATH + sizeof removed];
static char path[sizeof shown];
static char line[LONGEST_PATH + 1024];

struct maps {
    int file;
    ssize_t count;
    ssize_t next;
};

struct mapping {
    uintptr_t start;
    uint64_t offset;
    uint64_t inode;
    // The bytes of a file that has a name.
    uint64_t size;
};

// The next byte of /proc/self/maps, -1 at its end.
static int next_byte(struct maps *maps) {
    if (maps->next == maps->count) {
        do {
            maps->count = read(maps->file, input, sizeof input);
        } while (maps->count < 0 && errno == EINTR);
        maps->next = 0;
        if (maps->count <= 0) {
            maps->count = 0;
            return -1;
        }
    }
    return (unsigned char)input[maps->next++];
}

// A number, and the byte behind it.
static uint64_t next_number(struct maps *maps, unsigned base) {
    uint64_t number = 0;
    while (true) {
        int byte = next_byte(maps);
        if (byte >= '0' && byte <= '9') {
            number = number * base + (uint64_t)(byte - '0');
        } else if (byte >= 'a' && byte <= 'f') {
            number = number * base + (uint64_t)(byte - 'a' + 10);
        } else {
            return number;
        }
    }
}

static void skip_field(struct maps *maps) {
    int byte;
    do {
        byte = next_byte(maps);
    } while (byte != ' ' && byte >= 0);
}

// Reads the path at the end of a line into `shown`, which is empty where it does not fit. Returns false at the end.
static bool next_path(struct maps *maps) {
    size_t length = 0;
    int byte;
    do {
        byte = next_byte(maps);
    } while (byte == ' ');
    while (byte != '\n' && byte >= 0) {
        if (length < sizeof shown) {
            shown[length++] = (char)byte;
        }
        byte = next_byte(maps);
    }
    shown[length < sizeof shown ? length : 0] = 0;
    return byte >= 0;
}

// Copies so many bytes of `shown` to `path`, with line ends in place of their escapes if so asked.
static void read_name(size_t length, bool unescapes) {
    char *to = path;
    for (const char *from = shown; from < shown + length; to++) {
        bool is_escaped = unescapes && strncmp(from, "\\012", 4) == 0;
        *to = is_escaped ? '\n' : *from;
        from += is_escaped ? 4 : 1;
    }
    *to = 0;
}

// Leaves the name that leads to the mapped file in `path`. The kernel escapes the line ends of a name and no backslash,
// and marks a name that is gone by a word with which another name may end: the inode tells which was meant. Returns
// false where no name leads to the file, and leaves the one that it most likely had.
static bool find_name(struct mapping *mapping) {
    size_t length = strlen(shown), tail = sizeof removed - 1;
    bool is_marked = length > tail && strcmp(shown + length - tail, removed) == 0;
    for (int strips = 0; strips <= is_marked; strips++) {
        for (int unescapes = 0; unescapes <= 1; unescapes++) {
            struct stat status;
            read_name(strips ? length - tail : length, unescapes);
            if (lstat(path, &status) == 0 && (uint64_t)status.st_ino == mapping->inode) {
                mapping->size = (uint64_t)status.st_size;
                return true;
            }
        }
    }
    return false;
}

// Leaves what the kernel shows as the path of the file that is mapped at an address in `shown`.
static bool find_mapping(uintptr_t address, struct mapping *found) {
    struct maps maps = {.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    if (maps.file < 0) {
        return false;
    }
    bool is_found = false, goes_on = true;
    while (goes_on && !is_found) {
        uintptr_t start = (uintptr_t)next_number(&maps, 16), end = (uintptr_t)next_number(&maps, 16);
        skip_field(&maps);
        uint64_t offset = next_number(&maps, 16);
        skip_field(&maps);
        uint64_t inode = next_number(&maps, 10);
        goes_on = next_path(&maps);
        is_found = start <= address && address < end;
        *found = (struct mapping){.start = start, .offset = offset, .inode = inode};
    }
    close(maps.file);
    return is_found && shown[0] == '/';
}

static size_t append(size_t length, const char *text) {
    size_t count = strlen(text), room = sizeof line - 1 - length;
    count = count < room ? count : room;
    memcpy(line + length, text, count);
    return length + count;
}

// The length in bytes of a character that a terminal obeys, at the beginning of a text in UTF-8; 0 for others: the
// controls C0, DEL and C1, ends of lines and paragraphs, and marks that turn the direction of writing.
static size_t control(const unsigned char *text, size_t length) {
    if (text[0] < 0x20 || text[0] == 0x7F) {
        return 1;
    }
    if (length >= 2) {
        if ((text[0] == 0xC2 && text[1] >= 0x80 && text[1] <= 0x9F) || (text[0] == 0xD8 && text[1] == 0x9C)) {
            return 2;
        }
    }
    if (length >= 3 && text[0] == 0xE2) {
        unsigned char third = text[2];
        bool is_mark = text[1] == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE));
        bool is_isolate = text[1] == 0x81 && third >= 0xA6 && third <= 0xA9;
        return is_mark || is_isolate ? 3 : 0;
    }
    return 0;
}

// A terminal shall show a name, and not obey it.
static void show_controls(size_t from, size_t to) {
    for (size_t index = from; index < to;) {
        size_t length = control((const unsigned char *)line + index, to - index);
        memset(line + index, '?', length);
        index += length > 0 ? length : 1;
    }
}

// The class of a file in a mount of a device, as its attribute has it. Returns false for every other file.
static bool is_in_mount(const char *place, char *class, size_t size) {
    struct statfs host;
    if (statfs(place, &host) != 0 || host.f_type != FUSE_MAGIC) {
        return false;
    }
    ssize_t count = lgetxattr(place, attribute, class, size - 1);
    if (count <= 0) {
        return false;
    }
    class[count] = 0;
    return true;
}

// The cause and the remedy of a fault in a file that has a name.
static const char *cause(const struct mapping *mapping, uintptr_t address) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t place = (mapping->offset + (address - mapping->start)) / page * page;
    if (place >= mapping->size) {
        return ", and the page is beyond the end of the file. Instead: map it anew after its length has changed.\n";
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0) {
        close(file);
        return ", and the device was restarted since, or has no space for the page. Instead: open and map the file "
               "anew after a restart; write(2) reports a lack of space as an error.\n";
    }
    if (errno == EPERM) {
        return ", which keeps its content closed in the state that the device is in. Instead: unlock the device before; "
               "let go of mappings at UIApplication.protectedDataWillBecomeUnavailableNotification; read(2) and write(2) "
               "fail with EPERM and end no process; what has to be reached in this state needs another class.\n";
    }
    return ", and the file cannot be reached any more.\n";
}

// Of a file that has no name any more nobody can ask for the class or the state.
static const char gone[] =
    ", a file that was replaced since, as by an atomic write, or removed. The device was locked or restarted, or has "
    "no space for the page, or the page is beyond the end of the file. Instead: map the new file once it is there, "
    "and let go of the mapping before a lock or a restart.\n";

static void report(uintptr_t address) {
    struct mapping mapping;
    char class[64];
    if (!find_mapping(address, &mapping)) {
        return;
    }
    bool has_name = find_name(&mapping);
    size_t length = append(0, "appcontainer: SIGBUS: this process touches its mapping of ");
    size_t start = length;
    length = append(length, path);
    show_controls(start, length);
    if (has_name) {
        if (!is_in_mount(path, class, sizeof class)) {
            return;
        }
        length = append(length, ", a file of class ");
        length = append(length, class);
        length = append(length, cause(&mapping, address));
    } else {
        // The directory above tells whether it was in a mount.
        char *slash = strrchr(path, '/');
        slash[slash == path ? 1 : 0] = 0;
        if (!is_in_mount(path, class, sizeof class)) {
            return;
        }
        length = append(length, gone);
    }
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
}

// Does as would be done without this handler.
static void pass_on(int number, siginfo_t *information, void *context) {
    // Memory that was found broken, and that no instruction touches, is told once, as if somebody had sent the signal.
    bool is_fault = information->si_code > 0 && information->si_code != BUS_MCEERR_AO;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    if (earlier.sa_handler == SIG_DFL || (earlier.sa_handler == SIG_IGN && is_fault)) {
        // The same instruction meets the same fault again, and a signal that was sent is blocked until the return.
        sigaction(number, &standard, NULL);
        if (!is_fault) {
            raise(number);
        }
        return;
    }
    if (earlier.sa_handler == SIG_IGN) {
        return;
    }
    if (earlier.sa_flags & SA_RESETHAND) {
        sigaction(number, &standard, NULL);
    }
    if (earlier.sa_flags & SA_NODEFER) {
        // Swift's backtracer reads all mappings, this one too, and has the signal handled meanwhile.
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, number);
        pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    }
    if (earlier.sa_flags & SA_SIGINFO) {
        earlier.sa_sigaction(number, information, context);
    } else {
        earlier.sa_handler(number);
    }
}

// Another thread's report comes to its end before this thread ends the process. Returns false after the longest wait.
static bool begin_report(void) {
    pid_t own = getpid();
    struct timespec moment = {.tv_nsec = 1000000};
    for (int waits = 0; waits < LONGEST_WAIT; waits++) {
        pid_t holder = 0;
        bool is_begun = atomic_compare_exchange_strong(&reporter, &holder, own);
        if (is_begun || (holder != own && atomic_compare_exchange_strong(&reporter, &holder, own))) {
            return true;
        }
        nanosleep(&moment, NULL);
    }
    return false;
}

static void on_bus_error(int number, siginfo_t *information, void *context) {
    int saved = errno;
    if (information->si_code == BUS_ADRERR && begin_report()) {
        report((uintptr_t)information->si_addr);
        atomic_store(&reporter, 0);
    }
    errno = saved;
    pass_on(number, information, context);
}

int platform_report_bus_errors(void) {
    static _Atomic int is_installed;
    if (atomic_exchange(&is_installed, 1) != 0) {
        return 0;
    }
    if (sigaction(SIGBUS, NULL, &earlier) != 0) {
        return -1;
    }
    struct sigaction action = {
        .sa_sigaction = on_bus_error,
        .sa_mask = earlier.sa_mask,
        // On the thread's own alternate stack, if it has one, as a handler that is called from here may expect.
        .sa_flags = SA_SIGINFO | SA_ONSTACK | (earlier.sa_flags & SA_RESTART),
    };
    return sigaction(SIGBUS, &action, NULL);
}
