# The record of events under load and followed live, and what `explain` makes of it.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034,SC2119

events() { appcontainer events "$DEVICE"; }
explain() { appcontainer explain "$DEVICE" "$@"; }
record() { /usr/bin/python3 "$HERE/record.py" "$@"; }

# refuse COUNT PATH [PROCESSES]: one process, or each of so many, makes so many refusals.
refuse() { record refuse "$@"; }

# counted PATH: how many refusals on the path the record has, and how many it says it leaves out.
counted() {
    events | /usr/bin/python3 -c '
import json, sys
events = [json.loads(line) for line in sys.stdin]
print(sum(event.get("path") == sys.argv[1] for event in events), sum(event.get("omitted", 0) for event in events))' "$1"
}

# until_is WANTED COMMAND…: the command prints that, sooner or later.
until_is() { eventually prints "$@"; }
prints() { [ "$("${@:2}")" = "$1" ]; }

# MARK: How much is recorded

case_a_path_of_megabytes_is_told_by_its_end_and_erases_nothing() {
    start
    refuse 100 "$MOUNT/new"
    record refuse_deep "$DOCUMENTS" 3000 300
    same "$(counted new)" "100 0" "the refusals before"
    events | record check_deep "$APP" 3000 300
    # A summary in words shows it too.
    contains "$(explain --last 1)" "…/"
}

case_a_thousand_refusals_are_recorded_to_the_last_call() {
    start
    refuse 1000 "$MOUNT/new"
    same "$(counted new)" "1000 0"
}

total() {
    local counts
    read -ra counts <<<"$(counted new)"
    [ "${counts[0]}" -ge 1000 ] || fail "less than the burst is recorded: ${counts[*]}"
    echo $((counts[0] + counts[1]))
}

case_a_flood_is_counted_to_the_last_call() {
    local made=0
    start
    # The last of a flood may be one that is recorded, and tells of those before it: then there is another flood.
    while [ $made = 0 ] || [ "$(json_lines operation <last)" != null ]; do
        refuse 5000 "$MOUNT/new"
        made=$((made + 5000))
        # Nobody makes another: what was left out is told by itself.
        until_is $made total
        events | grep omitted | tail -n 1 >last
    done
    # The count by itself is of a process and a rule, and of no call.
    same "$(json_lines event process rule errno path operation <last)" "refused python3 topLevel EPERM null null"
    whole
}

case_omitted_refusals_are_counted_before_the_device_is_shut_down() {
    start
    refuse 5000 "$MOUNT/new"
    stop
    same "$(total)" 5000
    # The last that is told is what ends last.
    contains "$(events | tail -n 2)" '"event":"unmounted"'
}

case_nobody_else_and_no_other_rule_is_left_out_for_a_flood() {
    start
    record refuse_others "$MOUNT"
    same "$(events | grep -c '"path":"tmp"')" 20 "refusals by another rule"
    same "$(events | grep -c '"path":"other"')" 20 "refusals of other processes"
}

case_a_call_that_the_kernel_repeats_for_ever_fills_no_record() {
    start_protected
    classed complete "$DOCUMENTS/A"
    head -c 8192 /dev/zero >"$DOCUMENTS/A/f"
    mkfifo ready go
    /usr/bin/python3 "$HERE/record.py" map_over "$DOCUMENTS/A/f" >ready &
    local pid=$!
    cat ready
    appcontainer lock "$DEVICE" --now
    echo go >go
    # The record says that it leaves some out.
    until_is 1 eval 'events | grep dataProtection | grep -m 1 -c omitted || true'
    kill -9 $pid
    wait $pid || true
    [ "$(stat -c %s "$DEVICE/Events.jsonl")" -lt $((4 << 20)) ] || fail "the record has grown too much"
}

# MARK: Events and their processes

case_a_lock_that_was_cancelled_is_no_unlock() {
    start_protected --lock-grace 600
    events >before
    appcontainer lock "$DEVICE" --no-wait
    unlock
    appcontainer lock "$DEVICE" --now
    unlock
    same "$(events | tail -n "+$(($(wc -l <before) + 1))" | json_lines event | xargs)" \
        "willBecomeUnavailable didBecomeAvailable willBecomeUnavailable locked unlocked didBecomeAvailable"
}

case_damage_is_told_with_the_call_that_met_it() {
    start
    for name in read part; do head -c 20000 /dev/urandom >"$DOCUMENTS/$name"; done
    stop
    for name in read part; do
        printf 'XYZ' | dd of="$(backing)/Documents/$name" bs=1 seek=9000 conv=notrunc status=none
    done
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    fails cat "$DOCUMENTS/read"
    # The kernel reads the block of which a part is to be changed.
    ! dd if=/dev/zero of="$DOCUMENTS/part" bs=1 seek=5000 count=1 conv=notrunc status=none 2>/dev/null
    events | grep '"event":"corrupt"' | json_lines path process errno operation >seen
    same "$(sed -n 1p seen)" "Documents/read cat EIO read"
    same "$(sed -n 2p seen)" "Documents/part dd EIO write"
    [ "$(events | grep '"event":"corrupt"' | json_lines pid | grep -c null)" = 0 ] || fail "no process: $(events)"
}

# MARK: Followed live

# following FILE: follows into the file, in the background; returns when the first event is there.
following() {
    appcontainer events "$DEVICE" --follow >"$1" 2>"$1.err" &
    followers+=($!)
    local file=$1
    until_is yes eval "if [ -s '$file' ]; then echo yes; fi"
}
followers=()

# followed FILE PID: the follower ended with the device, and has every event of the record once.
followed() {
    local status=0
    wait "$2" || status=$?
    same "$status" 29 "exit status of a follower"
    same "$(wc -l <"$1.err")" 1 "lines on standard error"
    contains "$(cat "$1.err")" "was shut down"
    diff <(events) "$1"
}

case_a_follower_gets_every_event_once() {
    start
    following first
    # They begin while events come.
    refuse 600 "$MOUNT/new" 4 &
    local flood=$!
    following second
    following third
    wait $flood
    refused mkdir "$MOUNT/last"
    stop
    followed first "${followers[0]}"
    followed second "${followers[1]}"
    followed third "${followers[2]}"
    [ "$(wc -l <first)" -ge 2401 ] || fail "$(wc -l <first) events"
}

case_a_follower_gets_events_at_once_and_ends_when_interrupted_or_unread() {
    start
    following seen
    refused mkdir "$MOUNT/new"
    until_is 1 grep -c '"path":"new"' seen
    # A shell starts what is in the background with interrupts ignored.
    kill -TERM "${followers[0]}"
    local status=0
    wait "${followers[0]}" || status=$?
    same "$status" 143 "exit status of a follower that was asked to end"
    record interrupt "$DEVICE"
    # Nothing happens any more: who reads has gone all the same.
    same "$(appcontainer events "$DEVICE" --follow | head -n 1 | json_lines event)" installed
    appcontainer shutdown "$DEVICE"
    # Off, it is started: there is nobody else to tell of events.
    same "$(appcontainer events "$DEVICE" --follow | head -n 1 | json_lines event)" installed
    kill -0 "$(daemon_pid)"
    complains 3 appcontainer events "$WORK/none" --follow
}

case_a_killed_daemon_ends_its_followers() {
    start
    following seen
    kill -9 "$(daemon_pid)"
    local status=0
    wait "${followers[0]}" || status=$?
    same "$status" 30 "exit status"
    same "$(wc -l <seen.err)" 1 "lines on standard error"
    appcontainer unmount "$MOUNT"
}

case_a_follower_that_does_not_read_delays_nothing_and_learns_how_many_it_missed() {
    start
    appcontainer status --json "$DEVICE" >state.json
    /usr/bin/python3 "$HERE/slow_follower.py" "$MOUNT" state.json
    same "$(events | grep -c '"event":"missed"' || true)" 0 "events of the record that somebody missed"
}

case_a_follower_does_not_keep_the_device_on() {
    start
    refuse 1000 "$MOUNT/Notes.app/$(printf 'n%.0s' $(seq 200))" 8
    local socket
    socket=$(control_socket)
    mkfifo ready
    /usr/bin/python3 "$HERE/record.py" silent "$socket" >ready &
    local pid=$!
    cat ready
    stop
    same "$(appcontainer status --json "$DEVICE" | json daemon pid)" null "the daemon"
    kill $pid
    wait $pid || true
}

# MARK: In words

case_explain_tells_the_rules_behind_the_last_refusals() {
    start
    same "$(explain)" "nothing was refused"
    same "$(explain --json | xargs)" "[ ]"
    echo mail >mail.txt
    appcontainer deliver "$DEVICE" "$APP" mail.txt
    for _ in 1 2 3; do refused mkdir "$MOUNT/new"; done
    refused rmdir "$MOUNT/tmp"
    refused chmod 644 "$DOCUMENTS/Inbox/mail.txt"
    for off in false true; do
        ! $off || stop
        explain >said
        same "$(grep -c 'Rule ' said)" 3 "explanations"
        record explained said
        same "$(explain --last 1 | grep -c 'Rule ')" 1 "explanations, when one is asked for"
        explain --last 2 --json >said.json
        same "$(json 0 rule <said.json) $(json 0 count <said.json) $(json 1 rule <said.json)" "standardDirectory 1 inbox"
        contains "$(json 1 words <said.json)" "moved out"
        contains "$(json 1 instead <said.json)" "move the file out of the Inbox first"
    done
    same "$(appcontainer status --json "$DEVICE" | json daemon pid)" null "the daemon, which explain does not start"
    complains 64 explain --last 0
    complains 3 appcontainer explain "$WORK/none"
}

case_explain_counts_what_the_record_leaves_out() {
    start
    refuse 5000 "$MOUNT/new"
    stop
    explain --json >said.json
    same "$(/usr/bin/python3 -c 'import json; print(len(json.load(open("said.json"))))')" 1 "explanations"
    same $(($(json 0 count <said.json) + $(json 0 omitted <said.json))) 5000 "refusals"
    contains "$(explain)" "more that the record leaves out"
}

case_explain_says_what_inspect_says() {
    start
    refused mkdir "$MOUNT/new"
    refused rm "$MOUNT/Notes.app/Info.plist"
    same "$(explain --json | json 0 words)" "$(appcontainer inspect "$MOUNT" --json | json 0 rule)" "of the top level"
    same "$(explain --json | json 1 words)" "$(appcontainer inspect "$MOUNT/Notes.app" --json | json 0 rule)" "of the bundle"
}
