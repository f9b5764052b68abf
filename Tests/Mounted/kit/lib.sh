#!/bin/bash
# The words that mounted tests are written in. `bash lib.sh FILE CASE` runs one case; `turn` calls it so,
# with WORK (an empty directory), BASE (binary, sample app, tree of real files), HOSTS and LIMIT (its seconds) in the
# environment.
set -euo pipefail

# The programs that all themes share, and the folder of this case's theme with those of its own.
KIT=$BASE/cases/kit
HERE=$BASE/cases/${1%/*}
export KIT HERE PYTHONPATH=$KIT PYTHONDONTWRITEBYTECODE=1
# shellcheck source=Tests/Mounted/kit/rounds.sh
. "$KIT/rounds.sh"

APP=com.example.Notes
DEVICE=$WORK/device
MOUNT=$WORK/home
DOCUMENTS=$MOUNT/Documents
CODE=$WORK/code
export WORK BASE HOSTS MOUNT DEVICE DOCUMENTS CODE

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# same ACTUAL EXPECTED [WHAT]
same() { [ "$1" = "$2" ] || fail "${3:-not the same}: got '$1', expected '$2'"; }

contains() { [[ $1 == *"$2"* ]] || fail "'$2' is not in: $1"; }

absent() { if [ -e "$1" ] || [ -L "$1" ]; then fail "$1 exists"; fi; }

# Runs a command that must fail, and shows what it said.
fails() {
    local output
    if output=$("$@" 2>&1); then fail "succeeded: $*"; fi
    echo "$output"
}

# refused COMMAND…: the tool must fail, and say that the operation is not permitted.
refused() { contains "$(fails "$@")" "Operation not permitted"; }

# complains CODES COMMAND…: one line on standard error, one of the exit codes (separated by |), nothing else.
complains() {
    local codes=$1 status=0 lines
    shift
    "$@" >"$WORK/.out" 2>"$WORK/.err" </dev/null || status=$?
    [[ "|$codes|" == *"|$status|"* ]] || fail "exit status $status, expected $codes: $* ($(cat "$WORK/.err"))"
    lines=$(wc -l <"$WORK/.err")
    [ "$lines" = 1 ] || fail "$lines lines on standard error, expected one: $*: $(cat "$WORK/.err")"
    grep -q '^appcontainer: .' "$WORK/.err" || fail "no 'appcontainer: …': $(cat "$WORK/.err")"
    [ ! -s "$WORK/.out" ] || fail "words on standard output: $(cat "$WORK/.out")"
}

# A table on standard input: `ERRNO CALL ARGUMENTS…` a line, each tried with the bare system call,
# by the user AS where that is set.
expect() { ${AS:+runuser -u "$AS" --} /usr/bin/python3 "$KIT/calls.py"; }

# within COMMAND…: for as long as a case may take, less the seconds that its end needs.
within() { timeout "$((LIMIT - 20))" "$@"; }

# The calls no tool makes: tool NAME ARGUMENTS…
tool() { timeout 120 /usr/bin/python3 "$KIT/tool.py" "$@"; }

# change_byte FILE PLACE: another byte than the one that is there.
change_byte() {
    dd if="$1" bs=1 skip="$2" count=1 status=none | LC_ALL=C tr '\000-\377' '\001-\377\000' |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Waits for the end of a process that this shell did not start.
gone() { tool listen_for_end "$1"; }

# Waits until calls at a path fail with ENOTCONN, after a kill: the kernel lets go of a connection over io_uring a moment
# after its process, and cancels what is asked till then.
disconnected() { eventually is_disconnected "$1"; }
is_disconnected() { [[ $(LC_ALL=C stat -f "$1" 2>&1) == *"not connected"* ]]; }

# json FILE-OR-- KEY…: one value out of a JSON text on standard input.
json() {
    /usr/bin/python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = value[int(key)] if isinstance(value, list) else value.get(key) if value is not None else None
print("null" if value is None else value)' "$@"
}

# json_lines KEY…: the values of each line, separated by blanks.
json_lines() {
    /usr/bin/python3 -c '
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    print(*[event.get(key, "null") for key in sys.argv[1:]])' "$@"
}

# make_app IDENTIFIER NAME: a further app, $WORK/NAME.app
make_app() {
    cp -R "$BASE/Notes.app" "$WORK/$2.app"
    chmod -R u+w "$WORK/$2.app"
    sed -i "s/com\.example\.Notes/$1/" "$WORK/$2.app/Info.plist"
}

# eventually COMMAND…: until it succeeds; half a minute is for a machine with much else to do.
eventually() {
    local _
    for _ in $(seq 600); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    fail "did not come true: $*"
}

# Whether every thread of a process is stopped.
is_stopped() { ! grep -hs '^State:' /proc/"$1"/task/*/status | grep -qv T; }

# Whether a process has ended.
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# A device with the sample app, mounted at $MOUNT. Arguments go to install.
start() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "$BASE/Notes.app" "$@"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}

# The same, not mounted.
# start_unmounted [APP]
start_unmounted() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "${1:-$BASE/Notes.app}"
}

# Root's daemon, the app of an ordinary user, and that user at work in it.
as_container_user() {
    chmod 711 "$WORK"
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "$BASE/Notes.app" --owner "$TEST_USER" "$@"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --allow-other
    AS=$TEST_USER
}
# Real files: what is different for a user's own daemon, each entry's own rights, does not take as many.
some_tree() { if [ "$(id -u)" = 0 ]; then echo "$BASE/tree"; else echo "$BASE/tree/usr/include/linux"; fi; }

# Like a shell command, but by whoever the table is tried as.
act() { ${AS:+runuser -u "$AS" --} "$@"; }
# Whether paths are kept out of backups, which every form of the mark has to agree on.
excluded() { act /usr/bin/python3 "$KIT/exclusion.py" yes "$@"; }
not_excluded() { act /usr/bin/python3 "$KIT/exclusion.py" no "$@"; }
# How many events there are of a rule.
rules() { appcontainer events "$DEVICE" | json_lines rule | sort | uniq -c | awk -v rule="$1" '$2 == rule { print $1 }'; }
# Whose container it is.
owner() { id -u "${AS:-$(id -un)}"; }

# A device with a passcode whose guesses are cheap, mounted and unlocked.
# start_protected [CREATE-OPTION…]
# shellcheck disable=SC2120
start_protected() {
    mkdir -p "$MOUNT"
    echo 271828 >"$CODE"
    chmod 600 "$CODE"
    appcontainer create "$DEVICE" --passcode-file "$CODE" --kdf-cost 1 "$@"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
}
unlock() { appcontainer unlock "$DEVICE" --passcode-file "$CODE"; }
state() { appcontainer status "$DEVICE" --json | json state; }
# classed CLASS DIRECTORY: a directory whose files get the class.
classed() { mkdir "$2" && appcontainer protect "$1" "$2"; }

stop() {
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
}

# A new boot: nothing that was in a cache can answer.
again() {
    stop
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}

# Unmounted, whoever did it: nothing of the mount is to be seen.
not_mounted() { if mountpoint -q "$1"; then fail "$1 is a mount point still"; fi; }

backing() { appcontainer path "$DEVICE" "$APP" data --backing; }

# The apps that run, in one line.
running() {
    appcontainer status "$DEVICE" --json | /usr/bin/python3 -c 'import json, sys; print(*json.load(sys.stdin)["running"])'
}
runs() { [ "$(running)" = "$APP" ]; }
runs_not() { [ -z "$(running)" ]; }
control_socket() { appcontainer status "$DEVICE" --json | json daemon socket; }
# Where apps are mounted.
mounts() { appcontainer status "$DEVICE" --json | json mounts | grep -o "'mountPoint': '[^']*'" | cut -d"'" -f4; }
# shown -e|-s PATH: whether a file is in the home of the app that is mounted, or will be: an app runs before that.
shown() { test "$1" "$(mounts)/$2"; }
daemon_pid() { appcontainer status --json "$DEVICE" | json daemon pid; }

# How many apps a device has.
apps() { appcontainer apps "$1" --json | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'; }

# The device has not a byte that is not whole.
whole() { same "$(appcontainer check "$DEVICE")" whole "check"; }

# Two trees agree in content (by checksum), names, types, modes, times, links and attributes.
same_tree() {
    local difference
    difference=$(rsync -aXHnc --delete --itemize-changes "$1/" "$2/")
    [ -z "$difference" ] || fail "trees differ: $(echo "$difference" | head -20)"
}

# The same without times: for trees that were made at different times.
same_content() {
    local difference
    difference=$(rsync -rlpgoDXHnc --delete --itemize-changes "$1/" "$2/")
    [ -z "$difference" ] || fail "trees differ: $(echo "$difference" | head -20)"
}

finish() {
    local status=$? device
    { set +ex; } 2>/dev/null
    cd /
    # A case that changes a thing outside its directory defines this function before.
    ! declare -F undo >/dev/null || undo
    for device in "$WORK"/*/Device.json "$WORK"/*/*/Device.json ${HOSTS:+"$HOSTS"/*/"${WORK##*/}"*/Device.json}; do
        [ -e "$device" ] || continue
        device=${device%/Device.json}
        if [ $status != 0 ] && [ -s "$device/daemon.log" ]; then
            echo "-- the end of daemon.log"
            tail -n 12 "$device/daemon.log"
        fi
        timeout 20 appcontainer shutdown "$device" >/dev/null 2>&1
    done
    [ -z "$HOSTS" ] || find "$HOSTS" -mindepth 2 -maxdepth 2 -name "${WORK##*/}*" -exec rm -rf {} +
    exit $status
}

trap finish EXIT
cd "$WORK"
# shellcheck disable=SC1090  # the runner names the file
. "$BASE/cases/$1"
# The log shows each step; by a descriptor of its own, so that a command's captured output stays its own.
exec 9>&2
BASH_XTRACEFD=9
set -x
"$2"
