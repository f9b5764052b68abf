# Records that the device did not write: forged, exchanged, or of the format before.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# Files to be cut, emptied and zeroed, and their backing directory in $data. The device is shut down.
make_victims() {
    start
    head -c 30000 /dev/urandom >original
    for name in cut emptied zeroed kept; do cp original "$DOCUMENTS/$name"; done
    data=$(backing)/Documents
    stop
    truncate -s -5000 "$data/cut"
    truncate -s 0 "$data/emptied"
    dd if=/dev/zero of="$data/zeroed" bs=4096 count=1 conv=notrunc status=none
}

victims_are_refused() {
    for name in cut emptied zeroed; do contains "$(fails cat "$DOCUMENTS/$name")" "Input/output error"; done
    cmp original "$DOCUMENTS/kept"
}

# say_that_power_was_lost with|without: changes Sessions.json so that sessions are said to have lost power, at
# any time. The code is left or taken away.
say_that_power_was_lost() {
    /usr/bin/python3 - "$DEVICE/Sessions.json" "$1" <<'END'
import json, sys
path, how = sys.argv[1:]
record = json.load(open(path))
record.update(ended=False, powerLost=[*range(1, 20), record["current"]], times=[])
if how == "without":
    del record["authentication"]
with open(path, "w") as file:
    json.dump(record, file, indent=2)
END
}

case_forged_sessions_explain_no_cut_file() {
    make_victims
    for how in with without; do
        say_that_power_was_lost "$how"
        appcontainer mount "$DEVICE" "$APP" "$MOUNT"
        victims_are_refused
        contains "$(appcontainer events "$DEVICE" --json)" '"path":"Sessions.json"'
        status=0
        appcontainer check "$DEVICE" >report 2>&1 || status=$?
        same "$status" 22 "check's exit status"
        for name in Sessions.json cut emptied zeroed; do contains "$(cat report)" "$name"; done
        ! grep -q kept report || fail "check names a whole file: $(cat report)"
        stop
    done
    # The device has a record of its own again.
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    victims_are_refused
    ! appcontainer check "$DEVICE" >report 2>&1
    ! grep -q Sessions.json report || fail "check names the record still: $(cat report)"
}

case_missing_exchanged_and_foreign_sessions_explain_nothing() {
    make_victims
    appcontainer create other
    appcontainer clone "$DEVICE" twin
    for attack in "rm Sessions.json" ": >Sessions.json" "cp Apps.json Sessions.json" "cp ../other/Sessions.json ." \
        "cp ../twin/Sessions.json ."; do
        (cd "$DEVICE" && eval "$attack")
        appcontainer mount "$DEVICE" "$APP" "$MOUNT"
        victims_are_refused
        echo fine >"$DOCUMENTS/new"
        stop
    done
}

case_forged_apps_and_settings_are_refused() {
    start
    stop
    appcontainer clone "$DEVICE" twin
    cp -a "$DEVICE" kept
    for attack in 'sed -i s/Notes/Nodes/ Apps.json' 'sed -i /authentication/d Apps.json' 'cp ../twin/Apps.json .' \
        'sed -i /authentication/d Device.json' 'cp Sessions.json Apps.json' \
        'sed -i "s/\"settings\" : {/&\"keyDerivationCost\" : 1/" Device.json'; do
        (cd "$DEVICE" && eval "$attack")
        for command in "status $DEVICE" "check $DEVICE" "mount $DEVICE $APP $MOUNT" "clone $DEVICE $WORK/copy"; do
            # shellcheck disable=SC2086  # the words of a command line
            complains 22 appcontainer $command
            contains "$(cat .err)" "is damaged"
        done
        absent copy
        cp kept/*.json "$DEVICE"
    done
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    whole
    stop
    appcontainer erase "$DEVICE"
    whole
}

case_a_device_of_the_format_before_is_opened_once() {
    start_protected
    head -c 30000 /dev/urandom >original
    cp original "$DOCUMENTS/file"
    stop
    /usr/bin/python3 "$HERE/old_format.py" "$DEVICE"
    ! grep -q authentication "$DEVICE"/*.json || fail "the device is not old"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
    cmp original "$DOCUMENTS/file"
    for record in Apps Device Sessions; do grep -q authentication "$DEVICE/$record.json"; done
    stop
    sed -i '/authentication/d' "$DEVICE/Apps.json"
    complains 22 appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}

# fill_host FREE: fills the small host until FREE KiB are left, and sets fillers to the files that do it.
fill_host() {
    local place=$HOSTS/small/${WORK##*/}
    fillers=("$place-filler" "$place-spare")
    head -c $(($1 * 1024)) /dev/zero >"$place-spare"
    sync "$place-spare"
    # The host frees its reserve for blocks without a place once they are on the disk.
    for _ in 1 2 3; do
        cat /dev/zero 2>/dev/null >>"$place-filler" || true
        sync "$place-filler"
    done
    while fallocate -l 1024 "$place-${#fillers[@]}" 2>/dev/null; do fillers+=("$place-${#fillers[@]}"); done
    rm "$place-spare"
    sync -f "$HOSTS/small"
}

# On a full host: a write fails after some of it was made. The session ends in order all the same, and lets no file that
# is cut later pass.
hostcase_after_a_write_without_space_a_cut_file_is_refused() {
    DEVICE=$HOSTS/small/${WORK##*/}-device
    start
    head -c 300000 /dev/urandom >original
    cp original "$DOCUMENTS/other"
    cp original "$DOCUMENTS/written"
    sync "$DOCUMENTS/other" "$DOCUMENTS/written"
    # Space for the map of a file with holes, and for the records of the device.
    fill_host 64
    for round in 1 2 3 4; do
        truncate -s 20M "$DOCUMENTS/written" || true
        dd if=/dev/urandom of="$DOCUMENTS/written" bs=100k seek=$((round * 30)) count=20 conv=notrunc,fsync \
            status=none 2>/dev/null && fail "there was space" || true
    done
    data=$(backing)/Documents
    appcontainer unmount "$MOUNT"
    rm -f "${fillers[@]}"
    appcontainer shutdown "$DEVICE"
    same "$(json ended <"$DEVICE/Sessions.json")" True "the session has ended"
    grep -q '"unfinished"' "$DEVICE/Sessions.json" || fail "no write failed halfway"
    same "$(json killed <"$DEVICE/Sessions.json")" '[]' "sessions that were killed"
    for name in other written; do truncate -s -4096 "$data/$name"; done
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    for name in other written; do contains "$(fails cat "$DOCUMENTS/$name")" "Input/output error"; done
    stop
    appcontainer delete "$DEVICE"
}

# The map of a file with holes finds no space: the file stays open on the disk, as after a kill, and keeps its content.
hostcase_a_file_whose_map_finds_no_space_keeps_its_content() {
    DEVICE=$HOSTS/small/${WORK##*/}-device
    start
    head -c 300000 /dev/urandom >original
    cp original "$DOCUMENTS/file"
    sync "$DOCUMENTS/file"
    fill_host 2
    truncate -s 20M "$DOCUMENTS/file" || true
    size=$(stat -c %s "$DOCUMENTS/file")
    appcontainer unmount "$MOUNT"
    rm -f "${fillers[@]}"
    appcontainer shutdown "$DEVICE"
    appcontainer check "$DEVICE"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(stat -c %s "$DOCUMENTS/file")" "$size" "the size"
    cp original expected
    truncate -s "$size" expected
    cmp expected "$DOCUMENTS/file"
    stop
    appcontainer delete "$DEVICE"
}
