# Purging: what goes under pressure, in which order, and what stays.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

CACHES=$MOUNT/Library/Caches
MIB=1048576

# bounded CAPACITY [INSTALL-OPTION…]: as `start`, on a device with a capacity of its own.
bounded() {
    local capacity=$1
    shift
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE" --capacity "$capacity"
    appcontainer install "$DEVICE" "$BASE/Notes.app" "$@"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}
# cache PATH MEBIBYTES: an entry with one file in a directory.
cache() { mkdir "$1" && head -c "$(($2 * MIB))" /dev/urandom >"$1/data"; }
# figure KEY: one of the status.
figure() { appcontainer status "$DEVICE" --json | json "$1"; }
# paths KEY: the paths of a report on standard input, purged or skipped, in its order.
paths() {
    /usr/bin/python3 -c 'import json, sys; print(*(e["path"] for e in json.load(sys.stdin)[sys.argv[1]]))' "$1"
}
# reasons KEY: the same with why.
reasons() {
    /usr/bin/python3 -c '
import json, sys
print(*(e["path"] + ":" + e["reason"] for e in json.load(sys.stdin)[sys.argv[1]]))' "$1"
}
purge() { timeout 60 appcontainer purge "$DEVICE" "$@"; }
# released: once the device knows of each close so far, which is a use. The kernel tells of the last close when it has
# time to, over io_uring not even in the order of the closes.
released() { eventually nothing_is_open; }
nothing_is_open() { ! purge --level critical --dry-run --json | reasons skipped | grep fileOpen; }

case_the_least_recently_used_entries_go_first() {
    bounded 128M
    for name in Library/Caches/{a,b,c,d} tmp/e; do
        cache "$MOUNT/$name" 2
        released
    done
    # Reading is a use; looking is none, and neither is what utimes says.
    cat "$CACHES/b/data" >/dev/null
    released
    stat "$CACHES/a/data" "$CACHES/a" >/dev/null
    ls -lR "$CACHES/a" >/dev/null
    touch -c -d 2031-01-01 "$CACHES/a/data" "$CACHES/a"
    refused setfattr -n user.appcontainer.used -v 1900000000000000000 "$CACHES/a"
    # An append is a use of its entry when the file is closed.
    echo more >>"$CACHES/c/data"
    released
    local told
    told=$(purge --free "$(($(figure available) + 3 * MIB))" --json)
    same "$(paths purged <<<"$told")" "Library/Caches/a Library/Caches/d"
    same "$(reasons purged <<<"$told")" \
        "Library/Caches/a:leastRecentlyUsed Library/Caches/d:leastRecentlyUsed"
    same "$(reasons skipped <<<"$told")" \
        "tmp/e:targetReached Library/Caches/b:targetReached Library/Caches/c:targetReached"
    same "$(ls "$CACHES")" "$(printf 'b\nc')"
    ls "$MOUNT/tmp/e/data"
    # The order outlives the session.
    again
    told=$(purge --level critical --dry-run --json)
    same "$(paths purged <<<"$told")" "tmp/e Library/Caches/b Library/Caches/c"
    same "$(ls "$CACHES")" "$(printf 'b\nc')"
    whole
}

case_only_caches_and_temporary_files_are_purged() {
    start --group group.com.example.notes --icloud iCloud.com.example.Notes
    local place kept=("$DOCUMENTS" "$MOUNT/Library/Preferences" "$MOUNT/Library/Application Support" \
        "$MOUNT/Groups/group.com.example.notes" "$MOUNT/iCloud/iCloud.com.example.Notes" "$DOCUMENTS/Library/Caches")
    mkdir -p "$MOUNT/Library/Application Support" "$DOCUMENTS/Library/Caches"
    for place in "${kept[@]}"; do
        cache "$place/kept" 1
        # Excluded from backups: Apple's mark, which says nothing about purging.
        setfattr -n user.com.apple.metadata:com_apple_backup_excludeItem -v excluded "$place/kept/data"
    done
    cache "$CACHES/gone" 1
    echo x >"$CACHES/file"
    ln -s /etc/passwd "$MOUNT/tmp/link"
    mkfifo "$MOUNT/tmp/fifo"
    mkdir "$CACHES/closed" && echo x >"$CACHES/closed/file" && chmod 0 "$CACHES/closed"
    released
    purge --level critical
    same "$(ls -A "$CACHES" "$MOUNT/tmp" | tr -d '\n')" "$CACHES:$MOUNT/tmp:" "what is left in the two"
    for place in "${kept[@]}"; do ls "$place/kept/data"; done
    # The directories themselves stay as they were, and are the app's to use.
    cache "$CACHES/gone" 1
    echo y >"$MOUNT/tmp/link"
    same "$(cat "$MOUNT/tmp/link")" y
    whole
}

case_caches_of_a_group_go_when_no_app_of_it_runs() {
    local group=group.com.example.notes told
    start --group "$group"
    make_app com.example.Other Other
    appcontainer install "$DEVICE" "$WORK/Other.app" --group "$group"
    local caches=$MOUNT/Groups/$group/Library/Caches
    same "$(ls -A "$caches")" ""
    cache "$caches/a" 1
    cache "$MOUNT/Groups/$group/Library/kept" 1
    mkdir "$MOUNT/Groups/$group/tmp" && cache "$MOUNT/Groups/$group/tmp/kept" 1
    released
    appcontainer launch "$DEVICE" com.example.Other --no-exec
    told=$(purge --level critical --json)
    same "$(reasons skipped <<<"$told") $(paths purged <<<"$told")" "Groups/$group/Library/Caches/a:appRunning "
    appcontainer terminate "$DEVICE" com.example.Other
    told=$(purge --level critical --app com.example.Other --json)
    same "$(paths purged <<<"$told")" "Groups/$group/Library/Caches/a"
    absent "$caches/a"
    ls "$MOUNT/Groups/$group/Library/kept/data" "$MOUNT/Groups/$group/tmp/kept/data"
    appcontainer events "$DEVICE" | grep '"event":"purged"' | grep -q "Groups/$group/Library/Caches/a"
    # The least recently used goes first, of whichever container.
    cache "$CACHES/first" 1
    cache "$caches/second" 1
    cache "$CACHES/third" 1
    released
    told=$(purge --level critical --dry-run --json)
    same "$(paths purged <<<"$told")" "Library/Caches/first Groups/$group/Library/Caches/second Library/Caches/third"
    whole
}

rootcase_a_purge_of_a_group_shows_in_both_homes() {
    local group=group.com.example.notes home
    start --group "$group"
    make_app com.example.Other Other
    appcontainer install "$DEVICE" "$WORK/Other.app" --group "$group"
    mkdir "$WORK/other"
    appcontainer mount "$DEVICE" com.example.Other "$WORK/other"
    cache "$MOUNT/Groups/$group/Library/Caches/a" 1
    echo x >"$WORK/other/Groups/$group/Library/Caches/file"
    for home in "$MOUNT" "$WORK/other"; do ls -l "$home/Groups/$group/Library/Caches/a" "$home/Groups/$group/Library/Caches"; done
    released
    purge --level critical
    for home in "$MOUNT" "$WORK/other"; do same "$(ls -A "$home/Groups/$group/Library/Caches")" ""; done
    mkdir "$WORK/other/Groups/$group/Library/Caches/a"
    same "$(ls "$MOUNT/Groups/$group/Library/Caches")" a
    appcontainer unmount "$WORK/other"
    whole
}

# capricious DEVICE: a device that disobeys, with a cache and marked files.
capricious() {
    local name
    mkdir -p "$2"
    appcontainer create "$1" --capricious "the seed 42"
    appcontainer install "$1" "$BASE/Notes.app"
    appcontainer mount "$1" "$APP" "$2"
    for name in $(seq 40); do
        echo x >"$2/Documents/$name"
        setfattr -n user.xdg.robots.backup -v false "$2/Documents/$name"
        echo x >"$2/tmp/$name"
    done
}

# The deeds of a device, without their times. Sorted, as entries go by age, and the clock's ticks decide which have one age.
deeds() { appcontainer events "$1" | grep '"event":"disobeyed"' | sed 's/"time":"[^"]*"//' | sort; }

case_a_capricious_device_disobeys_in_the_same_way_each_time() {
    local device count
    for device in one two; do
        capricious "$WORK/$device" "$WORK/home-$device"
        same "$(appcontainer status "$WORK/$device" --json | json capricious)" "the seed 42"
        appcontainer backup "$WORK/$device" --list --json >"$WORK/$device.list"
        appcontainer backup "$WORK/$device" "$WORK/$device.tar"
        DEVICE=$WORK/$device eventually nothing_is_open
        appcontainer purge "$WORK/$device" --level critical
        ls "$WORK/home-$device/tmp" >"$WORK/$device.tmp"
        deeds "$WORK/$device" >"$WORK/$device.deeds"
        appcontainer shutdown "$WORK/$device"
    done
    cmp "$WORK/one.deeds" "$WORK/two.deeds"
    cmp "$WORK/one.list" "$WORK/two.list"
    cmp "$WORK/one.tmp" "$WORK/two.tmp"
    count=$(grep -c '"reason":"backedUp"' "$WORK/one.deeds")
    [ "$count" -gt 0 ] && [ "$count" -lt 40 ] || fail "$count of 40 marked files were backed up"
    same "$(tar -tf "$WORK/one.tar" | grep -c '/Documents/[0-9]')" "$count" "marked files in the backup"
    count=$(grep -c '"reason":"spared"' "$WORK/one.deeds")
    [ "$count" -gt 0 ] && [ "$count" -lt 40 ] || fail "$count of 40 entries were spared"
    same "$(wc -l <"$WORK/one.tmp")" "$count" "entries that are left"
    # Without a seed nothing of that happens.
    start
    same "$(appcontainer status "$DEVICE" --json | json capricious)" null
    complains 64 appcontainer create "$WORK/none" --capricious ''
    absent "$WORK/none"
}

case_library_caches_is_gone_one_day_and_is_made_anew() {
    local _
    capricious "$DEVICE" "$MOUNT"
    for _ in $(seq 100); do
        [ -e "$CACHES" ] || break
        [ -e "$CACHES/entry" ] || echo x >"$CACHES/entry"
        ls "$CACHES" >/dev/null
        released
        purge --level critical >/dev/null
    done
    absent "$CACHES"
    appcontainer events "$DEVICE" | grep '"event":"disobeyed"' | grep '"path":"Library/Caches"' | grep -q removedCaches
    refused touch "$CACHES"
    refused ln -s /tmp "$CACHES"
    mkdir "$CACHES"
    same "$(getfattr --absolute-names -n user.appcontainer.backup --only-values "$CACHES")" excluded
    refused rmdir "$CACHES"
    refused setfattr -x user.xdg.robots.backup "$CACHES"
    for _ in $(seq 20); do
        [ -e "$CACHES" ] || mkdir "$CACHES"
        [ -e "$CACHES/anew" ] || echo x >"$CACHES/anew"
        released
        purge --level critical >/dev/null
        [ ! -e "$CACHES/anew" ] || continue
        appcontainer events "$DEVICE" | grep '"event":"purged"' | grep -q Library/Caches/anew
        break
    done
    absent "$CACHES/anew"
    whole
}

case_an_entry_with_an_open_file_stays() {
    start
    cache "$CACHES/held" 1
    cache "$CACHES/mapped" 1
    cache "$CACHES/gone" 1
    mkdir "$CACHES/held/deeper"
    exec 7<"$CACHES/held/data" 8>"$CACHES/held/deeper/written"
    # A mapping whose descriptor is closed.
    mkfifo "$WORK/ready" "$WORK/over"
    /usr/bin/python3 "$HERE/hold_mapped.py" "$CACHES/mapped/data" "$WORK/ready" "$WORK/over" &
    local reader=$! told
    cat "$WORK/ready"
    eventually only_held_and_mapped_are_open
    told=$(purge --level critical --json)
    same "$(paths purged <<<"$told")" Library/Caches/gone
    contains "$(reasons skipped <<<"$told")" Library/Caches/held:fileOpen
    contains "$(reasons skipped <<<"$told")" Library/Caches/mapped:fileOpen
    echo x >&8
    same "$(head -c "$MIB" <&7 | wc -c)" "$MIB"
    exec 7<&- 8>&-
    : >"$WORK/over"
    wait "$reader"
    same "$(cat "$CACHES/held/deeper/written")" x
    eventually gone_by_now "$CACHES/held"
    absent "$CACHES/mapped"
}
only_held_and_mapped_are_open() {
    [ "$(purge --level critical --dry-run --json | paths purged)" = Library/Caches/gone ]
}
gone_by_now() {
    purge --level critical >/dev/null
    [ ! -e "$1" ]
}

case_a_purge_is_seen_at_once_and_never_in_part() {
    start
    mkdir "$CACHES/unit"
    for name in $(seq 50); do echo x >"$CACHES/unit/$name"; done
    ls -l "$CACHES/unit" >/dev/null
    echo old >"$CACHES/file"
    cat "$CACHES/file" "$CACHES/unit/7" >/dev/null
    released
    (
        cd "$CACHES/unit"
        purge --level critical
        # The process that is there finds nothing any more.
        fails cat 7
        fails touch new
        fails ls
    )
    same "$(ls -A "$CACHES")" ""
    fails cat "$CACHES/unit/7"
    # Names come back as if nothing had been there.
    mkdir "$CACHES/unit"
    same "$(ls -A "$CACHES/unit")" ""
    # The kernel lets go afterwards of what was there before.
    (cd "$CACHES/unit" && sleep 0.3 && same "$(/bin/pwd)" "$CACHES/unit")
    echo new >"$CACHES/file"
    same "$(cat "$CACHES/file")" new
    contains "$(appcontainer events "$DEVICE")" \
        '"event":"purged","app":"com.example.Notes","path":"Library/Caches/unit","size":'
    whole
}

case_free_says_when_it_cannot_be_reached() {
    bounded 64M
    cache "$CACHES/a" 4
    cache "$CACHES/b" 4
    released
    local status=0
    purge --free 1T --dry-run >told 2>said || status=$?
    same $status 45 "exit status of a dry run"
    contains "$(cat told)" "would purge  com.example.Notes  Library/Caches/a"
    same "$(ls "$CACHES")" "$(printf 'a\nb')"
    status=0
    purge --free 1T >told 2>said || status=$?
    same $status 45 "exit status"
    contains "$(cat told)" "purged  com.example.Notes  Library/Caches/b"
    same "$(wc -l <said)" 1 "lines on standard error"
    same "$(ls "$CACHES")" ""
    # Room that is available already needs nothing.
    cache "$CACHES/a" 4
    purge --free 1M
    purge
    same "$(ls "$CACHES")" a
}

case_old_entries_go_by_their_age() {
    start
    for name in days hours minutes now; do echo x >"$CACHES/$name"; done
    # Also of what its own user may not write to.
    echo x >"$CACHES/closed" && chmod 400 "$CACHES/closed"
    stop
    # The record lies with the entry, where no app reaches it.
    local now data
    now=$(date +%s)
    data=$(backing)/Library/Caches
    getfattr -n user.appcontainer.used --only-values "$data/days" | grep -qxE '[0-9]{19}'
    getfattr -n user.appcontainer.used --only-values "$data/closed" | grep -qxE '[0-9]{19}'
    same "$(stat -c %a "$data/closed")" 400
    setfattr -n user.appcontainer.used -v "$((now - 3 * 86400))000000000" "$data/days"
    setfattr -n user.appcontainer.used -v "$((now - 3 * 3600))000000000" "$data/hours"
    setfattr -n user.appcontainer.used -v "$((now - 3 * 60))000000000" "$data/minutes"
    local told
    told=$(purge --older-than 2d --json)
    same "$(reasons purged <<<"$told")" Library/Caches/days:unused
    contains "$(reasons skipped <<<"$told")" Library/Caches/hours:usedRecently
    same "$(purge --older-than 4h --json | paths purged)" ""
    same "$(purge --older-than 7200 --json | paths purged)" Library/Caches/hours
    same "$(purge --older-than 2m --json | paths purged)" Library/Caches/minutes
    # A copy of the device has it too.
    appcontainer shutdown "$DEVICE"
    setfattr -n user.appcontainer.used -v "$((now - 3 * 3600))000000000" "$data/now"
    cp -a "$DEVICE" copy
    appcontainer clone "$DEVICE" clone
    for device in copy clone; do
        same "$(appcontainer purge $device --older-than 2h --json | paths purged)" Library/Caches/now
    done
}

case_one_app_can_be_purged_and_others_left() {
    start
    make_app com.example.Mail Mail
    appcontainer install "$DEVICE" "$WORK/Mail.app"
    mkdir "$WORK/mail"
    appcontainer mount "$DEVICE" com.example.Mail "$WORK/mail"
    cache "$CACHES/notes" 1
    cache "$WORK/mail/tmp/mail" 1
    released
    same "$(purge --app com.example.Mail --level critical --json | paths purged)" tmp/mail
    ls "$CACHES/notes/data"
    # An app that is not mounted is purged as well.
    appcontainer unmount "$MOUNT"
    same "$(purge --level critical --json | paths purged)" Library/Caches/notes
    complains 12 appcontainer purge "$DEVICE" --app com.example.None
    complains 14 appcontainer purge "$DEVICE" --app ../x
    complains 64 appcontainer purge "$DEVICE" --free 1X
    complains 64 appcontainer purge "$DEVICE" --free -1
    complains 64 appcontainer purge "$DEVICE" --level high
    complains 64 appcontainer purge "$DEVICE" --older-than 3w
    complains 64 appcontainer purge "$DEVICE" --free 1 --level critical
    appcontainer unmount "$WORK/mail"
}

case_nothing_of_a_running_app_goes() {
    bounded 64M
    make_app com.example.Mail Mail
    appcontainer install "$DEVICE" "$WORK/Mail.app"
    mkdir "$WORK/mail"
    appcontainer mount "$DEVICE" com.example.Mail "$WORK/mail"
    cache "$CACHES/notes" 8
    cache "$MOUNT/tmp/notes" 8
    cache "$WORK/mail/Library/Caches/mail" 8
    released
    appcontainer launch "$DEVICE" "$APP" --no-exec
    local told
    told=$(purge --level critical --dry-run --json)
    same "$(paths purged <<<"$told")" Library/Caches/mail
    same "$(reasons skipped <<<"$told")" "Library/Caches/notes:appRunning tmp/notes:appRunning"
    # The app's own write has the other app's entries purged, though they were used later.
    head -c $((42 * MIB)) /dev/urandom >"$DOCUMENTS/document"
    absent "$WORK/mail/Library/Caches/mail"
    ls "$CACHES/notes/data" "$MOUNT/tmp/notes/data"
    contains "$(fails dd if=/dev/urandom of="$DOCUMENTS/more" bs=1M count=16 conv=fsync)" "No space left"
    ls "$CACHES/notes/data" "$MOUNT/tmp/notes/data"
    # As soon as it has ended, its own may go.
    appcontainer terminate "$DEVICE" "$APP"
    rm "$DOCUMENTS/more"
    head -c $((12 * MIB)) /dev/urandom >"$DOCUMENTS/more"
    absent "$CACHES/notes"
    appcontainer unmount "$WORK/mail"
    # So may those of an app whose command has ended.
    appcontainer run "$DEVICE" "$APP" -- sh -c 'echo x >"$TMPDIR/mine"; appcontainer purge '"$DEVICE"' --level critical' \
        >told
    contains "$(cat told)" "its app is running"
    purge --level critical
    same "$(ls -A "$MOUNT/tmp")" ""
    whole
}

case_writers_find_space_by_purging() {
    bounded 64M
    local number entry
    # Four times as much as there is room for, with never a word to the writer.
    for number in $(seq 10 41); do cache "$CACHES/$number" 8; done
    # The last ones are left, whole. Up to the high-water mark it goes on purging by itself.
    purge
    local left
    left=$(ls "$CACHES" | wc -l)
    [ "$left" -ge 2 ] || fail "only $left entries are left"
    same "$(ls "$CACHES")" "$(seq $((42 - left)) 41)"
    for entry in "$CACHES"/*; do same "$(wc -c <"$entry/data")" $((8 * MIB)); done
    head -c $((50 * MIB)) /dev/urandom >"$DOCUMENTS/document"
    same "$(wc -c <"$DOCUMENTS/document")" $((50 * MIB))
    # Nothing is left that may go: the writer hears of it, and loses nothing that was acknowledged.
    sha256sum "$DOCUMENTS/document" >sum
    contains "$(fails dd if=/dev/urandom of="$DOCUMENTS/more" bs=1M count=60 conv=fsync)" "No space left"
    sha256sum -c sum
    rm "$DOCUMENTS/more" "$DOCUMENTS/document"
    cache "$CACHES/again" 8
    whole
}

hostcase_a_purge_takes_no_more_than_it_needs_on_any_host() {
    local kind target told
    for kind in ext4 xfs btrfs tmpfs; do
        DEVICE=$HOSTS/$kind/${WORK##*/}-device
        start
        for name in a b c d; do
            cache "$CACHES/$name" 8
            released
        done
        sync -f "$HOSTS/$kind"
        target=$(($(figure available) + 12 * MIB))
        told=$(purge --free "$target" --json)
        same "$(paths purged <<<"$told")" "Library/Caches/a Library/Caches/b" "on $kind"
        [ "$(json available <<<"$told")" -ge "$target" ] || fail "not enough on $kind: $told"
        again
        same "$(purge --level critical --dry-run --json | paths purged)" "Library/Caches/c Library/Caches/d" "on $kind"
        whole
        stop
    done
}

case_space_is_told_as_ios_tells_it() {
    bounded 100M
    local important opportunistic
    attribute() { getfattr --only-values --absolute-names -n "user.appcontainer.capacity.$1" "$MOUNT"; }
    cache "$CACHES/a" 20
    head -c $((30 * MIB)) /dev/urandom >"$DOCUMENTS/document"
    same "$(figure capacity)" $((100 * MIB))
    local purgeable available
    purgeable=$(figure purgeable) available=$(figure available)
    [ "$purgeable" -ge $((20 * MIB)) ] && [ "$purgeable" -le $((21 * MIB)) ] || fail "purgeable $purgeable"
    [ "$(figure used)" -ge $((50 * MIB)) ] || fail "used $(figure used)"
    same "$(figure availableForImportantUsage)" $((available + purgeable))
    same "$(figure availableForOpportunisticUsage)" $((available - 10 * MIB))
    same "$(attribute important)" $((available + purgeable))
    same "$(attribute opportunistic)" $((available - 10 * MIB))
    # They are neither listed nor set, and of the home alone.
    same "$(getfattr -d -m - "$MOUNT")" ""
    refused setfattr -n user.appcontainer.capacity.important -v 1 "$MOUNT"
    refused setfattr -x user.appcontainer.capacity.important "$MOUNT"
    contains "$(fails getfattr -n user.appcontainer.capacity.important "$DOCUMENTS")" "No such attribute"
    # An entry that is held open may not go, and does not count.
    exec 7<"$CACHES/a/data"
    same "$(figure purgeable)" 0
    exec 7<&-
    contains "$(appcontainer status "$DEVICE")" " for important, "
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
    same "$(figure available)" null
}
