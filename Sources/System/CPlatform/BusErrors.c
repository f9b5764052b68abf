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
// Set by the one thread that uses the memory below.
static _Atomic int is_reporting;
static char input[4096];
static char path[LONGEST_PATH + sizeof removed];
static char line[LONGEST_PATH + 1024];

struct maps {
    int file;
    ssize_t count;
    ssize_t next;
};

struct mapping {
    uintptr_t start;
    uint64_t offset;
    // The file has no name any more.
    bool is_removed;
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

// A hexadecimal number, and the byte behind it.
static uint64_t next_number(struct maps *maps) {
    uint64_t number = 0;
    while (true) {
        int byte = next_byte(maps);
        if (byte >= '0' && byte <= '9') {
            number = number << 4 | (uint64_t)(byte - '0');
        } else if (byte >= 'a' && byte <= 'f') {
            number = number << 4 | (uint64_t)(byte - 'a' + 10);
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

// Reads the path at the end of a line into `path`, which is empty where it does not fit. Returns false at the end.
static bool next_path(struct maps *maps) {
    size_t length = 0;
    int byte;
    do {
        byte = next_byte(maps);
    } while (byte == ' ');
    while (byte != '\n' && byte >= 0) {
        if (length < sizeof path) {
            path[length++] = (char)byte;
        }
        byte = next_byte(maps);
    }
    path[length < sizeof path ? length : 0] = 0;
    return byte >= 0;
}

// The only byte of a name that the kernel escapes here is the line's end.
static void unescape(void) {
    char *to = path;
    for (const char *from = path; *from != 0; to++) {
        bool is_escaped = strncmp(from, "\\012", 4) == 0;
        *to = is_escaped ? '\n' : *from;
        from += is_escaped ? 4 : 1;
    }
    *to = 0;
}

// Leaves the path of the file that is mapped at an address in `path`.
static bool find_mapping(uintptr_t address, struct mapping *found) {
    struct maps maps = {.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    if (maps.file < 0) {
        return false;
    }
    bool is_found = false, goes_on = true;
    while (goes_on && !is_found) {
        uintptr_t start = (uintptr_t)next_number(&maps), end = (uintptr_t)next_number(&maps);
        skip_field(&maps);
        uint64_t offset = next_number(&maps);
        skip_field(&maps);
        skip_field(&maps);
        goes_on = next_path(&maps);
        is_found = start <= address && address < end;
        *found = (struct mapping){.start = start, .offset = offset};
    }
    close(maps.file);
    if (!is_found || path[0] != '/') {
        return false;
    }
    unescape();
    size_t length = strlen(path), tail = sizeof removed - 1;
    if (length > tail && strcmp(path + length - tail, removed) == 0) {
        path[length - tail] = 0;
        found->is_removed = true;
    }
    return true;
}

static size_t append(size_t length, const char *text) {
    size_t count = strlen(text), room = sizeof line - 1 - length;
    count = count < room ? count : room;
    memcpy(line + length, text, count);
    return length + count;
}

// A terminal shall show a name, and not obey it.
static void show_controls(size_t from, size_t to) {
    for (size_t index = from; index < to; index++) {
        unsigned char byte = (unsigned char)line[index];
        if (byte < 0x20 || byte == 0x7F) {
            line[index] = '?';
        }
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
    struct stat status;
    if (stat(path, &status) == 0) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        uint64_t place = (mapping->offset + (address - mapping->start)) / page * page;
        if (place >= (uint64_t)status.st_size) {
            return ", and the page is beyond the end of the file. Instead: map it anew after its length has changed.\n";
        }
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

static void report(uintptr_t address) {
    struct mapping mapping;
    char class[64];
    if (!find_mapping(address, &mapping)) {
        return;
    }
    size_t length = append(0, "appcontainer: SIGBUS: this process touches its mapping of ");
    size_t start = length;
    length = append(length, path);
    show_controls(start, length);
    // After a restart the name leads to a new file, and the mapping counts as removed.
    if (is_in_mount(path, class, sizeof class)) {
        length = append(length, ", a file of class ");
        length = append(length, class);
        length = append(length, cause(&mapping, address));
    } else {
        // The directory above tells whether it was in a mount.
        char *slash = strrchr(path, '/');
        slash[slash == path ? 1 : 0] = 0;
        if (!mapping.is_removed || !is_in_mount(path, class, sizeof class)) {
            return;
        }
        length = append(length, ", a file that was removed. Instead: let go of the mapping before a lock or a restart.\n");
    }
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
}

// Does as would be done without this handler.
static void pass_on(int number, siginfo_t *information, void *context) {
    bool is_fault = information->si_code > 0;
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

static void on_bus_error(int number, siginfo_t *information, void *context) {
    int saved = errno;
    if (information->si_code == BUS_ADRERR) {
        // Another thread's report comes to its end before this thread ends the process.
        struct timespec moment = {.tv_nsec = 1000000};
        int idle = 0, waits = 0;
        while (!atomic_compare_exchange_strong(&is_reporting, &idle, 1) && waits < LONGEST_WAIT) {
            nanosleep(&moment, NULL);
            idle = 0;
            waits++;
        }
        if (waits < LONGEST_WAIT) {
            report((uintptr_t)information->si_addr);
            atomic_store(&is_reporting, 0);
        }
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
