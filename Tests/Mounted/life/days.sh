# A device's days: its clock, backups that it makes by itself, and the work on tmp.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

advance() { appcontainer clock "$DEVICE" advance "$1"; }
ahead() { appcontainer clock "$DEVICE" --json | json ahead; }
happened() { appcontainer events "$DEVICE" | json_lines event | grep -c "^$1\$" || true; }
backed_up() { [ -n "$(ls daily)" ]; }
lock() { appcontainer lock "$DEVICE" --now; }

case_an_advance_of_the_clock_does_what_is_due() {
    start_protected
    mkdir daily
    appcontainer schedule "$DEVICE" --backup daily
    echo x >"$MOUNT/tmp/old"
    appcontainer lock "$DEVICE" --no-wait
    same "$(state)" locking state
    # The grace period is over before the first backup is due, and the third of these comes before the item is old.
    same "$(advance 73h | sed 's/^[^ ]* //; s/ .*//' | head -n -1 | tr '\n' ' ')" "locked backedUp backedUp backedUp cleaned " order
    same "$(state)" locked state
    same "$(ls daily | wc -l)" 3 "backups"
    absent "$MOUNT/tmp/old"
    # The clock stays ahead while nobody serves the device.
    before=$(ahead)
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
    same "$(ahead)" "$before" "the clock after a shutdown"
    [[ $(appcontainer clock "$DEVICE") > $(date -u +%FT%T) ]] || fail "the clock is not ahead"
    appcontainer clock "$DEVICE" real
    same "$(ahead)" 0 "the clock"
    whole
}

case_what_a_clock_does_not_change() {
    start
    advance 52w
    echo x >"$DOCUMENTS/new"
    [ -z "$(find "$DOCUMENTS/new" -newermt '+1 day')" ] || fail "the file is from the device's time"
    # A new item is not a year old.
    echo x >"$MOUNT/tmp/new"
    mkdir "$MOUNT/Library/Caches/new"
    ln -s x "$MOUNT/tmp/link"
    same "$(appcontainer purge "$DEVICE" --older-than 1h --json | json purged)" "[]" "what is old"
    advance 1h
    test -e "$MOUNT/tmp/new" || fail "the item went"
    complains 64 appcontainer clock "$DEVICE" advance
    complains 64 appcontainer clock "$DEVICE" advance -1d
    complains 64 appcontainer clock "$DEVICE" advance 1y
    complains 64 appcontainer clock "$DEVICE" real 1h
    complains 27 appcontainer clock "$DEVICE" advance 5217w
}

case_the_wait_after_wrong_passcodes_passes() {
    start_protected
    lock
    for number in 1 2 3 4 5; do
        echo "wrong$number" >bad
        chmod 600 bad
        complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
    done
    complains 32 appcontainer unlock "$DEVICE" --passcode-file "$CODE"
    advance 59s
    complains 32 appcontainer unlock "$DEVICE" --passcode-file "$CODE"
    advance 1s
    unlock
}

# A file's time may be a tick of the kernel early.
of_the_past() { [ "$(date +%s%N)" -gt $(($(date -d "$(stat -c %w "$1")" +%s%N) + 20000000)) ]; }

case_old_items_of_tmp_go_when_nobody_runs() {
    start
    # It takes no record of its use.
    ln -s x "$MOUNT/tmp/link"
    eventually of_the_past "$(backing)/tmp/link"
    mkdir "$MOUNT/tmp/old" "$MOUNT/Library/Caches/old"
    echo x >"$MOUNT/tmp/old/file"
    advance 71h
    echo x >"$MOUNT/tmp/young"
    appcontainer launch "$DEVICE" "$APP" --no-exec
    advance 3h
    test -e "$MOUNT/tmp/old/file" || fail "an item of a running app went"
    appcontainer terminate "$DEVICE" "$APP"
    advance 1d
    absent "$MOUNT/tmp/old"
    [ ! -L "$MOUNT/tmp/link" ] || fail "the link is there"
    test -e "$MOUNT/tmp/young" || fail "an item of a day went"
    test -e "$MOUNT/Library/Caches/old" || fail "a cache went"
    same "$(happened cleaned)" 2 "events"
    # Use makes it young.
    exec 9<"$MOUNT/tmp/young"
    advance 4d
    test -e "$MOUNT/tmp/young" || fail "an open item went"
    exec 9<&-
    advance 4d
    absent "$MOUNT/tmp/young"
    whole
}

case_a_clock_that_was_set_back() {
    start
    mkdir "$MOUNT/Library/Caches/cache"
    advance 52w
    echo x >"$MOUNT/tmp/item"
    echo x >"$MOUNT/Library/Caches/cache/file"
    # The uses are written down.
    appcontainer unmount "$MOUNT"
    appcontainer clock "$DEVICE" real
    same "$(appcontainer purge "$DEVICE" --older-than 1h --json | json purged)" "[]" "what is old"
    # In a year's time they would be young still.
    advance 73h
    absent "$(backing)/tmp/item"
    contains "$(appcontainer purge "$DEVICE" --older-than 72h --json | json purged)" "Library/Caches/cache"
}

# An entry of the device directory can say anything of its last use.
case_a_time_of_use_that_somebody_made_up() {
    local time
    for time in 9223372036854775807 -9223372036854775808 9223372036854775808 99999999999999999999 soon; do
        start
        for name in tmp Library/Caches; do mkdir "$MOUNT/$name/item"; done
        echo x >"$MOUNT/tmp/item/file"
        appcontainer shutdown "$DEVICE"
        for name in tmp Library/Caches; do setfattr -n user.appcontainer.used -v "$time" "$(backing)/$name/item"; done
        advance 1h
        appcontainer purge "$DEVICE" --dry-run --json >plan
        advance 73h
        absent "$(backing)/tmp/item"
        appcontainer shutdown "$DEVICE"
        rm -r "$DEVICE"
    done
}

case_backups_are_made_by_themselves() {
    start_protected
    echo kept >"$DOCUMENTS/kept"
    mkdir daily
    contains "$(appcontainer schedule "$DEVICE" --backup daily)" "Waits for:  locked"
    advance 2d
    same "$(ls daily)" "" "backups of an unlocked device"
    appcontainer conditions "$DEVICE" power off
    lock
    advance 1d
    appcontainer conditions "$DEVICE" power on wifi off
    same "$(appcontainer schedule "$DEVICE" --json | json missing)" "['wifi']" "conditions"
    advance 1d
    same "$(ls daily)" "" "backups without power or Wi-Fi"
    # It is overdue: made as soon as it can be.
    appcontainer conditions "$DEVICE" wifi on
    eventually backed_up
    advance 36h
    same "$(happened backedUp)" 2 "backups"
    for backup in daily/*; do test -e "$backup/Manifest.db" || fail "$backup is no backup"; done
    appcontainer unlock "$DEVICE" --passcode-file "$CODE"
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$(echo daily/* | cut -d' ' -f1)"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(cat "$DOCUMENTS/kept")" kept "what was backed up"
    appcontainer schedule "$DEVICE" --off
    same "$(appcontainer schedule "$DEVICE")" "no backups are scheduled" "the schedule"
}

case_a_backup_that_becomes_possible_is_made() {
    start_protected
    mkdir daily
    appcontainer schedule "$DEVICE" --backup daily
    advance 2d
    same "$(ls daily)" "" "backups of an unlocked device"
    appcontainer restart "$DEVICE"
    same "$(appcontainer schedule "$DEVICE" --json | json missing)" "['firstUnlock']" "conditions"
    advance 1d
    same "$(ls daily)" "" "backups before the first unlock"
    unlock
    # Nobody waits for the lock.
    appcontainer lock "$DEVICE" --no-wait
    advance 1m
    eventually backed_up
    unlock
    advance 2d
    same "$(ls daily | wc -l)" 1 "backups"
    # A device without a passcode counts as locked.
    appcontainer passcode "$DEVICE" remove --old-file "$CODE"
    eventually two_backups
}
two_backups() { [ "$(ls daily | wc -l)" = 2 ]; }

case_a_long_advance_writes_the_last_backups() {
    start
    mkdir daily
    appcontainer schedule "$DEVICE" --backup daily
    advance 10d
    same "$(happened backedUp)" 10 "backups that were due"
    same "$(ls daily | wc -l)" 7 "backups"
    same "$(appcontainer events "$DEVICE" | grep -c 'replaced by a later one')" 3 "backups that were not written"
    # The same second comes again: the one in which the clock is set back, a day later.
    before=$(date +%s)
    appcontainer clock "$DEVICE" real
    for second in $(seq $((before + 86400)) $(($(date +%s) + 86401))); do
        mkdir "daily/$(date -u -d "@$second" +%FT%H-%M-%SZ)"
    done
    for day in daily/*; do touch "$day/taken"; done
    advance 25h
    ls daily
    ls -d daily/*Z-2
}

hostcase_a_schedule_whose_directory_is_full() {
    local place=$HOSTS/small/${WORK##*/}-daily
    start
    head -c 3M /dev/urandom >"$DOCUMENTS/large"
    mkdir "$place"
    appcontainer schedule "$DEVICE" --backup "$place"
    head -c 1M /dev/zero >"$place-spare"
    cat /dev/zero >"$place-filler" 2>/dev/null || true
    rm "$place-spare"
    complains 21 appcontainer clock "$DEVICE" advance 25h
    same "$(ls "$place")" "" "what a failed backup leaves"
    contains "$(appcontainer events "$DEVICE" | tail -1)" '"errno":"ENOSPC"'
    rm "$place-filler"
    advance 1d
    same "$(ls "$place" | wc -l)" 1 "backups"
    stop
    rm -r "$place"
}

case_a_schedule_whose_directory_is_gone() {
    start_protected
    complains 26 appcontainer schedule "$DEVICE" --backup missing
    complains 27 appcontainer schedule "$DEVICE" --backup "$DEVICE"
    complains 64 appcontainer schedule "$DEVICE" --backup daily --off
    complains 64 appcontainer conditions "$DEVICE" power
    complains 64 appcontainer conditions "$DEVICE" light on
    mkdir daily
    appcontainer schedule "$DEVICE" --backup daily
    lock
    rmdir daily
    before=$(ahead)
    complains 26 appcontainer clock "$DEVICE" advance 25h
    [[ $(ahead) != "$before" ]] || fail "the clock stood still"
    contains "$(appcontainer events "$DEVICE" | tail -1)" '"errno":"ENOENT"'
    mkdir daily
    advance 25h
    same "$(ls daily | wc -l)" 1 "backups"
    # The clone of a device backs up nothing by itself.
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
    appcontainer clone "$DEVICE" "$WORK/clone"
    same "$(appcontainer schedule "$WORK/clone")" "no backups are scheduled" "the clone's schedule"
}
