# File coordinators and presenters of ContainerFoundation, across processes, apps of a group, and what happens to them.
# shellcheck shell=bash disable=SC2164,SC2153,SC2016

TASKS=com.example.Tasks
GROUP=group.com.example.shared
FIRST=$MOUNT/Groups/$GROUP
SECOND=$WORK/tasks/Groups/$GROUP

# One access of a process of its own.
access() { timeout 30 "$BASE/notes" coordinate "$@"; }

# begin NAME WORD COMMAND…: a process that goes on until `leave NAME`, and writes to NAME; WORD comes first.
begin() {
    local name=$1 word=$2
    shift 2
    rm -f "$name.end"
    timeout 60 "$BASE/notes" "$@" < <(set +x; until [ -e "$name.end" ]; do sleep 0.05; done) >"$name" &
    echo $! >"$name.pid"
    eventually grep -q "$word" "$name"
}
leave() {
    touch "$1.end"
    wait "$(cat "$1.pid")" || true
}
# present NAME PATH…: a process that presents items, and writes what it hears.
present() {
    local name=$1
    shift
    begin "$name" presenting present "$@"
}
# hold NAME PATH: a process that holds an item.
hold() { begin "$1" holding coordinate hold "$2"; }
# The process itself, below timeout(1).
process_of() { pgrep -x -P "$(cat "$1.pid")" notes; }
heard() { sed 1d "$1"; }

# start_two: two apps of one group, both mounted.
start_two() {
    make_app "$TASKS" Tasks
    mkdir -p "$MOUNT" "$WORK/tasks"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "$BASE/Notes.app" --group "$GROUP"
    appcontainer install "$DEVICE" "$WORK/Tasks.app" --group "$GROUP"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    appcontainer mount "$DEVICE" "$TASKS" "$WORK/tasks"
}

# four FILE…: a process each, which count at once.
four() {
    local file
    for file; do access count "$file" 10 & done
    wait
}

case_writers_of_several_processes_wait_for_each_other() {
    start
    four "$DOCUMENTS/number" "$DOCUMENTS/number" "$DOCUMENTS/number" "$DOCUMENTS/number"
    same "$(cat "$DOCUMENTS/number")" 40
    # Off a mount too.
    four "$PWD/number" "$PWD/number" "$PWD/number" "$PWD/number"
    same "$(cat number)" 40
    # Nothing is left but the file of a lock, and no attribute outside.
    same "$(ls -A "$MOUNT/tmp/.FileCoordination")" lock
    same "$(getfattr -d -m - number)" ""
    same "$(appcontainer events "$DEVICE" | json_lines event | grep -c refused || true)" 0 "refusals"
    whole
}

# what_a_presenter_hears ITEM ITEM-OF-OTHERS: the directory that they are in is presented too.
what_a_presenter_hears() {
    local own=$1 other=$2 above=${1%/*}
    echo old >"$own"
    present document "$own"
    present directory "$above"
    same "$(access read "$other")" "read: typed"
    same "$(access write "$other" new)" "written: true"
    same "$(cat "$own")" new
    same "$(access move "$other" "$other 2")" "moved: true"
    same "$(access write "$other 2" newer)" "written: true"
    same "$(access delete "$other 2")" "deleted: true"
    same "$(access write "${other%/*}/another" x)" "written: true"
    eventually grep -q "there is another" directory
    leave document
    leave directory
    same "$(heard document)" "a reader comes
saves
the reader is gone
a writer comes
the writer is gone
it has changed
a writer comes
it is ${own##*/} 2 now
the writer is gone
a writer comes
the writer is gone
it has changed
a writer comes
closes the document
the writer is gone"
    # Its own process saved, and the others wrote.
    same "$(heard directory)" "${own##*/} has changed
${own##*/} has changed
${own##*/} is ${own##*/} 2 now
${own##*/} 2 has changed
lets ${own##*/} 2 go
there is another"
}

case_a_presenter_hears_of_other_processes() {
    start
    mkdir "$DOCUMENTS/folder"
    what_a_presenter_hears "$DOCUMENTS/folder/plan" "$DOCUMENTS/folder/plan"
    same "$(ls -A "$MOUNT/tmp/.FileCoordination")" lock
    whole
}

# One who waits while the item is moved writes it where it is then, and presenters hear of that.
case_a_presenter_hears_of_a_change_after_a_move() {
    start
    mkdir "$DOCUMENTS/folder"
    echo old >"$DOCUMENTS/plan"
    present document "$DOCUMENTS/plan"
    present above "$DOCUMENTS/folder"
    begin mover moving coordinate move "$DOCUMENTS/plan" "$DOCUMENTS/folder/moved" wait
    access write "$DOCUMENTS/plan" new >waiting &
    local waiting=$!
    eventually sh -c '[ "$(grep -c "a writer comes" document)" = 2 ]'
    leave mover
    wait "$waiting"
    same "$(cat waiting "$DOCUMENTS/folder/moved")" "written: true
new"
    eventually grep -q "it has changed" document
    eventually grep -q "moved has changed" above
    leave document
    leave above
    # Of each access once: it comes, and is gone.
    same "$(heard document | sort | uniq -c | sed 's/^ *//')" "2 a writer comes
1 it has changed
1 it is moved now
2 the writer is gone"
    same "$(ls -A "$MOUNT/tmp/.FileCoordination")" lock
    whole
}

rootcase_apps_of_a_group_coordinate() {
    start_two
    mkdir "$FIRST/folder"
    what_a_presenter_hears "$FIRST/folder/plan" "$SECOND/folder/plan"
    four "$FIRST/number" "$SECOND/number" "$FIRST/number" "$SECOND/number"
    same "$(cat "$SECOND/number")" 40
    # One who waits gets an item where it was moved to.
    hold holder "$FIRST/number"
    access write "$SECOND/number" moved >waiting &
    begin mover moving coordinate move "$FIRST/folder" "$FIRST/folder 2" wait
    access write "$SECOND/folder/another" followed >follower &
    sleep 0.3
    same "$(cat waiting follower)" ""
    leave mover
    leave holder
    wait
    same "$(cat waiting follower)" "written: true
written: true"
    same "$(cat "$FIRST/number" "$FIRST/folder 2/another")" "moved
followed"
    # The directory of the group is in no backup, and another class than its files have is no matter.
    same "$(ls -A "$FIRST/Library/Caches/.FileCoordination")" lock
    whole
}

rootcase_root_and_an_app_s_user_coordinate() {
    as_container_user --group "$GROUP"
    runuser -u "$TEST_USER" -- sh -c "echo 0 >'$FIRST/number'; echo 0 >'$DOCUMENTS/number'"
    local file
    for file in "$FIRST/number" "$DOCUMENTS/number"; do
        chmod 666 "$file"
        # Root makes the place where they meet, for the user.
        access count "$file" 1
        access count "$file" 10 &
        runuser -u "$TEST_USER" -- timeout 60 "$BASE/notes" coordinate count "$file" 10 &
        wait
        same "$(cat "$file")" 21
    done
    present document "$FIRST/number"
    same "$(runuser -u "$TEST_USER" -- timeout 60 "$BASE/notes" coordinate write "$FIRST/number" 5)" "written: true"
    eventually grep -q "it has changed" document
    leave document
}

case_a_process_that_is_killed_keeps_nobody_waiting() {
    start
    hold holder "$DOCUMENTS/note"
    access write "$DOCUMENTS/note" later >waiting &
    local waiting=$!
    sleep 0.3
    same "$(cat waiting)" ""
    present document "$DOCUMENTS/note"
    kill -KILL "$(process_of holder)"
    wait "$waiting"
    same "$(cat waiting)" "written: true"
    leave holder
    # Nor does a presenter; and one whose writer is killed takes its item back.
    hold second "$DOCUMENTS/note"
    eventually grep -q "a writer comes" document
    kill -KILL "$(process_of second)"
    eventually grep -q "the writer is gone" document
    leave second
    kill -KILL "$(process_of document)"
    # One that is not dead yet keeps its file until the next access.
    leave document
    same "$(access write "$DOCUMENTS/note" last)" "written: true"
    same "$(ls -A "$MOUNT/tmp/.FileCoordination")" lock
    whole
}

case_a_process_that_is_stopped_keeps_nobody_for_ever() {
    start
    present document "$DOCUMENTS/note"
    local presenter
    presenter=$(process_of document)
    kill -STOP "$presenter"
    eventually is_stopped "$presenter"
    same "$(access write "$DOCUMENTS/note" new)" "written: true"
    kill -CONT "$presenter"
    # It hears of the change then.
    eventually grep -q "it has changed" document
    leave document
    hold holder "$DOCUMENTS/note"
    local holder
    holder=$(process_of holder)
    kill -STOP "$holder"
    eventually is_stopped "$holder"
    same "$(access write "$DOCUMENTS/note" newer)" "failed: 255"
    same "$(access write "$DOCUMENTS/another" new)" "written: true"
    kill -CONT "$holder"
    leave holder
    same "$(access write "$DOCUMENTS/note" newer)" "written: true"
}

# Before the first unlock too, and in a home that sees nothing of the host.
case_a_confined_app_coordinates_on_a_locked_device() {
    start_protected
    cp "$BASE/notes" "$DOCUMENTS/app"
    appcontainer protect none "$DOCUMENTS" "$DOCUMENTS/app"
    echo 0 >"$DOCUMENTS/number"
    confined() { timeout 30 appcontainer run "$DEVICE" "$APP" --confine -- "$DOCUMENTS/app" coordinate "$@"; }
    appcontainer restart "$DEVICE"
    present document "$DOCUMENTS/number"
    confined count "$DOCUMENTS/number" 10 &
    access count "$DOCUMENTS/number" 10
    wait $!
    same "$(cat "$DOCUMENTS/number")" 20
    leave document
    same "$(heard document | grep -c "it has changed")" 20
    hold holder "$DOCUMENTS/number"
    confined write "$DOCUMENTS/number" confined >waiting &
    local waiting=$!
    sleep 0.5
    same "$(cat waiting)" ""
    leave holder
    wait "$waiting"
    same "$(cat "$DOCUMENTS/number")" confined
    unlock
    whole
}

# locks NAME: the files of the home that the process of NAME holds locked.
locks() {
    local descriptor process
    process=$(process_of "$1")
    for descriptor in /proc/"$process"/fdinfo/*; do
        if grep -qs '^lock:' "$descriptor"; then readlink "/proc/$process/fd/${descriptor##*/}"; fi
    done
}

# An access to a group is what an app that is suspended is killed for; a presenter is not.
case_an_access_in_a_group_is_a_lock() {
    start --group "$GROUP"
    present document "$FIRST/note"
    same "$(locks document)" ""
    hold holder "$FIRST/note"
    contains "$(locks holder)" "$FIRST/Library/Caches/.FileCoordination/"
    leave holder
    leave document
}

# begin_app NAME WORD COMMAND…: as `begin`, of the app.
begin_app() {
    local name=$1 word=$2
    shift 2
    timeout 60 appcontainer run "$DEVICE" "$APP" -- "$BASE/notes" "$@" \
        < <(set +x; until [ -e "$name.end" ]; do sleep 0.05; done) >"$name" &
    echo $! >"$name.pid"
    eventually grep -q "$word" "$name"
}

case_an_app_that_is_suspended_during_an_access_in_a_group_is_killed() {
    start --group "$GROUP"
    begin_app document presenting present "$FIRST/note"
    appcontainer suspend "$DEVICE" "$APP"
    same "$(access write "$FIRST/note" new)" "written: true"
    appcontainer resume "$DEVICE" "$APP"
    eventually grep -q "it has changed" document
    leave document
    begin_app holder holding coordinate hold "$FIRST/note"
    appcontainer suspend "$DEVICE" "$APP"
    same "$(access write "$FIRST/note" newer)" "written: true"
    touch holder.end
    wait "$(cat holder.pid)" && fail "it goes on"
    local terminated
    terminated=$(appcontainer events "$DEVICE" | json_lines event reason lock path | grep ^terminated)
    contains "$terminated" "terminated 0xdead10cc flock Groups/$GROUP/Library/Caches/.FileCoordination/"
    contains "$terminated" ".claim"
    same "$(ls -A "$FIRST/Library/Caches/.FileCoordination")" lock
}

case_items_of_a_read_only_mount_are_coordinated() {
    start
    echo 7 >"$DOCUMENTS/number"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --read-only
    present document "$DOCUMENTS/number"
    same "$(access read "$DOCUMENTS/number")" "read: 7"
    leave document
    same "$(heard document)" "a reader comes
saves
the reader is gone"
}
