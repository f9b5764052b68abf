# Locks and restarts in the middle of work: nothing lost, nothing left, nobody hung.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034,SC2119

# A directory of class A in a protected device.
start_complete() {
    start_protected
    classed complete "$DOCUMENTS/A"
    cd "$DOCUMENTS/A"
}
locking() { SOCKET=$(control_socket) within /usr/bin/python3 "$HERE/locking.py" "$@"; }
events() { appcontainer events "$DEVICE"; }

case_data_written_before_a_lock_is_there_after_it() {
    start_complete
    ulimit -n "$(ulimit -Hn)"
    locking dirty 1000
    cd "$WORK"
    whole
    # And in the next session, from the disk.
    again
    appcontainer unlock "$DEVICE" --passcode-file "$CODE"
    same "$(head -c 8 "$DOCUMENTS/A/f7")" 0000007
    whole
}

case_data_written_to_a_mount_out_of_sight_is_there_after_a_lock() {
    start_complete
    locking detached
    cd "$WORK"
    whole
}

case_no_page_is_left_in_the_page_cache() {
    start_complete
    locking pages
}

# A write that the kernel has allowed, and that then waits for another to the same file, comes after everything else.
case_writers_that_wait_for_their_turn_at_a_lock_leave_no_page() {
    start_complete
    locking queue "$(rounds locks_under_queued_writers)"
    cd "$WORK"
    same "$(events | grep -c '"range"' || true)" 0 "lost ranges"
    whole
}

rootcase_a_write_under_way_is_waited_for() {
    start_complete
    same "$(locking slow 2)" 0 "bytes lost"
    cd "$WORK"
    whole
}

rootcase_a_write_that_takes_too_long_loses_its_rest_and_an_event_names_it() {
    local lost
    start_complete
    lost=$(locking slow "$(rounds seconds_of_a_slow_write)")
    cd "$WORK"
    [ "$lost" -gt 0 ] || fail "nothing was lost"
    events | grep '"range"' >"$WORK/lost"
    # A range for all of it, unless the kernel's requests overtook each other.
    same "$(json_lines event path process operation <"$WORK/lost" | sort -u)" "refused Documents/A/slow python3 write"
    same "$(grep -o '"length":[0-9]*' "$WORK/lost" | awk -F: '{ sum += $2 } END { printf "%d", sum }')" "$lost" "lost bytes"
    whole
}

rootcase_a_lock_leaves_no_key_and_no_plaintext_in_memory() {
    local backing pid other=OPENTEXT-abcdefghijkl-0123456789- text=PLAINTEXT-0123456789-abcdefghijkl-
    start_complete
    classed none "$DOCUMENTS/D"
    backing=$(backing)/Documents/A/secret
    pid=$(daemon_pid)
    in_memory() {
        /usr/bin/python3 "$HERE/memory.py" "$DEVICE" "$pid" "$(head -n 1 "$CODE")" "$backing" "$1" | xargs
    }
    echo >secret
    # The plaintext of another class can be found: the search works.
    for _ in $(seq 3000); do echo -n "$other"; done >"$DOCUMENTS/D/public"
    sync -f "$DOCUMENTS/D/public"
    contains "$(in_memory "$other")" plaintext
    for _ in $(seq 3000); do echo -n "$text"; done >secret
    exec 8<>secret
    echo "$text$text" >&8
    truncate -s 50001 secret
    fallocate -p -o 100 -l 9000 secret
    cp secret copied
    cp --reflink=auto --sparse=always secret "$DOCUMENTS/A/sparse"
    dd if=secret of=/dev/null bs=4096 iflag=direct status=none
    dd if=secret of=direct bs=4096 oflag=direct conv=fsync status=none || true
    same "$(in_memory "$text")" "class-key file-key"
    # A file that was written under another class is of class A as well when the device locks.
    for _ in $(seq 3000); do echo -n "$text"; done >"$DOCUMENTS/later"
    sync -f "$DOCUMENTS/later"
    appcontainer protect complete "$DOCUMENTS/later"
    contains "$(in_memory "$text")" plaintext
    appcontainer lock "$DEVICE" --now
    same "$(in_memory "$text")" "" "after the lock"
    exec 8>&-
    cd "$WORK"
    appcontainer unlock "$DEVICE" --passcode-file "$CODE"
    contains "$(in_memory "$text")" class-key
    appcontainer restart "$DEVICE"
    same "$(in_memory "$text")" "" "after the restart"
}

# A device whose process answers nothing: who touches the file `second/Documents/page` waits.
silent_device() {
    mkdir second
    appcontainer create "$WORK/silent"
    appcontainer install "$WORK/silent" "$BASE/Notes.app"
    appcontainer mount "$WORK/silent" "$APP" second
    head -c 65536 /dev/zero >second/Documents/page
    # Nothing of it is cached then.
    appcontainer unmount second
    appcontainer mount "$WORK/silent" "$APP" second
}
holds() { grep -q '^State:.D' "/proc/$1/status"; }

case_a_process_that_holds_a_directory_keeps_no_lock_waiting() {
    local silent holder
    start_complete
    echo secret >f
    exec 8<f
    cd "$WORK"
    echo text >mail.txt
    appcontainer deliver "$DEVICE" "$APP" mail.txt
    silent_device
    silent=$(appcontainer status "$WORK/silent" --json | json daemon pid)
    /usr/bin/python3 "$HERE/hold_directory.py" "$DOCUMENTS/Inbox" second/Documents/page opened &
    holder=$!
    eventually test -e opened
    kill -STOP "$silent"
    touch go
    eventually holds "$holder"
    # The kernel is told of the new name, and cannot take it.
    timeout 20 appcontainer deliver "$DEVICE" "$APP" mail.txt
    timeout 20 appcontainer lock "$DEVICE" --now
    same "$(state)" locked state
    kill -CONT "$silent"
    wait "$holder"
    exec 8<&-
    appcontainer unmount second
    appcontainer shutdown "$WORK/silent"
    unlock
    same "$(cat "$DOCUMENTS/A/f") $(ls "$DOCUMENTS/Inbox" | wc -l)" "secret 2" "what is there"
}

case_locks_and_restarts_under_eight_processes() {
    local socket
    start_complete
    socket=$(control_socket)
    within /usr/bin/python3 "$HERE/lock_stress.py" "$socket" "$(head -n 1 "$CODE")" "$PWD" "$(rounds locks_under_load)"
    cd "$WORK"
    whole
}

case_a_restart_keeps_directories_and_mounts() {
    start_protected
    mkdir "$DOCUMENTS/folder"
    echo before >"$DOCUMENTS/folder/file"
    cd "$DOCUMENTS/folder"
    exec 8<file
    echo unsynced >>file
    appcontainer restart "$DEVICE"
    same "$(state)" beforeFirstUnlock
    same "$(pwd -P)" "$(realpath "$DOCUMENTS")/folder"
    same "$(ls)" file
    contains "$(fails cat <&8)" "Input/output error"
    contains "$(fails cat file)" "Operation not permitted"
    unlock
    same "$(tr '\n' ' ' <file)" "before unsynced "
    contains "$(fails cat <&8)" "Input/output error"
    exec 8<&-
    cd "$WORK"
    whole
}

case_a_device_without_a_passcode_restarts_unlocked_and_is_never_locked() {
    start
    complains 31 appcontainer lock "$DEVICE" --now
    echo kept >"$DOCUMENTS/file"
    exec 8<"$DOCUMENTS/file"
    appcontainer restart "$DEVICE"
    same "$(state)" unlocked
    same "$(cat "$DOCUMENTS/file")" kept
    contains "$(fails cat <&8)" "Input/output error"
    exec 8<&-
    whole
}

# Class B made while locked: it works until it is closed, and is whole after the unlock.
case_class_b_is_made_and_written_while_locked() {
    start_protected
    classed complete-unless-open "$DOCUMENTS/B"
    appcontainer lock "$DEVICE" --now
    exec 8<>"$DOCUMENTS/B/mail"
    seq 100000 >&8
    refused cat "$DOCUMENTS/B/mail"
    exec 8>&-
    refused cat "$DOCUMENTS/B/mail"
    appcontainer unlock "$DEVICE" --passcode-file "$CODE"
    same "$(md5sum <"$DOCUMENTS/B/mail")" "$(seq 100000 | md5sum)"
    whole
}

case_an_unlock_cancels_the_grace_period_and_a_wrong_passcode_does_not() {
    # Longer than all of this takes, on a busy machine too.
    start_protected --lock-grace 60
    echo 999999 >"$WORK/wrong"
    chmod 600 "$WORK/wrong"
    appcontainer lock "$DEVICE" 2>"$WORK/waited" &
    # No other command has announced it: this one waits.
    eventually is_locking
    complains 17 appcontainer unlock "$DEVICE" --passcode-file "$WORK/wrong"
    same "$(state)" locking
    appcontainer lock "$DEVICE" --no-wait
    unlock
    local status=0
    wait $! || status=$?
    same $status 33
    contains "$(cat "$WORK/waited")" cancelled
    same "$(state)" unlocked
}

case_the_grace_period() {
    start_protected --lock-grace 2
    classed complete "$DOCUMENTS/A"
    echo secret >"$DOCUMENTS/A/file"
    # It is announced, and until its end everything works.
    appcontainer lock "$DEVICE" --no-wait
    same "$(state)" locking
    appcontainer status "$DEVICE" --json | json graceRemaining | grep -qE '^[01]\.'
    same "$(cat "$DOCUMENTS/A/file")" secret
    # A second lock joins the first and returns with it.
    appcontainer lock "$DEVICE"
    same "$(state)" locked
    refused cat "$DOCUMENTS/A/file"
    same "$(appcontainer status "$DEVICE" --json | json graceRemaining)" null
    unlock
    # After an unlock it does not come to its end.
    appcontainer lock "$DEVICE" --no-wait
    unlock
    sleep 2.2
    same "$(state)" unlocked
    # --now ends it at once.
    appcontainer lock "$DEVICE" --no-wait
    appcontainer lock "$DEVICE" --now
    same "$(state)" locked
    # Locked is locked.
    appcontainer lock "$DEVICE"
    events | json_lines event | grep -v mounted | tr '\n' ' ' >"$WORK/record"
    contains "$(cat "$WORK/record")" "willBecomeUnavailable locked refused unlocked didBecomeAvailable"
}

is_locking() { [ "$(state)" = locking ]; }

# A thread of the killed process waits in the kernel for the mount that the process served: its guard ends the mount.
case_a_daemon_killed_in_the_middle_of_a_lock_hangs_nobody() {
    local writer delay
    if [ "$(id -u)" != 0 ] && ! mountpoint -q /sys/fs/fuse/connections; then
        echo "without /sys/fs/fuse/connections an ordinary user's mount cannot be ended (docs/Limits.md)"
        return
    fi
    start_complete
    cd "$WORK"
    for delay in 0.03 0.05 0.08; do
        rm -f "$WORK/writing"
        timeout 60 /usr/bin/python3 "$HERE/write_until_refused.py" "$DOCUMENTS/A" "$WORK/writing" &
        writer=$!
        until [ -e "$WORK/writing" ]; do sleep 0.05; done
        (timeout 30 appcontainer lock "$DEVICE" --now >/dev/null 2>&1 || true) &
        sleep $delay
        kill -9 "$(daemon_record_pid)"
        wait $writer || fail "a writer was still there after a minute"
        wait
        timeout 30 appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
    done
    whole
}

# As the device's record has it: nothing is asked that may hang.
daemon_record_pid() { json pid <"$DEVICE/daemon.json"; }
