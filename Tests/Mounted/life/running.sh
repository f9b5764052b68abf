# Running apps: leases and what ends them, mounts that last as long, terminals and signals, confinement.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

not() { ! "$@"; }
child_of() { cat "/proc/$1/task/"*/children | tr -d ' '; }
# Between a run and its command is the supervisor.
child_has_stopped() { grep -q '^State:.T' "/proc/$(child_of "$(child_of "$1")")/status"; }
unmounted() { [ -z "$(mounts)" ]; }
# A run that lasts until $WORK/stop is there, or longer, if given a command.
hold='touch Documents/ready; while [ ! -e '"$WORK"'/stop ]; do sleep 0.05; done'
# launched SCRIPT: a device with an app whose executable is that script, launched; its process is in `process`.
launched() {
    mkdir -p app
    cp -R "$BASE/Notes.app" app/Notes.app
    printf '#!/bin/sh\n%s\n' "$1" >app/Notes.app/Notes
    start_unmounted app/Notes.app
    process=$(appcontainer launch "$DEVICE" "$APP")
}

case_an_app_runs_as_long_as_its_command() {
    start_unmounted
    runs_not
    appcontainer run "$DEVICE" "$APP" -- sh -c "$hold; exit 3" &
    local runner=$! status=0
    eventually runs
    same "$(appcontainer apps "$DEVICE" --json | json 0 running)" True "what apps says"
    contains "$(appcontainer status "$DEVICE")" "Running:    $APP"
    for command in uninstall reset; do complains 41 appcontainer "$command" "$DEVICE" "$APP"; done
    contains "$(cat .err)" "appcontainer terminate $DEVICE $APP"
    touch stop
    wait "$runner" || status=$?
    # All is as before when run returns: nothing is left for later.
    same "$status $(running) $(mounts)" "3  " "status, running apps and mounts"
    appcontainer reset "$DEVICE" "$APP"
    appcontainer uninstall "$DEVICE" "$APP"
}

case_a_killed_run_takes_its_command_with_it() {
    start_unmounted
    appcontainer run "$DEVICE" "$APP" -- sh -c 'sleep 300 & echo $! $$ >Documents/pids; wait' &
    local runner=$!
    eventually runs
    local home
    home=$(mounts)
    eventually test -s "$home/Documents/pids"
    local pids
    pids=$(cat "$home/Documents/pids")
    kill -9 "$runner"
    eventually runs_not
    for pid in $pids; do eventually is_gone "$pid"; done
    eventually unmounted
    eventually not test -e "$home"
    appcontainer uninstall "$DEVICE" "$APP"
}

case_eight_runs_share_a_mount_that_goes_with_the_last() {
    start_unmounted
    local number
    for number in 1 2 3 4 5 6 7 8; do
        appcontainer run "$DEVICE" "$APP" -- \
            sh -c "pwd >Documents/$number; while [ ! -e $WORK/stop-$number ]; do sleep 0.05; done" &
        echo $! >"runner-$number"
    done
    eventually runs
    local home
    home=$(mounts)
    same "$(echo "$home" | wc -l)" 1 "mounts"
    for number in 1 2 3 4 5 6 7 8; do eventually test -s "$home/Documents/$number"; done
    same "$(sort -u "$home"/Documents/[1-8])" "$home" "where they run"
    for number in 1 2 3 4 5 6 7; do
        touch "stop-$number"
        wait "$(cat "runner-$number")"
        same "$(mounts) $(running)" "$home $APP" "after $number of them"
    done
    touch stop-8
    wait "$(cat runner-8)"
    same "$(mounts) $(running)" " " "after the last"
    # One command ends as many as there are.
    for number in 1 2 3 4 5 6 7 8; do
        appcontainer run "$DEVICE" "$APP" -- sh -c "echo >Documents/again-$number; sleep 300" &
        echo $! >"runner-$number"
    done
    eventually runs
    for number in 1 2 3 4 5 6 7 8; do eventually shown -e "Documents/again-$number"; done
    appcontainer terminate "$DEVICE" "$APP"
    same "$(mounts) $(running)" " " "after their end"
    for number in 1 2 3 4 5 6 7 8; do
        local status=0
        wait "$(cat "runner-$number")" || status=$?
        same "$status" 143 "the status of one of them"
    done
}

case_a_process_left_behind_keeps_its_mount_until_it_ends() {
    start_unmounted
    appcontainer run "$DEVICE" "$APP" -- sh -c "setsid sh -c '$hold' >/dev/null 2>&1 & while [ ! -e Documents/ready ]; do sleep 0.05; done"
    runs_not
    local home
    home=$(mounts)
    [ -d "$home/Documents" ] || fail "the mount is gone under a process that works in it"
    # A further run finds it there.
    same "$(appcontainer run "$DEVICE" "$APP" -- pwd)" "$home" "where it runs"
    touch stop
    eventually unmounted
    absent "$home"
}

case_terminate_ends_what_ignores_being_asked() {
    start_unmounted
    appcontainer run "$DEVICE" "$APP" -- sh -c 'trap "" TERM; touch Documents/ready; while :; do sleep 0.1; done' &
    local runner=$! status=0
    eventually runs
    eventually shown -e Documents/ready
    appcontainer terminate "$DEVICE" "$APP"
    same "$(running)" "" "running apps"
    wait "$runner" || status=$?
    same "$status" 137 "its exit status"
    complains 42 appcontainer terminate "$DEVICE" "$APP"
    complains 12 appcontainer terminate "$DEVICE" com.example.Nobody
}

case_terminate_lets_a_command_put_things_in_order() {
    start_unmounted
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    appcontainer run "$DEVICE" "$APP" -- \
        sh -c 'trap "sleep 0.5; echo saved >Documents/saved; exit 4" TERM; touch Documents/ready; while :; do sleep 0.1; done' &
    local runner=$! status=0
    eventually test -e "$DOCUMENTS/ready"
    appcontainer terminate "$DEVICE" "$APP"
    same "$(cat "$DOCUMENTS/saved")" saved "what it saved"
    wait "$runner" || status=$?
    same "$status" 4 "its exit status"
    # One that is stopped goes on for it.
    rm "$DOCUMENTS/saved"
    appcontainer run "$DEVICE" "$APP" -- \
        sh -c 'trap "echo saved >Documents/saved; exit 5" TERM; kill -STOP $$; while :; do sleep 0.1; done' &
    runner=$! status=0
    eventually child_has_stopped "$runner"
    appcontainer terminate "$DEVICE" "$APP"
    same "$(cat "$DOCUMENTS/saved")" saved "what it saved after it had been stopped"
    wait "$runner" || status=$?
    same "$status" 5 "its exit status"
    # The mount was not made to run it, so it stays.
    mountpoint -q "$MOUNT" || fail "the mount is gone"
}

case_a_launched_app_runs_until_its_process_ends() {
    launched "$hold"
    same "$(running)" "$APP" "running apps, as soon as launch returns"
    eventually shown -e Documents/ready
    touch stop
    eventually runs_not
    eventually unmounted
    eventually is_gone "$process"
    # An app that cannot be launched is not marked, nor mounted.
    mkdir other
    cp -R "$BASE/Notes.app" other/Notes.app
    printf '#!/no/such/interpreter\n' >other/Notes.app/Notes
    appcontainer uninstall "$DEVICE" "$APP"
    appcontainer install "$DEVICE" other/Notes.app
    complains 127 appcontainer launch "$DEVICE" "$APP"
    same "$(running) $(mounts)" " " "running apps and mounts"
}

case_terminate_ends_the_whole_session_of_a_launched_app() {
    launched 'sh -c "trap \"\" TERM HUP; touch Documents/ready; sleep 300" & echo $! >Documents/child; (sleep 300 & echo $! >Documents/orphan); exec sleep 300'
    local home
    home=$(mounts)
    eventually test -e "$home/Documents/ready"
    eventually test -s "$home/Documents/orphan"
    local child orphan
    child=$(cat "$home/Documents/child")
    orphan=$(cat "$home/Documents/orphan")
    appcontainer terminate "$DEVICE" "$APP"
    for pid in $process $child $orphan; do eventually is_gone "$pid"; done
    same "$(running) $(mounts)" " " "running apps and mounts"
}

case_an_app_is_marked_running_without_being_started() {
    start_unmounted
    complains 12 appcontainer launch "$DEVICE" com.example.Nobody --no-exec
    appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer launch "$DEVICE" "$APP" --no-exec
    same "$(running) $(mounts)" "$APP " "running apps and mounts"
    # A command that runs as well neither needs the mark nor takes it away.
    appcontainer run "$DEVICE" "$APP" -- true
    same "$(running) $(mounts)" "$APP " "after a run"
    complains 41 appcontainer uninstall "$DEVICE" "$APP"
    # A change of the device as a whole changes it too.
    complains 41 appcontainer erase "$DEVICE"
    complains 41 appcontainer delete "$DEVICE"
    appcontainer terminate "$DEVICE" "$APP"
    same "$(running)" "" "running apps after their end"
    complains 42 appcontainer terminate "$DEVICE" "$APP"
    appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer restart "$DEVICE"
    same "$(running)" "" "running apps after a restart"
}

case_a_mount_marks_its_app_running() {
    start_unmounted
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --running
    same "$(running)" "$APP" "running apps"
    complains 41 appcontainer uninstall "$DEVICE" "$APP"
    appcontainer restart "$DEVICE"
    same "$(running)" "$APP" "running apps after a restart"
    appcontainer unmount "$MOUNT"
    same "$(running)" "" "running apps after the mount's end"
    # The mark ends, and the mount stays.
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --running
    appcontainer terminate "$DEVICE" "$APP"
    same "$(running)" "" "running apps after being terminated"
    mountpoint -q "$MOUNT" || fail "the mount is gone"
    complains 20 appcontainer uninstall "$DEVICE" "$APP"
    appcontainer unmount "$MOUNT"
    complains 10 appcontainer mount "$DEVICE" "$APP" "$WORK/nothing" --running
    same "$(running)" "" "running apps after a mount that failed"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(running)" "" "running apps with an ordinary mount"
}

case_a_restart_kills_what_runs() {
    start_unmounted
    appcontainer run "$DEVICE" "$APP" -- \
        sh -c 'trap "" TERM HUP; sleep 300 & echo $! >Documents/child; wait; sleep 300' &
    local runner=$! status=0
    eventually runs
    eventually shown -s Documents/child
    local child
    child=$(cat "$(mounts)/Documents/child")
    appcontainer restart "$DEVICE"
    same "$(running)" "" "running apps"
    wait "$runner" || status=$?
    same "$status" 137 "its exit status"
    eventually is_gone "$child"
    eventually unmounted
    appcontainer run "$DEVICE" "$APP" -- true
}

case_a_shutdown_ends_what_runs() {
    launched 'trap "echo bye >Documents/bye; exit" TERM; touch Documents/ready; while :; do sleep 0.1; done'
    eventually shown -e Documents/ready
    appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer shutdown "$DEVICE"
    eventually is_gone "$process"
    same "$(appcontainer run "$DEVICE" "$APP" -- cat Documents/bye)" bye "what it did last"
    same "$(running)" "" "running apps of the next boot"
}

# A program that leaves a child of a child behind, in a session of its own. Their numbers are in $WORK/pids, which is gone
# again with both.
escape='setsid sh -c "trap \"\" HUP INT; sleep 300 & echo \$! >>\$WORK/pids; echo \$\$ >>\$WORK/pids; wait; sleep 300" >/dev/null 2>&1 & '
escaped() { [ "$(wc -l <"$WORK/pids" 2>/dev/null)" = 2 ]; }
all_gone() {
    local pid
    while read -r pid; do eventually is_gone "$pid"; done <"$WORK/pids"
    rm "$WORK/pids"
}

case_nothing_that_an_app_left_behind_outlives_it() {
    export WORK
    start_unmounted
    # Beside the command, which runs.
    appcontainer run "$DEVICE" "$APP" -- sh -c "($escape) ; touch Documents/ready; exec sleep 300" &
    local runner=$! status=0
    eventually escaped
    appcontainer terminate "$DEVICE" "$APP"
    all_gone
    wait "$runner" || status=$?
    same "$status" 143 "the status of run"
    # After the command: the app runs no more, and terminate ends what is left of it.
    appcontainer run "$DEVICE" "$APP" -- sh -c "$escape exit 3" || status=$?
    same "$status $(running)" "3 " "status and running apps"
    eventually escaped
    appcontainer terminate "$DEVICE" "$APP"
    all_gone
    complains 42 appcontainer terminate "$DEVICE" "$APP"
    # When run is killed, and when the device restarts or is shut down.
    appcontainer run "$DEVICE" "$APP" -- sh -c "$escape exec sleep 300" &
    runner=$!
    eventually escaped
    kill -9 "$runner"
    all_gone
    eventually runs_not
    appcontainer run "$DEVICE" "$APP" -- sh -c "$escape"
    eventually escaped
    appcontainer restart "$DEVICE"
    all_gone
    appcontainer run "$DEVICE" "$APP" -- sh -c "$escape"
    eventually escaped
    appcontainer shutdown "$DEVICE"
    all_gone
}

case_nothing_of_a_launched_app_outlives_it() {
    export WORK
    # It does not heed a request to end either.
    launched "${escape/HUP/TERM HUP} exec sleep 300"
    eventually escaped
    appcontainer terminate "$DEVICE" "$APP"
    all_gone
    eventually is_gone "$process"
    same "$(running) $(mounts)" " " "running apps and mounts"
}

case_a_run_outlives_a_killed_daemon() {
    start_unmounted
    appcontainer run "$DEVICE" "$APP" -- \
        sh -c "touch Documents/ready; while [ ! -e $WORK/stop ]; do sleep 0.05; done; ls Documents 2>$WORK/said; exit 6" &
    local runner=$! status=0 daemon home
    eventually runs
    eventually shown -e Documents/ready
    daemon=$(daemon_pid) home=$(mounts)
    kill -9 "$daemon"
    # While its mount is being taken down, what is asked just then is aborted instead of refused.
    gone "$daemon"
    disconnected "$home"
    touch stop
    wait "$runner" || status=$?
    same "$status" 6 "its exit status"
    contains "$(cat said)" "not connected"
    same "$(appcontainer run "$DEVICE" "$APP" -- ls Documents)" ready "what a run after that sees"
    same "$(running) $(mounts)" " " "running apps and mounts"
}

case_a_run_over_the_control_socket() {
    start_unmounted
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    /usr/bin/python3 "$HERE/running.py" lease "$(control_socket)" "$APP"
    same "$(running)" "" "running apps"
}

case_signals_reach_the_command() {
    start
    /usr/bin/python3 "$HERE/running.py" signals "$DEVICE" "$APP" "$DOCUMENTS"
    # A signal that the caller ignores stays ignored.
    nohup appcontainer run "$DEVICE" "$APP" -- sh -c 'trap - HUP; kill -HUP $$; echo alive >Documents/alive' </dev/null >/dev/null 2>&1
    same "$(cat "$DOCUMENTS/alive")" alive "after a signal that nohup ignores"
}

case_a_shell_at_a_terminal() {
    start
    /usr/bin/python3 "$HERE/running.py" terminal "$DEVICE" "$APP" "$DOCUMENTS"
    /usr/bin/python3 "$HERE/running.py" terminal "$DEVICE" "$APP" "$DOCUMENTS" --confine
}

case_a_program_stops_and_goes_on_at_a_terminal() {
    start
    /usr/bin/python3 "$HERE/running.py" stop "$DEVICE" "$APP" "$DOCUMENTS"
}

oncecase_foundation_finds_its_directories_in_the_container() {
    mkdir -p app "$MOUNT"
    cp -R "$BASE/Notes.app" app/Notes.app
    cat >paths.swift <<'SWIFT'
import Foundation
let files = FileManager.default
func first(_ directory: FileManager.SearchPathDirectory) -> String {
    files.urls(for: directory, in: .userDomainMask)[0].path
}
print("documents", first(.documentDirectory))
print("support", first(.applicationSupportDirectory))
print("caches", first(.cachesDirectory))
print("tmp", files.temporaryDirectory.path)
print("home", NSHomeDirectory())
print("working", files.currentDirectoryPath)
UserDefaults.standard.set("yes", forKey: "launched")
UserDefaults.standard.synchronize()
try! Data("made by Foundation\n".utf8).write(to: URL(filePath: first(.documentDirectory) + "/made"), options: .atomic)
SWIFT
    swiftc -o paths paths.swift
    cp paths app/Notes.app/Notes
    start_unmounted app/Notes.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    local expected="documents $MOUNT/Documents
support $MOUNT/Library/Application Support
caches $MOUNT/Library/Caches
tmp $MOUNT/tmp
home $MOUNT
working $MOUNT" confine
    # By itself it has its name for an identifier, in the bundle that of the bundle; and confined it finds its libraries.
    same "$(appcontainer run "$DEVICE" "$APP" -- "$WORK/paths")" "$expected" "a program of its own"
    contains "$(cat "$MOUNT/Library/Preferences/paths.plist")" launched
    same "$(appcontainer run "$DEVICE" "$APP")" "$expected" "the app"
    contains "$(cat "$MOUNT/Library/Preferences/$APP.plist")" launched
    same "$(cat "$DOCUMENTS/made")" "made by Foundation" "a document"
    rm "$MOUNT/Library/Preferences/$APP.plist" "$DOCUMENTS/made"
    same "$(appcontainer run "$DEVICE" "$APP" --confine)" "$expected" "the app, confined"
    contains "$(cat "$MOUNT/Library/Preferences/$APP.plist")" launched
}

# Root's device with an ordinary user's app, which root runs.
rootcase_root_runs_the_app_of_another_user() {
    as_container_user
    appcontainer run "$DEVICE" "$APP" -- sh -c 'echo root >Documents/plain'
    appcontainer run "$DEVICE" "$APP" --confine -- sh -c 'echo root >Documents/confined; cat Documents/plain'
    same "$(act cat "$DOCUMENTS/confined")" root "what was written"
}
