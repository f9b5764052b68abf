# The background: suspension and its end, locks in group containers, background tasks.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034,SC2154

# shellcheck source=Tests/Mounted/kit/lifecycle.sh
. "$KIT/lifecycle.sh"

case_a_suspended_app_stands_still_until_it_is_resumed() {
    grouped
    complains 42 appcontainer suspend "$DEVICE" "$APP"
    complains 12 appcontainer suspend "$DEVICE" com.example.Nobody
    complains 61 appcontainer resume "$DEVICE" "$APP"
    stepping
    same "$(app_state)" foreground "its state"
    appcontainer suspend "$DEVICE" "$APP" --json >report
    [ "$(json processes <report)" -ge 1 ] || fail "none was frozen"
    if by_freezer; then same "$(json freezer <report)" True "the freezer"; else same "$(json freezer <report)" False "the freezer"; fi
    same "$(app_state) $(running)" "suspended $APP" "its state"
    contains "$(appcontainer status "$DEVICE")" "Running:    $APP (suspended)"
    same "$(appcontainer status "$DEVICE" --json | json suspended 0)" "$APP" "what status says"
    stands_still "$DOCUMENTS/steps"
    # The mount answers, and others work in it.
    echo meanwhile >"$DOCUMENTS/other"
    # It counts as running.
    complains 41 appcontainer uninstall "$DEVICE" "$APP"
    complains 60 appcontainer suspend "$DEVICE" "$APP"
    complains 125 appcontainer run "$DEVICE" "$APP" -- true
    contains "$(cat .err)" "appcontainer resume $DEVICE $APP"
    complains 60 appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer resume "$DEVICE" "$APP"
    same "$(app_state)" foreground "its state"
    eventually moves "$DOCUMENTS/steps"
    complains 61 appcontainer resume "$DEVICE" "$APP"
    same "$(lifecycle)" "entered background,suspended,resumed,entered foreground" "events"
    # It can be done again.
    appcontainer suspend "$DEVICE" "$APP"
    stands_still "$DOCUMENTS/steps"
    appcontainer resume "$DEVICE" "$APP"
    eventually moves "$DOCUMENTS/steps"
    appcontainer terminate "$DEVICE" "$APP"
    local status=0
    wait "$runner" || status=$?
    same "$status" 143 "its exit status"
    contains "$(lifecycle)" ",terminated terminate"
}

case_locks_of_files_in_a_group_end_an_app_that_is_suspended() {
    grouped
    within /usr/bin/python3 "$HERE/suspension.py" locks "$DEVICE" "$APP" "$GROUP"
    whole
}

case_of_several_processes_the_one_with_the_lock_is_killed() {
    grouped
    within /usr/bin/python3 "$HERE/suspension.py" families "$DEVICE" "$APP" "$GROUP"
}

case_explain_tells_what_to_do_about_a_lock() {
    grouped
    appcontainer run "$DEVICE" "$APP" -- /usr/bin/python3 "$HERE/holder.py" wal.write_transaction "Groups/$GROUP/notes.db" &
    eventually test -s "$DOCUMENTS/steps"
    appcontainer suspend "$DEVICE" "$APP"
    appcontainer explain "$DEVICE" >explained
    contains "$(cat explained)" "was suspended with a lock (sqlite) on Groups/$GROUP/notes.db of $APP, and killed"
    contains "$(cat explained)" "beginBackgroundTask"
    contains "$(cat explained)" "observesSuspensionNotifications"
    same "$(appcontainer explain "$DEVICE" --json | json 0 lock)" sqlite "what --json says"
    # The transaction is gone with its process.
    same "$(sqlite3 "$MOUNT/Groups/$GROUP/notes.db" 'select count(*) from note')" 3 "rows"
}

case_a_suspension_is_quick() {
    grouped
    within /usr/bin/python3 "$HERE/suspension.py" speed "$DEVICE" "$APP" "$GROUP"
}

case_a_tree_that_forks_all_the_time_is_frozen_whole() {
    grouped
    appcontainer run "$DEVICE" "$APP" -- sh -c '
        branch() { while :; do (echo x >>Documents/forks); done; }
        branch & branch & (branch & branch) & (setsid sh -c "while :; do (echo y >>Documents/forks); done") &
        wait' &
    eventually grep -q y "$DOCUMENTS/forks"
    local _
    for _ in 1 2 3; do
        appcontainer suspend "$DEVICE" "$APP"
        stands_still "$DOCUMENTS/forks"
        appcontainer resume "$DEVICE" "$APP"
        eventually moves "$DOCUMENTS/forks"
    done
    appcontainer suspend "$DEVICE" "$APP"
    appcontainer terminate "$DEVICE" "$APP"
    eventually runs_not
    local length
    length=$(stat -c %s "$DOCUMENTS/forks")
    sleep 0.3
    same "$(stat -c %s "$DOCUMENTS/forks")" "$length" "what it has left behind"
}

case_threads_that_write_are_frozen_and_the_daemon_serves_others() {
    grouped
    appcontainer run "$DEVICE" "$APP" -- /usr/bin/python3 -c '
import os, threading
def write(number):
    file = os.open(f"Documents/thread-{number}", os.O_RDWR | os.O_CREAT)
    while True:
        os.pwrite(file, os.urandom(1 << 16), 0)
        os.fsync(file)
for number in range(8):
    threading.Thread(target=write, args=[number]).start()' &
    eventually test -s "$DOCUMENTS/thread-7"
    local _
    for _ in 1 2 3 4 5; do
        appcontainer suspend "$DEVICE" "$APP"
        # Nobody else waits for a call that it was frozen in.
        timeout 20 sh -c "cat $DOCUMENTS/thread-* | sha256sum; echo x >$DOCUMENTS/other; sync -f $MOUNT"
        appcontainer resume "$DEVICE" "$APP"
    done
    appcontainer suspend "$DEVICE" "$APP"
    timeout 30 appcontainer restart "$DEVICE"
    runs_not
    contains "$(lifecycle)" ",terminated restart"
}

case_a_suspended_app_is_ended_by_whatever_ends_an_app() {
    grouped
    local status way
    for way in terminate memory restart install run shutdown; do
        stepping
        appcontainer suspend "$DEVICE" "$APP"
        case $way in
        terminate) timeout 4 appcontainer terminate "$DEVICE" "$APP" ;;
        memory) timeout 4 appcontainer terminate "$DEVICE" "$APP" --memory ;;
        restart) timeout 4 appcontainer restart "$DEVICE" ;;
        install) timeout 8 appcontainer install "$DEVICE" "$BASE/Notes.app" --group "$GROUP" --terminate ;;
        run) kill -9 "$runner" ;;
        shutdown) timeout 8 appcontainer shutdown "$DEVICE" ;;
        esac
        status=0
        wait "$runner" || status=$?
        same "$status" 137 "the status of an app after $way"
        [ $way = shutdown ] || eventually runs_not
        [ $way = shutdown ] || same "$(app_state)" foreground "its state after $way"
        [ $way = shutdown ] || rm "$DOCUMENTS/steps"
    done
    contains "$(lifecycle)" "terminated terminate"
    contains "$(lifecycle)" "terminated memory"
    contains "$(lifecycle)" "terminated restart"
    # Nothing of it is left: no process, and no group of processes.
    if by_freezer; then eventually none_left; fi
}
none_left() { [ -z "$(find /sys/fs/cgroup -maxdepth 3 -name "appcontainer-$runner-*")" ]; }

case_a_suspension_waits_for_background_tasks() {
    grouped
    stepping
    local begun
    # Without a task: the whole time.
    begun=$(date +%s%N)
    appcontainer suspend "$DEVICE" "$APP" --after 0.5
    [ $(($(date +%s%N) - begun)) -ge 500000000 ] || fail "suspended too early"
    appcontainer resume "$DEVICE" "$APP"
    # With one that ends: at its end.
    local number
    number=$(task begin '{"app": "'"$APP"'", "pid": '$$', "name": "save"}' | json task)
    appcontainer suspend "$DEVICE" "$APP" --after 60 &
    local waiting=$!
    eventually in_background
    moves "$DOCUMENTS/steps" || eventually moves "$DOCUMENTS/steps"
    task end '{"app": "'"$APP"'", "task": '"$number"'}'
    wait "$waiting"
    suspended || fail "it is not suspended"
    appcontainer resume "$DEVICE" "$APP"
    # With one that does not end: a warning before, and one word of it after.
    number=$(task begin '{"app": "'"$APP"'", "pid": '$$', "name": "upload"}' | json task)
    appcontainer suspend "$DEVICE" "$APP" --after 0.4 2>warned
    contains "$(cat warned)" '"upload" was not ended'
    contains "$(lifecycle)" "entered background,expiring,suspended"
    appcontainer resume "$DEVICE" "$APP"
    task end '{"app": "'"$APP"'", "task": '"$number"'}'
    # With one whose process ends.
    sleep 300 &
    local sleeper=$!
    task begin '{"app": "'"$APP"'", "pid": '$sleeper'}'
    appcontainer suspend "$DEVICE" "$APP" --after 60 &
    waiting=$!
    eventually in_background
    kill "$sleeper"
    wait "$waiting"
    suspended || fail "it is not suspended"
    appcontainer terminate "$DEVICE" "$APP"
}

case_what_ends_a_stay_in_the_background_ends_the_wait() {
    grouped
    stepping
    appcontainer suspend "$DEVICE" "$APP" --after 60 2>told &
    local waiting=$! status=0
    eventually in_background
    complains 125 appcontainer run "$DEVICE" "$APP" -- true
    complains 60 appcontainer suspend "$DEVICE" "$APP"
    appcontainer resume "$DEVICE" "$APP"
    wait "$waiting" || status=$?
    same "$status" 61 "resumed meanwhile"
    contains "$(cat told)" "came to the foreground"
    appcontainer suspend "$DEVICE" "$APP" --after 60 2>told &
    waiting=$! status=0
    eventually in_background
    appcontainer terminate "$DEVICE" "$APP"
    wait "$waiting" || status=$?
    same "$status" 42 "terminated meanwhile"
    # A mark has no process to freeze.
    appcontainer launch "$DEVICE" "$APP" --no-exec
    appcontainer suspend "$DEVICE" "$APP" --json >report
    same "$(json processes <report)" 0 "processes"
    appcontainer suspend "$DEVICE" "$APP" 2>told && fail "twice" || true
    appcontainer resume "$DEVICE" "$APP"
    # So is the end of the device.
    appcontainer suspend "$DEVICE" "$APP" --after 60 2>told &
    waiting=$! status=0
    eventually in_background
    timeout 20 appcontainer shutdown "$DEVICE"
    wait "$waiting" || status=$?
    [ "$status" != 0 ] || fail "suspended by a shutdown"
}

case_a_shell_takes_no_suspension_for_a_stop() {
    grouped
    # In the foreground of a terminal.
    script -qefc "appcontainer run $DEVICE $APP -- sh -c 'n=0; while [ ! -e $WORK/stop ]; do n=\$((n + 1)); echo \$n >Documents/steps; sleep 0.01; done; exit 7'" /dev/null </dev/null >said 2>&1 &
    local terminal=$! status=0
    eventually test -s "$DOCUMENTS/steps"
    appcontainer suspend "$DEVICE" "$APP"
    stands_still "$DOCUMENTS/steps"
    # The command itself, which is the first of them; its supervisor may be stopped.
    not_stopped "$(pgrep -of "^appcontainer run $DEVICE")"
    appcontainer resume "$DEVICE" "$APP"
    eventually moves "$DOCUMENTS/steps"
    touch stop
    wait "$terminal" || status=$?
    same "$status" 7 "its exit status"
}
not_stopped() { if is_stopped "$1"; then fail "$1 is stopped"; fi; }

case_a_process_that_was_stopped_stays_so() {
    grouped
    appcontainer run "$DEVICE" "$APP" -- \
        sh -c 'sleep 300 & echo $! >Documents/child; kill -STOP $!; while :; do echo x >>Documents/steps; sleep 0.01; done' &
    eventually test -s "$DOCUMENTS/steps"
    local child
    child=$(cat "$DOCUMENTS/child")
    eventually is_stopped "$child"
    appcontainer suspend "$DEVICE" "$APP"
    appcontainer resume "$DEVICE" "$APP"
    eventually moves "$DOCUMENTS/steps"
    is_stopped "$child" || fail "it goes on"
    appcontainer terminate "$DEVICE" "$APP"
}

case_a_confined_app_is_suspended_too() {
    grouped
    appcontainer run "$DEVICE" "$APP" --confine -- sh -c 'while :; do echo x >>Documents/steps; sleep 0.01; done' &
    eventually test -s "$DOCUMENTS/steps"
    appcontainer suspend "$DEVICE" "$APP"
    stands_still "$DOCUMENTS/steps"
    appcontainer resume "$DEVICE" "$APP"
    eventually moves "$DOCUMENTS/steps"
    appcontainer suspend "$DEVICE" "$APP"
    appcontainer terminate "$DEVICE" "$APP"
    runs_not
    # The numbers of its processes are those of the host, where they hold a lock.
    appcontainer run "$DEVICE" "$APP" --confine -- flock "Groups/$GROUP/file" sleep 300 &
    local runner=$! status=0
    eventually test -e "$MOUNT/Groups/$GROUP/file"
    eventually held
    appcontainer suspend "$DEVICE" "$APP" --json >report
    same "$(json terminated 0 lock <report)" flock "the lock"
    same "$(json terminated 0 path <report)" "Groups/$GROUP/file" "its file"
    appcontainer terminate "$DEVICE" "$APP" || true
    wait "$runner" || status=$?
    [ "$status" != 0 ] || fail "it has ended by itself"
}
held() { ! flock -n "$MOUNT/Groups/$GROUP/file" true; }

case_a_rehearsal_names_locks_and_kills_nobody() {
    grouped
    local socket
    socket=$(control_socket)
    rehearse() {
        curl -sS --unix-socket "$socket" http://device/v1/rehearse-suspension --json '{"app": "'"$APP"'", "pid": '"$1"'}'
    }
    (cd "$MOUNT" && exec /usr/bin/python3 "$HERE/holder.py" delete.write_transaction "Groups/$GROUP/notes.db") >ready &
    local holder=$!
    eventually grep -q ready ready
    rehearse $holder >answer
    same "$(json locks 0 path <answer) $(json locks 0 lock <answer) $(json locks 0 pid <answer)" \
        "Groups/$GROUP/notes.db sqlite $holder" "what it would be killed for"
    not_stopped $holder
    eventually moves "$DOCUMENTS/steps"
    rehearse $$ >answer
    same "$(json locks <answer)" "[]" "what this shell would be killed for"
    # Where there is none, and another user's.
    contains "$(rehearse 2147483647)" "there is no process"
    if [ "$(id -u)" != 0 ]; then contains "$(rehearse 1)" "another user"; fi
    same "$(lifecycle)" "entered background,entered foreground,entered background,entered foreground" "events"
    kill $holder
}
