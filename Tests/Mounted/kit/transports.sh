# shellcheck shell=bash
# The kernel's offer of FUSE over io_uring. Sourced by run and by scripts/test.

# The kernel's setting: whether it offers FUSE over io_uring to new mounts.
URING=/sys/module/fuse/parameters/enable_uring

# The setting of before; empty where there is none.
uring=$(cat "$URING" 2>/dev/null || true)

# Has the kernel offer io_uring from now on. Fails where it has none, or this user may not say so.
offer_io_uring() { grep -qsx '[Y1]' "$URING" || { echo Y >"$URING"; } 2>/dev/null; }

restore_io_uring() { [ -z "$uring" ] || { echo "$uring" >"$URING"; } 2>/dev/null || true; }
