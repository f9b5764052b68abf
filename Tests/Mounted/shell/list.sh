# The list of devices that are served: which are in it, and what is not believed.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# served: a line for each device of this case, `NAME STATE THERE APPS MOUNTS RUNNING…`. Other cases have devices too.
served() {
    appcontainer list --json | /usr/bin/python3 -c '
import json, os, sys
for found in json.load(sys.stdin):
    device = found["device"]
    if device and device.startswith(os.environ["WORK"] + "/"):
        print(os.path.basename(device), found["state"], found["there"], found["apps"], len(found["mounts"]), *found["running"])'
}

case_list_has_the_devices_that_are_served_and_no_other() {
    start_protected
    appcontainer create "$WORK/other phone"
    same "$(served)" "device unlocked True 1 1" "with one device on"
    appcontainer boot "$WORK/other phone" >/dev/null
    appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer lock "$DEVICE" --now
    same "$(served)" "device locked True 1 1 $APP"$'\n'"other phone unlocked True 0 0" "with both"
    # By the kernel's word and by the device's own.
    same "$(appcontainer list --json | /usr/bin/python3 -c '
import json, os, sys
print(*[found["pid"] for found in json.load(sys.stdin) if found["device"] == os.environ["DEVICE"]])')" "$(daemon_pid)" "its process"
    # For people: a table with a heading.
    appcontainer list >"$WORK/table"
    contains "$(head -n 1 "$WORK/table")" "DEVICE"
    contains "$(grep -F "$DEVICE " "$WORK/table")" "locked"
    contains "$(grep -F "$DEVICE " "$WORK/table")" "$APP"
    # Of a killed process the socket stays, and is no device.
    kill -9 "$(daemon_pid)"
    eventually is_gone_from_list "$DEVICE"
    appcontainer shutdown "$WORK/other phone"
    same "$(served)" "" "with none"
}
is_gone_from_list() { ! appcontainer list | grep -qF "$1 "; }

case_list_has_a_device_that_a_test_owns() {
    mkfifo "$WORK/life"
    appcontainer own <"$WORK/life" >"$WORK/report" &
    exec 7>"$WORK/life"
    echo "{\"device\": \"$WORK/owned\", \"create\": {}}" >&7
    eventually test -s "$WORK/report"
    same "$(served)" "owned unlocked True 0 0" "while it is owned"
    exec 7>&-
    wait
    same "$(served)" "" "after its end"
}

case_list_waits_two_seconds_for_a_device_that_does_not_answer() {
    start_unmounted
    appcontainer boot "$DEVICE" >/dev/null
    local pid begin
    pid=$(daemon_pid)
    kill -STOP "$pid"
    begin=$(date +%s)
    same "$(served)" "device notAnswering True 0 0" "a process that was stopped"
    [ $(($(date +%s) - begin)) -le 15 ] || fail "it took too long"
    kill -CONT "$pid"
    same "$(served)" "device unlocked True 1 0" "the process goes on"
}

case_list_tells_that_the_directory_of_a_device_is_gone() {
    start_unmounted
    appcontainer boot "$DEVICE" >/dev/null
    local pid
    pid=$(daemon_pid)
    # A process that is stopped cannot notice it.
    kill -STOP "$pid"
    mv "$DEVICE" "$WORK/elsewhere"
    same "$(served)" "device notAnswering False 0 0" "without its directory"
    contains "$(appcontainer list)" "directory gone"
    mv "$WORK/elsewhere" "$DEVICE"
    kill -CONT "$pid"
}

usercase_list_believes_nothing_that_lies_beside_the_sockets() {
    # Of this case alone, and short enough for a socket.
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/list.XXXXXX)
    export XDG_RUNTIME_DIR
    # shellcheck disable=SC2317  # finish calls it
    undo() { rm -rf "$XDG_RUNTIME_DIR"; }
    same "$(served)" "" "without a device"
    # With /run and /tmp of its own, where no other case has devices.
    unshare --map-root-user --mount bash -c 'mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /tmp &&
        appcontainer list --json >"$WORK/none" && appcontainer list >"$WORK/table" 2>"$WORK/told"'
    same "$(tr -d ' \n' <"$WORK/none")" "[]" "without any device"
    same "$(cat "$WORK/table")" "" "the table of none"
    contains "$(cat "$WORK/told")" "no device is served"
    start
    within /usr/bin/python3 "$HERE/list.py" "$XDG_RUNTIME_DIR/appcontainer" "$DEVICE" 300
    # A directory that others may enter, or that is a link, is not looked into.
    chmod 755 "$XDG_RUNTIME_DIR/appcontainer"
    same "$(served)" "" "a directory that is open to others"
    chmod 700 "$XDG_RUNTIME_DIR/appcontainer"
    mv "$XDG_RUNTIME_DIR/appcontainer" "$XDG_RUNTIME_DIR/moved"
    ln -s moved "$XDG_RUNTIME_DIR/appcontainer"
    same "$(served)" "" "a link"
    rm "$XDG_RUNTIME_DIR/appcontainer"
    mv "$XDG_RUNTIME_DIR/moved" "$XDG_RUNTIME_DIR/appcontainer"
    same "$(served)" "device unlocked True 1 1" "its own directory"
    stop
}
