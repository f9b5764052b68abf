# The way by which the kernel's requests reach a device's process: the option, the environment, and what there is.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# The kernel's switch for io_uring: 2 forbids it to everybody.
SWITCH=/proc/sys/kernel/io_uring_disabled

# transport NUMBER: of a mount of the device, as status has it.
transport() { appcontainer status "$DEVICE" --json | json mounts "$1" transport; }

case_a_mount_is_over_the_transport_that_it_names() {
    unset APPCONTAINER_TRANSPORT
    start_unmounted
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport dev-fuse
    same "$(transport 0)" dev-fuse "in the JSON"
    contains "$(appcontainer status "$DEVICE")" "Transport:  dev-fuse"
    echo kept >"$DOCUMENTS/note"
    again
    # By default either, as the kernel has it.
    case $(transport 0) in dev-fuse | io-uring) ;; *) fail "the transport is $(transport 0)" ;; esac
    same "$(cat "$DOCUMENTS/note")" kept
}

case_there_is_no_other_transport() {
    start_unmounted
    complains 64 appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport pigeon
    grep -q 'auto.*dev-fuse.*io-uring' .err || fail "it does not tell the transports that there are: $(cat .err)"
    local socket
    socket=$(appcontainer boot "$DEVICE")
    contains "$(curl -sS --unix-socket "$socket" http://device/v1/mount --json \
        "{\"app\": \"$APP\", \"mountPoint\": \"$MOUNT\", \"transport\": \"pigeon\"}")" "is not auto, dev-fuse or io-uring"
    same "$(mounts)" "" "mounts"
}

case_the_environment_of_its_process_names_a_devices_transport() {
    start_unmounted
    appcontainer shutdown "$DEVICE"
    export APPCONTAINER_TRANSPORT=pigeon
    complains 27 appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    grep -q "APPCONTAINER_TRANSPORT is 'pigeon'" .err || fail "the variable is not named: $(cat .err)"
    # Two lines in it are one line on the terminal.
    APPCONTAINER_TRANSPORT=$'auto\npigeon' complains 27 appcontainer boot "$DEVICE"
    # A command that starts no process does not look.
    contains "$(appcontainer status "$DEVICE")" off
    export APPCONTAINER_TRANSPORT=dev-fuse
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(transport 0)" dev-fuse
    # The process has read it already.
    APPCONTAINER_TRANSPORT=pigeon again_mounted
}
again_mounted() {
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(transport 0)" dev-fuse
}

rootcase_roots_mounts_have_the_transport_of_the_first() {
    start_unmounted
    make_app com.example.Mail Mail
    appcontainer install "$DEVICE" Mail.app
    mkdir mail
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport dev-fuse
    complains 16 appcontainer mount "$DEVICE" com.example.Mail mail --transport io-uring
    grep -q 'over dev-fuse' .err || fail "the first mount's transport is not named: $(cat .err)"
    not_mounted mail
    appcontainer mount "$DEVICE" com.example.Mail mail --transport auto
    same "$(transport 1)" dev-fuse "the second mount's transport"
}

# The one case that changes the kernel's setting: over /dev/fuse, where no case relies on it. Over io_uring it is on.
rootcase_io_uring_is_had_where_the_kernel_offers_it() {
    local turn=$APPCONTAINER_TRANSPORT
    unset APPCONTAINER_TRANSPORT
    start_unmounted
    # shellcheck source=Tests/Mounted/kit/transports.sh
    . "$KIT/transports.sh"
    if [ "$turn" = dev-fuse ] && [ -w "$URING" ]; then
        before=$(cat "$URING")
        allowed=$(cat "$SWITCH" 2>/dev/null || true)
        # shellcheck disable=SC2317  # the end of a case calls it
        undo() {
            echo "$before" >"$URING"
            [ -z "$allowed" ] || echo "$allowed" >"$SWITCH"
        }
        echo N >"$URING"
        # Another exit code where the kernel has none at all.
        complains "15|16" appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport io-uring
        same "$(mounts)" "" "mounts"
        appcontainer mount "$DEVICE" "$APP" "$MOUNT"
        same "$(transport 0)" dev-fuse "what there is, where it is off"
        stop
        echo Y >"$URING"
        [ -z "$allowed" ] || io_uring_may_be_forbidden
    fi
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    if [ "$(transport 0)" = dev-fuse ]; then
        # There is none to be had: then not by its name either.
        stop
        complains "15|16" appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport io-uring
        return
    fi
    contains "$(appcontainer status "$DEVICE")" "Transport:  io-uring"
    make_app com.example.Mail Mail
    appcontainer install "$DEVICE" Mail.app
    mkdir mail
    complains 16 appcontainer mount "$DEVICE" com.example.Mail mail --transport dev-fuse
    grep -q 'over io-uring' .err || fail "the first mount's transport is not named: $(cat .err)"
    appcontainer mount "$DEVICE" com.example.Mail mail
    same "$(transport 1)" io-uring "the second mount's transport"
    echo kept >"$DOCUMENTS/note"
    stop
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport dev-fuse
    same "$(cat "$DOCUMENTS/note") $(transport 0)" "kept dev-fuse" "over the other transport"
}

io_uring_may_be_forbidden() {
    echo 2 >"$SWITCH"
    complains 16 appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport io-uring
    grep -q 'may not use io_uring.*kernel.io_uring_disabled' .err || fail "the reason is not told: $(cat .err)"
    same "$(mounts)" "" "mounts"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(transport 0)" dev-fuse "where the kernel forbids io_uring"
    stop
    echo "$allowed" >"$SWITCH"
}

rootcase_without_the_right_to_use_io_uring_there_is_dev_fuse() {
    no_right_to setup
}
rootcase_without_the_right_to_enter_a_ring_there_is_dev_fuse() {
    no_right_to enter
}
no_right_to() {
    local call=$1
    start_unmounted
    appcontainer shutdown "$DEVICE"
    unset APPCONTAINER_TRANSPORT
    /usr/bin/python3 "$HERE/without_rings.py" "$call" appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(transport 0)" dev-fuse
    echo kept >"$DOCUMENTS/note"
    stop
    # shellcheck source=Tests/Mounted/kit/transports.sh
    . "$KIT/transports.sh"
    grep -qsx '[Y1]' "$URING" || return 0
    complains 16 /usr/bin/python3 "$HERE/without_rings.py" "$call" \
        appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport io-uring
    grep -q 'may not use io_uring' .err || fail "the reason is not told: $(cat .err)"
    same "$(mounts)" "" "mounts"
}

# The guard ends a process that stays stopped: an abort of the connection does not reach calls that lie in its rings.
rootcase_callers_of_a_stopped_process_are_freed_over_io_uring() {
    [ "$APPCONTAINER_TRANSPORT" = io-uring ] || return 0
    start
    echo kept >"$DOCUMENTS/note"
    sync "$DOCUMENTS/note"
    local process
    process=$(daemon_pid)
    kill -STOP "$process"
    # A thread goes on for a moment, and may answer one more call.
    eventually is_stopped "$process"
    fails stat "$DOCUMENTS/absent"
    gone "$process"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(cat "$DOCUMENTS/note")" kept
}

# The queue of a processor that is off has a thread that it shares, and those of one that goes have another processor.
# It changes the whole machine, so that a full run alone does it.
rootcase_a_processor_may_go_and_come_back() {
    local worker
    switch=/sys/devices/system/cpu/cpu1/online
    [ "${FULL:-0}" = 1 ] && [ -w "$switch" ] || return 0
    # shellcheck disable=SC2317  # the end of a case calls it
    undo() { echo 1 >"$switch"; }
    start
    echo kept >"$DOCUMENTS/note"
    for worker in 1 2 3 4; do
        until [ -e over ]; do echo "$worker" >"$DOCUMENTS/$worker" && cat "$DOCUMENTS/$worker" >/dev/null; done &
    done
    echo 0 >"$switch"
    taskset -c 0 cp -r "$BASE/Notes.app" "$DOCUMENTS/while-off"
    echo 1 >"$switch"
    taskset -c 1 diff -r "$BASE/Notes.app" "$DOCUMENTS/while-off"
    touch over
    wait
    same "$(cat "$DOCUMENTS"/[1-4] | tr '\n' ' ')" "1 2 3 4 " "what was written meanwhile"
    stop
    # Mounted while it is off.
    echo 0 >"$switch"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    echo 1 >"$switch"
    same "$(taskset -c 1 cat "$DOCUMENTS/note")" kept "by a processor that came after the mount"
    taskset -c 1 cp -r "$BASE/Notes.app" "$DOCUMENTS/after"
    diff -r "$BASE/Notes.app" "$DOCUMENTS/after"
    whole
}
