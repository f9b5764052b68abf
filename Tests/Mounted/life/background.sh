# The background between other things: deaths, marks, the clock, clients that go, and what else is asked of a device.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034,SC2154

# shellcheck source=Tests/Mounted/kit/lifecycle.sh
. "$KIT/lifecycle.sh"

# All processes below one, and it.
below() {
    local child
    echo "$1"
    for child in $(pgrep -P "$1"); do below "$child"; done
}
# The daemon, killed.
kill_daemon() {
    local daemon
    daemon=$(daemon_pid)
    kill -9 "$daemon"
    gone "$daemon"
}

case_a_suspended_app_ends_with_a_killed_daemon() {
    grouped
    # It leaves something behind, in a session of its own, and has a child.
    appcontainer run "$DEVICE" "$APP" -- \
        sh -c '(setsid sleep 300 &); sleep 300 & while :; do echo x >>Documents/steps; sleep 0.01; done' &
    local runner=$! status=0 left process
    eventually test -s "$DOCUMENTS/steps"
    left=$(below "$runner")
    [ "$(wc -w <<<"$left")" -ge 5 ] || fail "too few processes: $left"
    appcontainer suspend "$DEVICE" "$APP"
    kill_daemon
    wait "$runner" || status=$?
    same "$status" 137 "its exit status"
    for process in $left; do eventually is_gone "$process"; done
    if by_freezer; then eventually none_left; fi
    # The next session knows nothing of it.
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(app_state) $(running)" "foreground " "its state"
    timeout 20 appcontainer run "$DEVICE" "$APP" -- true
    # One that has been resumed outlives it, as any other.
    rm "$DOCUMENTS/steps"
    appcontainer run "$DEVICE" "$APP" -- sh -c 'echo x >Documents/steps; exec sleep 300' &
    runner=$! status=0
    eventually test -s "$DOCUMENTS/steps"
    appcontainer suspend "$DEVICE" "$APP"
    appcontainer resume "$DEVICE" "$APP"
    kill_daemon
    sleep 0.3
    kill -TERM "$runner"
    wait "$runner" || status=$?
    same "$status" 143 "the exit status of one that was resumed"
}
none_left() { [ -z "$(find /sys/fs/cgroup -maxdepth 3 -name "appcontainer-$runner-*")" ]; }

case_a_launched_app_that_is_suspended_ends_with_a_killed_daemon() {
    mkdir app
    cp -R "$BASE/Notes.app" app/Notes.app
    printf '#!/bin/sh\nsetsid sleep 300 &\nsleep 300\n' >app/Notes.app/Notes
    start_unmounted app/Notes.app
    local process left each
    process=$(appcontainer launch "$DEVICE" "$APP")
    eventually has_two_children
    left=$(below "$process")
    appcontainer suspend "$DEVICE" "$APP"
    kill_daemon
    for each in $left; do eventually is_gone "$each"; done
    appcontainer status "$DEVICE"
    same "$(timeout 20 appcontainer run "$DEVICE" "$APP" -- echo runs)" runs "what runs after that"
}

has_two_children() { [ "$(below "$process" | wc -w)" = 3 ]; }

case_no_mark_keeps_an_app_suspended_that_has_ended() {
    start_unmounted
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --running
    # A mark alone is suspended, until something ends that.
    appcontainer suspend "$DEVICE" "$APP"
    complains 125 appcontainer run "$DEVICE" "$APP" -- true
    same "$(appcontainer status "$DEVICE" --json | json suspended 0)" "$APP" "what is suspended"
    appcontainer restart "$DEVICE"
    same "$(app_state) $(running)" "foreground $APP" "its state after a restart"
    timeout 20 appcontainer run "$DEVICE" "$APP" -- true
    # An app ends with its last process.
    stepping
    appcontainer suspend "$DEVICE" "$APP"
    kill -9 "$runner"
    eventually in_foreground
    same "$(appcontainer status "$DEVICE" --json | json suspended)" "[]" "what is suspended"
    timeout 20 appcontainer run "$DEVICE" "$APP" -- true
    # So does its time in the background.
    rm "$DOCUMENTS/steps"
    stepping
    local status=0
    appcontainer suspend "$DEVICE" "$APP" --after 60 2>told &
    local waiting=$!
    eventually in_background
    kill -9 "$runner"
    wait "$waiting" || status=$?
    same "$status" 42 "ended meanwhile"
    appcontainer unmount "$MOUNT"
    runs_not
    # The mark of `launch`.
    appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer suspend "$DEVICE" "$APP"
    appcontainer restart "$DEVICE"
    same "$(app_state) $(running)" "foreground " "its state after a restart"
    appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer suspend "$DEVICE" "$APP"
    appcontainer terminate "$DEVICE" "$APP"
    in_foreground
    timeout 20 appcontainer run "$DEVICE" "$APP" -- true
}

case_a_group_that_others_are_in_is_not_frozen() {
    start_unmounted
    appcontainer create other
    appcontainer install other "$BASE/Notes.app"
    # Its process is outside of the other's program.
    appcontainer launch other "$APP" --no-exec
    appcontainer terminate other "$APP"
    local socket
    socket=$(appcontainer status other --json | json daemon socket)
    # A test that runs as an app, and starts an app of another device by a library: in the group of its own program.
    appcontainer run "$DEVICE" "$APP" -- /usr/bin/python3 "$HERE/background.py" "$socket" "$APP" "$WORK/inner" "$WORK/outer" &
    local runner=$!
    eventually test -s inner
    timeout 10 appcontainer suspend other "$APP" --json >report
    same "$(json freezer <report)" False "whether a group froze it"
    stands_still inner
    eventually moves outer
    appcontainer resume other "$APP"
    eventually moves inner
    appcontainer terminate "$DEVICE" "$APP"
    wait "$runner" || true
    appcontainer shutdown other
}

case_the_device_s_clock_passes_the_time_in_the_background() {
    grouped
    stepping
    local number waiting
    number=$(task begin '{"app": "'"$APP"'", "pid": '$$', "name": "upload"}' | json task)
    appcontainer suspend "$DEVICE" "$APP" --after 60 2>warned &
    waiting=$!
    eventually in_background
    appcontainer clock "$DEVICE" advance 30s
    in_background
    same "$(lifecycle)" "entered background" "events before the notice"
    appcontainer clock "$DEVICE" advance 31s
    # At once: the advance has waited for that.
    suspended || fail "it is $(app_state)"
    same "$(lifecycle)" "entered background,expiring,suspended" "events"
    wait "$waiting"
    contains "$(cat warned)" '"upload" was not ended'
    stands_still "$DOCUMENTS/steps"
    appcontainer resume "$DEVICE" "$APP"
    # A rehearsal goes by it too.
    curl -sS --unix-socket "$(control_socket)" http://device/v1/rehearse-suspension \
        --json '{"app": "'"$APP"'", "pid": '$$', "after": 3600}' >answer &
    waiting=$!
    eventually in_background
    timeout 10 appcontainer clock "$DEVICE" advance 1h
    wait "$waiting"
    same "$(json unendedTasks <answer)" "['upload']" "what a rehearsal found"
    in_foreground
}

case_a_client_that_goes_ends_the_time_in_the_background() {
    grouped
    stepping
    local waiting status=0
    appcontainer suspend "$DEVICE" "$APP" --after 600 &
    waiting=$!
    eventually in_background
    kill -9 "$waiting"
    eventually in_foreground
    eventually moves "$DOCUMENTS/steps"
    same "$(lifecycle)" "entered background,entered foreground" "events"
    appcontainer terminate "$DEVICE" "$APP"
    eventually runs_not
    # A rehearsal of an app that nothing holds ends with its client, and with the device.
    rehearse() {
        exec curl -sS --unix-socket "$socket" http://device/v1/rehearse-suspension \
            --json '{"app": "'"$APP"'", "pid": '$$', "after": 600}'
    }
    local socket
    socket=$(control_socket)
    rehearse &
    waiting=$!
    eventually in_background
    kill -9 "$waiting"
    eventually in_foreground
    rehearse >answer &
    waiting=$!
    eventually in_background
    timeout 15 appcontainer shutdown "$DEVICE" || fail "the shutdown waits"
    timeout 15 tail --pid="$waiting" -f /dev/null || fail "the rehearsal waits"
}

case_a_device_does_all_else_while_an_app_is_suspended() {
    start_protected
    make_app com.example.Other Other
    appcontainer install "$DEVICE" Other.app
    stepping
    echo old >"$MOUNT/tmp/old"
    echo cached >"$MOUNT/Library/Caches/cached"
    appcontainer suspend "$DEVICE" "$APP"
    mkdir elsewhere daily
    appcontainer mount "$DEVICE" com.example.Other "$WORK/elsewhere"
    echo other >elsewhere/Documents/other
    appcontainer unmount "$WORK/elsewhere"
    # It has its working directory there.
    complains 20 appcontainer unmount "$MOUNT"
    appcontainer lock "$DEVICE" --now
    same "$(state)" locked state
    unlock
    # An app that runs keeps all that it has.
    appcontainer purge "$DEVICE" >/dev/null
    test -e "$MOUNT/Library/Caches/cached" || fail "a cache of an app that runs is gone"
    timeout 60 appcontainer clock "$DEVICE" advance 100h >/dev/null
    test -e "$MOUNT/tmp/old" || fail "tmp of an app that runs was cleaned"
    timeout 60 appcontainer backup "$DEVICE" backup.tar
    suspended || fail "it is $(app_state)"
    stands_still "$DOCUMENTS/steps"
    appcontainer resume "$DEVICE" "$APP"
    eventually moves "$DOCUMENTS/steps"
    appcontainer terminate "$DEVICE" "$APP"
    whole
}

case_an_extension_is_suspended_for_itself() {
    make_app "$APP" Notes
    rm -rf Notes.app/_CodeSignature
    local extension=Notes.app/PlugIns/Share.appex process
    mkdir -p "$extension"
    sed "s/$APP/$APP.Share/; s|<string>Notes</string>|<string>Share</string>|" Notes.app/Info.plist >"$extension/Info.plist"
    printf '#!/bin/sh\nexec sleep 300\n' >"$extension/Share"
    chmod +x "$extension/Share"
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" Notes.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    stepping
    process=$(appcontainer launch "$DEVICE" "$APP" --extension Share)
    appcontainer suspend "$DEVICE" "$APP.Share" --json >report
    same "$(json processes <report)" 1 "processes"
    in_foreground
    same "$(appcontainer apps "$DEVICE" --json | json 0 extensions 0 state)" suspended "the extension's state"
    same "$(appcontainer status "$DEVICE" --json | json suspended)" "['$APP.Share']" "what is suspended"
    eventually moves "$DOCUMENTS/steps"
    complains 125 appcontainer run "$DEVICE" "$APP" --extension Share -- true
    appcontainer run "$DEVICE" "$APP" -- true
    appcontainer terminate "$DEVICE" "$APP"
    eventually is_gone "$process"
    eventually runs_not
}
