# A C test of data protection in Darwin's calls, compiled unchanged with <appcontainer/darwin.h>.
# shellcheck shell=bash disable=SC2164,SC2153

# compiled NAME COMPILER…: the sample, as a program of that name.
compiled() {
    local name=$1
    shift
    "$@" -Wall -Wextra -Werror -I "$BASE/include" -include appcontainer/darwin.h -o "$name" "$BASE/Darwin/protection.c"
}

# protection PROGRAM DIRECTORY
protection() {
    mkdir "$2"
    "$1" "$2" "appcontainer lock '$DEVICE' --now" "appcontainer unlock '$DEVICE' --passcode-file '$CODE'" \
        "appcontainer restart '$DEVICE'"
}

case_a_c_test_in_darwin_s_calls_compiles_and_passes() {
    start_protected
    compiled plain cc
    compiled optimized cc -O2 -std=c99
    contains "$(protection ./plain "$DOCUMENTS/first")" " checks, 0 failed"
    contains "$(protection ./optimized "$DOCUMENTS/second")" " checks, 0 failed"
    # Nothing is left of directories in which files were made.
    same "$(find "$DOCUMENTS" -name '.*')" ""
    whole
}

# Off a mount nothing is protected, and a new file has no attribute.
case_darwin_s_calls_off_a_mount() {
    cat >outside.c <<'END'
#include <appcontainer/darwin.h>

int main(void) {
    int fd = open_dprotected_np("file", O_RDWR | O_CREAT | O_EXCL, PROTECTION_CLASS_A, 0, 0600);
    int (*control)(int, int, ...) = fcntl;
    printf("%d\n", fd >= 0);
    printf("%d\n", fcntl(fd, F_GETPROTECTIONCLASS) == -1 && errno == ENOTSUP);
    printf("%d\n", control(fd, F_SETPROTECTIONCLASS, PROTECTION_CLASS_A) == -1 && errno == ENOTSUP);
    printf("%d\n", fcntl(-1, F_GETPROTECTIONCLASS) == -1 && errno == EBADF);
    printf("%d\n", setxattr("file", "com.example.colour", "red", 3, 0, 0));
    return 0;
}
END
    cc -Wall -Wextra -Werror -I "$BASE/include" -o outside outside.c
    same "$(./outside | tr '\n' ' ')" "1 1 1 1 0 "
    same "$(getfattr -d file)" '# file: file
user.com.example.colour="red"'
}
