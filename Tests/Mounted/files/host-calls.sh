# The calls to the host that a file costs.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

FILES=100

host_calls() { /usr/bin/python3 "$HERE/host_calls.py" "$@"; }

# Whether each thread of the device's process is traced.
is_traced() { [ "$(cat "/proc/$1"/task/*/status 2>/dev/null | awk '/^TracerPid:/ && $2 == 0' | wc -l)" = 0 ]; }
# Whether the device's process has none of the files open, so that every request about them is over.
has_none_open() { [ -z "$(find "/proc/$1/fd" -lname '*/Documents/new-*' 2>/dev/null)" ]; }

# traced TRACE COMMAND…: what the device's process calls while the command runs, and until it has closed the files.
traced() {
    local trace=$1 pid tracer
    shift
    pid=$(daemon_pid)
    strace -f -y -qq -o "$trace" -e 'trace=%file,%desc,getrandom,prlimit64' -p "$pid" 2>"$trace.err" &
    tracer=$!
    for _ in $(seq 600); do
        if is_traced "$pid"; then break; fi
        if ! kill -0 $tracer 2>/dev/null; then break; fi
        sleep 0.05
    done
    is_traced "$pid" || fail "strace may not trace the device's process; this test needs ptrace(2) (CAP_SYS_PTRACE," \
        "docker run --cap-add SYS_PTRACE): $(cat "$trace.err")"
    "$@"
    eventually has_none_open "$pid"
    kill -INT $tracer
    wait $tracer || true
}

# Root only: where Yama restricts ptrace(2), as on Debian's relatives, a user may not trace a process of his own.
rootcase_a_new_file_costs_seven_calls_to_the_host_and_its_removal_four() {
    command -v strace >/dev/null || fail "strace is missing: apt-get install strace"
    start
    # The first of all files costs more.
    host_calls create "$DOCUMENTS" 2
    eventually has_none_open "$(daemon_pid)"
    host_calls remove "$DOCUMENTS" 2
    traced created host_calls create "$DOCUMENTS" $FILES
    traced removed host_calls remove "$DOCUMENTS" $FILES
    # openat, two pwrite64, newfstatat, utimensat, statx, close
    host_calls at_most created $FILES 7 0
    # openat, newfstatat, unlinkat; and a close for which nobody waits
    host_calls at_most removed $FILES 3 1
    whole
}
