# shellcheck shell=bash
# Leftovers of a case, found and taken away. Sourced by `run` and `turn`.

# Processes that a case started and that are still there: they have its directory in their environment.
left_processes() {
    { grep -lazE "^WORK=$1(/|\$)" /proc/[0-9]*/environ 2>/dev/null || true; } | cut -d/ -f3 | grep -vx "$$" || true
}

# The leftovers of a case: says so on standard output, and takes them away.
sweep() {
    local place=$1 line pid _
    # Ten seconds for those that are ending.
    for _ in $(seq 200); do
        [ -n "$(left_processes "$place")" ] || break
        sleep 0.05
    done
    for pid in $(left_processes "$place"); do
        echo "left a process behind: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null || echo "$pid")"
        kill -9 "$pid" 2>/dev/null || true
    done
    # Sources name the device, mount points lie in its directory, private ones beside the socket that the log names.
    local socket names="/${place##*/}"
    # shellcheck disable=SC2013  # a socket has no blanks in its name
    for socket in $(sed -nE 's/.* socket=([^ ]+).*/\1/p' "$place"/*/daemon.log "$place"/*/*/daemon.log 2>/dev/null | sort -u); do
        names+=" $socket"
    done
    while read -r line; do
        [ -n "$line" ] || continue
        echo "left a mount behind: $line"
        umount -l "$line" 2>/dev/null || fusermount3 -u -z "$line" 2>/dev/null || true
    done < <(tac /proc/self/mountinfo | awk -v names="$names" '
        / - fuse/ || $5 ~ "^/run/appcontainer/" {
            split(names, list, " ")
            for (i in list) if (index($0, list[i])) { print $5; next }
        }')
}
