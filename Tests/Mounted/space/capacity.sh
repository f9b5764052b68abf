# How much a device holds: told by statfs, counted by blocks of the host, and not gone beyond.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# start_bounded SIZE: a device of that capacity, with the sample app mounted.
start_bounded() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE" --capacity "$1"
    appcontainer install "$DEVICE" "$BASE/Notes.app" 2>/dev/null
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}
# figure KEY: of the device's space, in bytes.
figure() { appcontainer capacity "$DEVICE" --json | json "$1"; }
space() { within /usr/bin/python3 "$HERE/capacity.py" "$@"; }
# The containers' bytes on the host, as du counts them. It counts one block of each of the directories that hold them as
# the device does.
on_host() { du -s --block-size=1 "$DEVICE/Containers" | cut -f1; }
# counted [BYTES]: what the device says agrees with the host, but for directories that have grown, as soon as the files that
# were closed just now have been.
counted() { eventually agrees_with_the_host "${1:-65536}"; }
agrees_with_the_host() {
    local used host
    used=$(figure used) host=$(on_host)
    [ $((host - used)) -le "$1" ] && [ $((used - host)) -le 16384 ]
}

case_df_tells_the_capacity() {
    start_bounded 512M
    same "$(df -B1 --output=size "$MOUNT" | tail -1 | tr -d ' ')" $((512 << 20)) "size"
    same "$(df -B1 --output=avail "$MOUNT" | tail -1 | tr -d ' ')" $(($(figure available) / 4096 * 4096)) "available"
    head -c 30M /dev/urandom >"$DOCUMENTS/file"
    sync -f "$MOUNT"
    local used
    used=$(df -B1 --output=used "$MOUNT" | tail -1)
    [ "$used" -gt $((30 << 20)) ] && [ "$used" -lt $((32 << 20)) ] || fail "$used bytes used"
    counted
    # A hole takes nothing, and gives back what it had.
    truncate -s 2T "$DOCUMENTS/sparse"
    fallocate -p -o 0 -l 20M "$DOCUMENTS/file"
    sync -f "$MOUNT"
    counted
    [ "$(figure used)" -lt $((14 << 20)) ] || fail "a hole counts"
    appcontainer capacity "$DEVICE" 1G >said
    grep -q '1.0 GiB' said || fail "$(cat said)"
    same "$(df -B1 --output=size "$MOUNT" | tail -1 | tr -d ' ')" $((1 << 30)) "size"
    appcontainer capacity "$DEVICE" --host >said
    same "$(df -B1 --output=size "$MOUNT" | tail -1)" "$(df -B1 --output=size "$DEVICE" | tail -1)" "the host's size"
    complains 64 appcontainer capacity "$DEVICE" 5K
    complains 64 appcontainer capacity "$DEVICE" lots
    complains 27 appcontainer capacity "$DEVICE" --low-water 20 --high-water 10
}

oncecase_foundation_is_told_the_capacity() {
    start_bounded 512M
    cat >free.swift <<'SWIFT'
import Foundation
let figures = try FileManager.default.attributesOfFileSystem(forPath: CommandLine.arguments[1])
print((figures[.systemSize] as! NSNumber).int64Value, (figures[.systemFreeSize] as! NSNumber).int64Value)
SWIFT
    swiftc -o free free.swift
    same "$(./free "$DOCUMENTS")" "$((512 << 20)) $(($(figure available) / 4096 * 4096))" "FileManager"
}

case_a_full_device_under_eight_writers() {
    start_bounded 48M
    space fill "$DOCUMENTS"
    [ "$(on_host)" -le $(((48 << 20) + 65536)) ] || fail "$(on_host) bytes on the host"
    # Deleting works, and makes room.
    rm "$DOCUMENTS"/w*
    echo hello >"$DOCUMENTS/after"
    # It tells of what was refused before.
    sync -f "$MOUNT" || sync -f "$MOUNT"
    counted 200000
    again
    counted 200000
    whole
}

case_a_refused_range_is_never_zeros() {
    start_bounded 64M
    space refused "$DOCUMENTS/sparse"
    rm "$DOCUMENTS/sparse"
    space mapped "$DOCUMENTS/mapped"
    rm "$DOCUMENTS/mapped"
    whole
}

case_a_refused_range_is_no_damage_and_hides_none() {
    start_bounded 64M
    space left "$DOCUMENTS/left"
    whole
    again
    whole
    stop
    # The block behind it is looked at all the same.
    printf XYZ | dd of="$(backing)/Documents/left" bs=1 seek="$(($(stat -c %s "$(backing)/Documents/left") - 100))" \
        conv=notrunc status=none
    fails appcontainer check "$DEVICE" >report
    contains "$(cat report)" "Documents/left: block 65535 does not authenticate"
}

case_tools_on_a_full_device() {
    start_bounded 32M
    # Of what is written when the device fills up, the kernel may have any part refused: see docs/Limits.md.
    dd if=/dev/zero of="$DOCUMENTS/early" bs=64K count=16 conv=fsync status=none
    ! dd if=/dev/zero of="$DOCUMENTS/big" bs=64K status=none 2>said || fail "dd wrote without end"
    contains "$(cat said)" "No space left on device"
    contains "$(fails mkdir "$DOCUMENTS/directory")" "No space left on device"
    contains "$(fails ln -s target "$DOCUMENTS/link")" "No space left on device"
    contains "$(fails cp /etc/passwd "$DOCUMENTS/copy")" "No space left on device"
    # Files that are there can be read, moved, marked, shortened and removed.
    cmp -n 1048576 "$DOCUMENTS/early" /dev/zero
    mv "$DOCUMENTS/big" "$DOCUMENTS/moved"
    chmod 600 "$DOCUMENTS/moved"
    truncate -s 1M "$DOCUMENTS/moved"
    cp /etc/passwd "$DOCUMENTS/copy"
    cmp /etc/passwd "$DOCUMENTS/copy"
    # An app that does not fit is not installed, and what does not fit is not delivered.
    make_app com.example.Large Large
    head -c 40M /dev/urandom >"$WORK/Large.app/asset"
    complains 21 appcontainer install "$DEVICE" "$WORK/Large.app"
    complains 21 appcontainer deliver "$DEVICE" "$APP" "$WORK/Large.app/asset"
    same "$(apps "$DEVICE")" 1 "apps"
    ls -A "$DEVICE/Staging" >left
    [ ! -s left ] || fail "left in staging: $(cat left)"
    counted
}

oncecase_operations_on_containers_are_counted() {
    start_bounded 512M
    make_app com.example.Other Other
    head -c 5M /dev/urandom >"$WORK/Other.app/asset"
    appcontainer install "$DEVICE" "$WORK/Other.app" --group group.com.example.one 2>/dev/null
    counted
    mkdir directory
    head -c 3M /dev/urandom >directory/file
    appcontainer deliver "$DEVICE" com.example.Other directory /etc/passwd >/dev/null
    counted
    appcontainer reset "$DEVICE" com.example.Other
    counted
    appcontainer uninstall "$DEVICE" com.example.Other
    counted
    cp -R "$BASE/tree" "$DOCUMENTS/tree"
    sync -f "$MOUNT"
    counted 400000
    rm -r "$DOCUMENTS/tree"
    counted
}

case_files_that_an_update_drops_are_counted() {
    start_bounded 512M
    mkdir "$MOUNT/tmp/inner"
    head -c 5M /dev/urandom >"$MOUNT/tmp/one"
    ln "$MOUNT/tmp/one" "$MOUNT/tmp/inner/two"
    head -c 5M /dev/urandom >"$DOCUMENTS/kept"
    ln "$DOCUMENTS/kept" "$MOUNT/tmp/kept"
    head -c 3M /dev/urandom >"$MOUNT/tmp/open"
    ln "$MOUNT/tmp/open" "$MOUNT/tmp/inner/open"
    head -c 3M /dev/urandom >"$MOUNT/tmp/again"
    exec 5<>"$MOUNT/tmp/open"
    space again "$MOUNT/tmp/again" appcontainer install "$DEVICE" "$BASE/Notes.app"
    [ "$(figure used)" -gt $(($(on_host) + (3 << 20) - 65536)) ] || fail "what is open does not count"
    head -c 8M /dev/urandom >&5
    sync -f "$MOUNT"
    exec 5<&-
    counted
    space again "$DOCUMENTS/kept" rm "$DOCUMENTS/kept"
    counted
}

oncecase_a_killed_device_is_counted_anew() {
    start_bounded 512M
    local tree
    tree=$(some_tree)
    cp -R "$tree" "$DOCUMENTS/tree"
    head -c 20M /dev/urandom >"$DOCUMENTS/file"
    sync -f "$MOUNT"
    kill -9 "$(daemon_pid)"
    appcontainer unmount "$MOUNT" || true
    # Bytes written while it counts are counted once.
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    mv "$DOCUMENTS/tree" "$DOCUMENTS/Tree"
    cp -R "$tree" "$DOCUMENTS/Tree/inner"
    rm "$DOCUMENTS/file"
    sync -f "$MOUNT"
    counted 800000
    # After an orderly end nobody counts, and a clone and a copy agree with the original.
    stop
    cp -a "$DEVICE" "$WORK/copy"
    appcontainer clone "$DEVICE" "$WORK/clone"
    local name
    for name in copy clone; do
        DEVICE=$WORK/$name
        counted 800000
        same "$(figure capacity)" $((512 << 20)) "capacity of the $name"
        appcontainer shutdown "$DEVICE"
    done
    DEVICE=$WORK/device
    appcontainer erase "$DEVICE"
    same "$(figure capacity)" $((512 << 20)) "capacity after an erase"
}
