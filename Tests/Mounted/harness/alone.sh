#!/bin/bash
# Runs a command where nothing but a directory of its own can be written, and no other process or network be reached.
#
#   alone.sh DIRECTORY COMMAND…
#
# As root. Requests to a device may name any path and any process: here there are none to harm. Processes begin at a
# number that nobody guesses.
set -euo pipefail

if [ "${1-}" != --inside ]; then
    exec unshare --mount --propagation private --pid --net --fork --kill-child --mount-proc "$0" --inside "$@"
fi
directory=$2
shift 2
mount --bind "$directory" "$directory"
while read -r _ _ _ _ place _; do
    case $(printf %b "$place") in
    /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) ;;
    "$directory") ;;
    *) mount -o remount,bind,ro "$(printf %b "$place")" ;;
    esac
done </proc/self/mountinfo
for place in /run /tmp /dev/shm; do mount -t tmpfs -o mode=1777 none "$place"; done
chmod 755 /run
echo $(($(cat /proc/sys/kernel/pid_max) - 10000)) >/proc/sys/kernel/ns_last_pid
/usr/bin/python3 - <<'PYTHON'
# The loopback interface, which a new network has, but down: SIOCSIFFLAGS with IFF_UP and IFF_RUNNING.
import fcntl, socket, struct
with socket.socket() as sock:
    fcntl.ioctl(sock, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
PYTHON
cd "$directory"
"$@"
