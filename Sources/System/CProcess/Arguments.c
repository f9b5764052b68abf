// The arguments of this process, which are known where no /proc tells them.
#include "CProcess.h"
#include <stddef.h>

/// Of the Swift runtime: what CommandLine answers from now on. Without it, CommandLine reads /proc/self/cmdline, and
/// has no arguments where there is no /proc. Weak, for programs that need no CommandLine.
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count) __attribute__((weak));

static char **given;
static int number;

// The C library hands main's arguments to every constructor.
__attribute__((constructor)) static void keep(int count, char **arguments) {
    given = arguments;
    number = count;
}

void process_use_own_arguments(void) {
    if (given != NULL && _swift_stdlib_overrideUnsafeArgvArgc != NULL) {
        _swift_stdlib_overrideUnsafeArgvArgc(given, number);
    }
}
