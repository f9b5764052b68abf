# shellcheck shell=bash
# Over which transports cases run. Sourced by run.

# The cases that a plain run has over io_uring too, as root: themes (`faults/`) or parts of names, as NAME of `run`.
OVER_BOTH='
faults/damage.sh
faults/kill.sh
faults/limits.sh
faults/power.sh
files/calls.sh
files/host-calls.sh
files/hosts.sh
files/tools.sh
life/daemon.sh
life/transport.sh
protection/classes.sh
protection/lock.sh
protection/revocation.sh
'

# is_over_both FILE:FUNCTION
is_over_both() {
    local pattern
    for pattern in $OVER_BOTH; do [[ $1 != *"$pattern"* ]] || return 0; done
    return 1
}

# The kernel's setting: whether it offers FUSE over io_uring to new mounts.
URING=/sys/module/fuse/parameters/enable_uring

# The setting of before; empty where there is none.
uring=$(cat "$URING" 2>/dev/null || true)

# Has the kernel offer io_uring from now on. Fails where it has none, or this user may not say so.
offer_io_uring() { grep -qsx '[Y1]' "$URING" || { echo Y >"$URING"; } 2>/dev/null; }

restore_io_uring() { [ -z "$uring" ] || { echo "$uring" >"$URING"; } 2>/dev/null || true; }
