# A host that fills up, or has not a byte left: what goes on, and what makes room.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

CACHES=$MOUNT/Library/Caches
MIB=1048576

# cache PATH MEBIBYTES: an entry with one file in a directory.
cache() { mkdir "$1" && head -c "$(($2 * MIB))" /dev/urandom >"$1/data"; }

hostcase_a_host_that_fills_up_is_noticed() {
    local device=$HOSTS/small/${WORK##*/}-device
    mkdir -p "$MOUNT"
    appcontainer create "$device"
    appcontainer install "$device" "$BASE/Notes.app"
    appcontainer mount "$device" "$APP" "$MOUNT"
    cache "$CACHES/old" 8
    cache "$CACHES/new" 2
    local free
    free=$(df --output=avail -B1 "$HOSTS/small" | tail -1)
    # Somebody else fills the disk up to a little under the low-water mark.
    head -c $((free - MIB)) /dev/zero >"$HOSTS/small/${WORK##*/}-filler"
    eventually test ! -e "$CACHES/old"
    ls "$CACHES/new/data"
    rm "$HOSTS/small/${WORK##*/}-filler"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$device"
}

# without_space NAME…: fills the host, so that there is no space for a block, nor for a name in the device's trash. The
# space is taken by files NAME.
without_space() {
    dd if=/dev/zero of="$1" bs=1M 2>/dev/null || true
    dd if=/dev/zero of="$1" bs=1K oflag=append conv=notrunc 2>/dev/null || true
    /usr/bin/python3 "$HERE/full_host.py" fill_names "$DEVICE/Trash"
}
# purge_watched DIRECTORY: purges all, and tells how many of its entries were seen in the directory meanwhile.
purge_watched() {
    /usr/bin/python3 "$HERE/full_host.py" watch "$1" appcontainer purge "$DEVICE" --level critical
}

hostcase_entries_go_whole_where_the_trash_has_no_space_for_a_name() {
    DEVICE=$HOSTS/small/${WORK##*/}-device
    local filler=$HOSTS/small/${WORK##*/}-filler backing
    start
    mkdir "$CACHES/unit"
    for number in $(seq 800); do echo x >"$CACHES/unit/$number"; done
    backing=$(appcontainer path "$DEVICE" "$APP" data --backing)/Library/Caches/unit
    # Held until there is no room: it would be purged before.
    exec 7<"$CACHES/unit/1"
    without_space "$filler"
    exec 7<&-
    same "$(purge_watched "$backing")" 800 "files that were seen in the entry"
    [ ! -e "$CACHES/unit" ]
    rm "$filler"
    find "$DEVICE/Trash" -mindepth 1 -name '*-xxx*' -delete
    whole
    stop
}

hostcase_without_a_reserve_entries_are_removed_where_they_are() {
    DEVICE=$HOSTS/small/${WORK##*/}-device
    local filler=$HOSTS/small/${WORK##*/}-filler
    start
    rm "$DEVICE/Reserve"
    cache "$CACHES/unit" 1
    mkdir -p "$CACHES/unit/a/b/c" && echo x >"$CACHES/unit/a/b/c/file"
    exec 7<"$CACHES/unit/data"
    without_space "$filler"
    exec 7<&-
    appcontainer purge "$DEVICE" --level critical >/dev/null
    [ ! -e "$CACHES/unit" ]
    rm "$filler"
    same "$(find "$DEVICE/Trash" -mindepth 1 ! -name '*-xxx*' | wc -l)" 0 "entries that came to the trash"
    find "$DEVICE/Trash" -mindepth 1 -delete
    whole
    stop
}

hostcase_a_device_is_started_and_unlocked_on_a_host_without_a_byte() {
    DEVICE=$HOSTS/small/${WORK##*/}-device
    filler=$HOSTS/small/${WORK##*/}-filler
    start_protected
    head -c 300000 /dev/urandom >kept
    cp kept "$DOCUMENTS/kept"
    sync "$DOCUMENTS/kept"
    echo 314159 >wrong
    chmod 600 wrong
    for round in 1 2 3; do
        kill -9 "$(daemon_pid)"
        dd if=/dev/zero of="$filler-$round" bs=64k status=none 2>/dev/null || true
        cat /dev/zero 2>/dev/null >>"$filler-$round" || true
        appcontainer mount "$DEVICE" "$APP" "$MOUNT"
        # Each attempt is counted before it is made.
        complains 17 appcontainer unlock "$DEVICE" --passcode-file wrong
        unlock
        cmp kept "$DOCUMENTS/kept"
        appcontainer lock "$DEVICE" --now
        unlock
    done
    appcontainer capacity "$DEVICE" 40M >/dev/null
    appcontainer unmount "$MOUNT"
    appcontainer uninstall "$DEVICE" "$APP"
    appcontainer shutdown "$DEVICE"
    rm "$filler"-[123]
    whole
    appcontainer delete "$DEVICE"
}
