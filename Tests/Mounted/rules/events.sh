# The record of events: what it says of each refusal, what else it tells, and what it withstands.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

events() { appcontainer events "$DEVICE"; }

# The events with this name.
named() { events | grep "\"event\":\"$1\"" || true; }

# A table of calls, each with the path, operation and rule of its event behind a #. Every call is refused, and leaves
# one event, that of this process.
refusals() {
    local before
    sed 's/^/EPERM /' >table
    before=$(named refused | wc -l)
    expect <table
    # Nothing is waited for: the record has what the calls did when they return.
    named refused | tail -n "+$((before + 1))" >seen
    /usr/bin/python3 "$HERE/refusals.py" "$APP" table seen
}

case_each_refusal_is_an_event_that_says_why() {
    start
    bundle=$MOUNT/Notes.app
    inbox=$DOCUMENTS/Inbox
    echo mail >mail.txt
    appcontainer deliver "$DEVICE" "$APP" mail.txt
    echo mine >"$DOCUMENTS/mine"
    ln -s mine "$DOCUMENTS/link"
    refusals <<TABLE
open $bundle/Info.plist w # Notes.app/Info.plist open sealedBundle
open $bundle/Info.plist rtrunc # Notes.app/Info.plist open sealedBundle
open $bundle/new excl # Notes.app/new create sealedBundle
truncate $bundle/Info.plist 0 # Notes.app/Info.plist truncate sealedBundle
unlink $bundle/Info.plist # Notes.app/Info.plist unlink sealedBundle
rmdir $bundle/Samples # Notes.app/Samples rmdir sealedBundle
mkdir $bundle/Samples/new # Notes.app/Samples/new mkdir sealedBundle
symlink x $bundle/new # Notes.app/new symlink sealedBundle
mkfifo $bundle/new # Notes.app/new mknod sealedBundle
link $DOCUMENTS/mine $bundle/new # Notes.app/new link sealedBundle
link $bundle/Info.plist $DOCUMENTS/new # Notes.app/Info.plist link sealedBundle
rename $bundle/Info.plist $DOCUMENTS/new # Notes.app/Info.plist rename sealedBundle
rename $DOCUMENTS/mine $bundle/new # Notes.app/new rename sealedBundle
exchange $DOCUMENTS/mine $bundle/Info.plist # Notes.app/Info.plist rename sealedBundle
chmod 600 $bundle/Info.plist # Notes.app/Info.plist chmod sealedBundle
chown $bundle/Info.plist # Notes.app/Info.plist chown sealedBundle
utimes $bundle/Info.plist # Notes.app/Info.plist utimensat sealedBundle
setxattr $bundle/Info.plist user.note x # Notes.app/Info.plist setxattr sealedBundle
removexattr $bundle/Info.plist user.note # Notes.app/Info.plist removexattr sealedBundle
setflags $bundle/Info.plist +d # Notes.app/Info.plist setflags sealedBundle
mkdir $MOUNT/new # new mkdir topLevel
chmod 755 $MOUNT # / chmod topLevel
rename $DOCUMENTS/mine $MOUNT/new # new rename topLevel
rmdir $MOUNT/Library/Caches # Library/Caches rmdir standardDirectory
rename $MOUNT/tmp $DOCUMENTS/tmp # tmp rename standardDirectory
exchange $DOCUMENTS/mine $MOUNT/tmp # tmp rename topLevel
unlink $MOUNT/.com.apple.mobile_container_manager.metadata.plist # .com.apple.mobile_container_manager.metadata.plist unlink metadata
open $inbox/mail.txt a # Documents/Inbox/mail.txt open inbox
rename $DOCUMENTS/mine $inbox/mine # Documents/Inbox/mine rename inbox
exchange $inbox/mail.txt $DOCUMENTS/mine # Documents/Inbox/mail.txt rename inbox
exchange $DOCUMENTS/mine $inbox/mail.txt # Documents/Inbox/mail.txt rename inbox
link $inbox/mail.txt $DOCUMENTS/new # Documents/Inbox/mail.txt link inbox
rmdir $inbox # Documents/Inbox rmdir inbox
setxattr $DOCUMENTS/link com.apple.note x # Documents/link setxattr attributeHolder
setxattr $DOCUMENTS/mine user.appcontainer.backup x # Documents/mine setxattr computedAttribute
setxattr $DOCUMENTS/mine com.apple.system.cprotect x # Documents/mine setxattr systemAttribute
TABLE
    # A denial by mode bits is not the sandbox's, and a call that succeeds is no event.
    before=$(named refused | wc -l)
    [ "$(id -u)" = 0 ] || { chmod 000 "$DOCUMENTS/mine" && ! cat "$DOCUMENTS/mine"; chmod 600 "$DOCUMENTS/mine"; }
    echo more >>"$DOCUMENTS/mine"
    rm "$DOCUMENTS/Inbox/mail.txt"
    same "$(named refused | wc -l)" "$before" "refusals after calls that none was"
}

case_calls_of_the_kernel_itself_are_no_refusals() {
    start
    echo one >one.txt
    cp one.txt two.txt
    mkdir album
    cp one.txt album
    appcontainer deliver "$DEVICE" "$APP" one.txt two.txt album
    # It writes the times of what was removed down, in use or not.
    exec 5<"$DOCUMENTS/Inbox/one.txt"
    rm -r "$DOCUMENTS/Inbox"/*
    sync -f "$MOUNT"
    same "$(cat <&5)" one "a removed file that is open"
    exec 5<&-
    same "$(named refused)" ""
}

case_a_name_that_a_new_inbox_would_take_is_in_the_record() {
    start
    refusals <<TABLE
mkdir $DOCUMENTS/Inbox # Documents/Inbox mkdir inboxName
symlink x $DOCUMENTS/Inbox # Documents/Inbox symlink inboxName
open $DOCUMENTS/Inbox excl # Documents/Inbox create inboxName
TABLE
}

rootcase_a_device_node_is_refused_with_an_event() {
    start
    refusals <<<"mkdevice $DOCUMENTS/null # Documents/null mknod deviceNode"
}

case_content_before_the_first_unlock_is_refused_with_an_event() {
    echo 1234 >passcode
    mkdir "$MOUNT"
    appcontainer create "$DEVICE" --passcode-file passcode
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file passcode
    mkdir "$DOCUMENTS/folder"
    echo mine >"$DOCUMENTS/folder/mine"
    again
    refusals <<TABLE
open $DOCUMENTS/folder/mine r # Documents/folder/mine open dataProtection
truncate $DOCUMENTS/folder/mine 1 # Documents/folder/mine truncate dataProtection
open $DOCUMENTS/folder/new excl # Documents/folder/new create dataProtection
TABLE
}

case_each_refused_call_on_an_open_file_after_a_lock_is_an_event() {
    start_protected
    classed complete "$DOCUMENTS/diary"
    echo 'dear diary' >"$DOCUMENTS/diary/today"
    /usr/bin/python3 "$HERE/events.py" after_lock "$DOCUMENTS/diary/today" "$DEVICE"
    # A read that the kernel asks for twice is two events, one after the other.
    named refused | json_lines operation path rule errno process | uniq >seen
    sed 's|$| Documents/diary/today dataProtection EPERM python3|' >wanted <<'CALLS'
read
write
read
truncate
fallocate
open
CALLS
    diff wanted seen
}

case_any_name_is_told_as_json() {
    start
    /usr/bin/python3 "$HERE/events.py" names "$MOUNT"
    named refused | /usr/bin/python3 "$HERE/events.py" names_told
}

case_the_record_tells_of_installing_mounting_and_delivering() {
    start
    echo one >one.txt
    mkdir album
    appcontainer deliver "$DEVICE" "$APP" one.txt album
    same "$(events | tail -n 4 | json_lines event app path)" "installed $APP null
mounted $APP $MOUNT
delivered $APP Documents/Inbox/one.txt
delivered $APP Documents/Inbox/album" "events"
    # Others see nothing of it.
    same "$(stat -c %a "$DEVICE/Events.jsonl")" 600 mode
    stop
    # With the device off as well, and without turning it on.
    same "$(events | tail -n 1 | json_lines event app path)" "unmounted $APP $MOUNT" "the last event"
    same "$(appcontainer status --json "$DEVICE" | json daemon pid)" null "the daemon"
    whole
    # A clone and an erased device begin without events.
    appcontainer shutdown "$DEVICE"
    appcontainer clone "$DEVICE" copy
    same "$(appcontainer events copy)" "" "events of a clone"
    appcontainer erase "$DEVICE"
    same "$(events)" "" "events of an erased device"
    appcontainer delete "$DEVICE"
    absent "$DEVICE"
}
case_the_control_api_answers_with_the_events() {
    start
    refused mkdir "$MOUNT/new"
    socket=$(control_socket)
    curl -sS --unix-socket "$socket" http://device/v1/events >answer
    same "$(json 2 rule <answer) $(json 2 process <answer)" "topLevel mkdir"
    same "$(/usr/bin/python3 -c 'import json; print(len(json.load(open("answer"))))')" "$(events | wc -l)" "events"
}

case_damage_is_one_event() {
    start
    head -c 20000 /dev/urandom >"$DOCUMENTS/victim"
    stop
    data=$(backing)
    printf 'XYZ' | dd of="$data/Documents/victim" bs=1 seek=9000 conv=notrunc status=none
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    fails cat "$DOCUMENTS/victim"
    fails cat "$DOCUMENTS/victim"
    same "$(named corrupt | json_lines app path errno operation process)" "$APP Documents/victim EIO read cat"
}

oncecase_a_flood_of_refusals_fills_nothing() {
    start
    # Of one process no more is recorded than its burst.
    /usr/bin/python3 "$HERE/record.py" refuse 1500 "$MOUNT/Notes.app/$(printf 'n%.0s' $(seq 200))" 25
    refused mkdir "$MOUNT/last"
    for file in Events.jsonl Events.1.jsonl; do
        size=$(stat -c %s "$DEVICE/$file")
        [ "$size" -le $((4 << 20)) ] || fail "$file has $size bytes"
    done
    same "$(echo "$DEVICE"/Events*)" "$DEVICE/Events.1.jsonl $DEVICE/Events.jsonl" "files of the record"
    # The numbers of what was left out, which name no path, come within two seconds: until then the record grows.
    eventually the_record_stands_still
    same "$(wc -l <seen)" "$(wc -l <lines)" "lines, each of them whole"
    same "$(json_lines path process <seen | grep -v '^null ' | tail -n 1)" "last mkdir" "the last call"
    pid=$(daemon_pid)
    [ "$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")" -lt 200000 ] || fail "the daemon has grown"
    [ "$(ls "/proc/$pid/fd" | wc -l)" -lt 100 ] || fail "the daemon has descriptors open"
    echo well >"$DOCUMENTS/f"
    again
    same "$(cat "$DOCUMENTS/f")" well content
    whole
}

# As `seen` has the events, and `lines` the lines of its files.
the_record_stands_still() {
    cat "$DEVICE"/Events*.jsonl >before
    events >seen
    cat "$DEVICE"/Events*.jsonl >lines
    cmp before lines
}

case_an_unfinished_or_removed_record_harms_nothing() {
    start
    refused mkdir "$MOUNT/one"
    stop
    # As a process leaves it that was killed while it wrote, and a host that lost power.
    printf '{"time":"2026-01-01T00:00:00.000Z","event":"refu' >>"$DEVICE/Events.jsonl"
    before=$(events | wc -l)
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    refused mkdir "$MOUNT/two"
    same "$(events | wc -l)" $((before + 2)) "events"
    same "$(named refused | json_lines path)" $'one\ntwo'
    rm "$DEVICE/Events.jsonl"
    same "$(events)" "" "events of a record that is gone"
    refused mkdir "$MOUNT/three"
    same "$(events | json_lines path)" three
    # Nothing is written through what somebody laid there; what is missing is counted.
    mkdir kept
    echo kept >kept/file
    rm "$DEVICE/Events.jsonl"
    ln -s "$WORK/kept/file" "$DEVICE/Events.jsonl"
    refused mkdir "$MOUNT/four"
    same "$(cat kept/file)" kept "the file behind a link"
    rm "$DEVICE/Events.jsonl"
    refused mkdir "$MOUNT/five"
    same "$(events | json_lines path dropped)" "five 1"
}

# hostcase: the filesystems there are small ones.
hostcase_a_full_host_keeps_no_call_waiting() {
    DEVICE=$HOSTS/tmpfs/${WORK##*/}-device
    start
    refused mkdir "$MOUNT/one"
    dd if=/dev/zero of="$HOSTS/tmpfs/${WORK##*/}-filler" bs=64k status=none 2>/dev/null || true
    cat /dev/zero 2>/dev/null >>"$HOSTS/tmpfs/${WORK##*/}-filler" || true
    /usr/bin/python3 "$HERE/events.py" full "$MOUNT"
    rm "$HOSTS/tmpfs/${WORK##*/}-filler"
    refused mkdir "$MOUNT/two"
    # The part of the flood that was left out is told within two seconds, unless the next of that process has told it.
    eventually all_of_the_flood_is_told
    same "$(wc -l <seen)" "$(wc -l <lines)" "lines, each of them whole"
    /usr/bin/python3 -c '
import json
events = [json.loads(line) for line in open("seen")]
full = sum(event.get("path") == "full" for event in events)
assert full + sum(event.get("omitted", 0) + event.get("dropped", 0) for event in events) == 2000, events'
}
# As `seen` has the events.
all_of_the_flood_is_told() {
    the_record_stands_still && /usr/bin/python3 "$HERE/events.py" full_told seen
}
