# Backing files that somebody touched: EIO or the right bytes, never wrong ones; and full disks.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# Shuts down with the backing directory in $data.
offline() {
    appcontainer unmount "$MOUNT"
    data=$(backing)
    appcontainer shutdown "$DEVICE"
}

online() { appcontainer mount "$DEVICE" "$APP" "$MOUNT"; }

case_any_flipped_byte_is_eio_or_harmless() {
    start
    head -c 30000 /dev/urandom >original
    for number in $(seq 100 339); do cp original "$DOCUMENTS/flip-$number"; done
    head -c 500 /dev/urandom >little
    for number in $(seq 100 179); do cp little "$DOCUMENTS/little-$number"; done
    offline
    tool flip "$data/Documents" flip- flips
    tool flip "$data/Documents" little- littles
    online
    tool flipped "$DOCUMENTS" flips original
    tool flipped "$DOCUMENTS" littles little
    # A file that was not touched is unchanged.
    echo fine >"$DOCUMENTS/new"
    same "$(cat "$DOCUMENTS/new")" fine "another file"
}

case_a_flipped_byte_is_logged_once_and_named_by_check() {
    start
    head -c 20000 /dev/urandom >"$DOCUMENTS/victim"
    echo fine >"$DOCUMENTS/other"
    offline
    size=$(stat -c %s "$data/Documents/victim")
    printf 'XYZ' | dd of="$data/Documents/victim" bs=1 seek=$((size - 5000)) conv=notrunc status=none
    status=0
    appcontainer check "$DEVICE" >report 2>&1 || status=$?
    same "$status" 22 "check's exit status"
    grep -q victim report || fail "check does not name the file: $(cat report)"
    ! grep -q other report || fail "check names a whole file: $(cat report)"
    # It reads, never writes: the same again, and with --repair.
    status=0
    appcontainer check "$DEVICE" --repair >again 2>&1 || status=$?
    same "$status" 22 "check --repair's exit status"
    online
    before=$(grep -c victim "$DEVICE/daemon.log" || true)
    contains "$(fails cat "$DOCUMENTS/victim")" "Input/output error"
    contains "$(fails cat "$DOCUMENTS/victim")" "Input/output error"
    same "$(grep -c victim "$DEVICE/daemon.log")" $((before + 1)) "lines in the log about it"
    # The blocks beside it are whole.
    head -c 4096 "$DOCUMENTS/victim" >/dev/null
    same "$(cat "$DOCUMENTS/other")" fine "another file"
    # Overwritten, it is well again.
    head -c 20000 /dev/urandom >whole
    cp whole "$DOCUMENTS/victim"
    again
    cmp whole "$DOCUMENTS/victim"
}

case_cut_emptied_and_lengthened_files() {
    start
    head -c 30000 /dev/urandom >original
    for number in $(seq 10 69); do cp original "$DOCUMENTS/cut-$number"; done
    cp original "$DOCUMENTS/empty"
    cp original "$DOCUMENTS/longer"
    cp original "$DOCUMENTS/block"
    offline
    cd "$data/Documents"
    size=$(stat -c %s cut-10)
    for number in $(seq 10 69); do
        truncate -s $((size - 1 - (number - 10) * size / 60)) "cut-$number"
    done
    truncate -s 0 empty
    truncate -s -4096 block
    head -c 4096 /dev/zero >>longer
    cd "$WORK"
    online
    for name in "$DOCUMENTS"/cut-* "$DOCUMENTS/empty" "$DOCUMENTS/block"; do
        contains "$(fails cat "$name")" "Input/output error"
        fails dd if="$name" of=/dev/null bs=1 count=1 status=none >/dev/null
    done
    # Zeros at the end may be told from content, or be nothing; they are never shown as content.
    cat "$DOCUMENTS/longer" >shown 2>/dev/null || true
    [ ! -s shown ] || cmp -n 30000 shown original
    [ "$(stat -c %s shown)" -le 30000 ] || fail "bytes beyond the end are shown"
    rm "$DOCUMENTS"/cut-* "$DOCUMENTS/empty" "$DOCUMENTS/block"
}

case_zeroed_swapped_and_moved_blocks() {
    start
    head -c 40960 /dev/urandom >original
    for name in zeroed swapped a b hole; do cp original "$DOCUMENTS/$name"; done
    truncate -s 10M "$DOCUMENTS/sparse"
    printf x | dd of="$DOCUMENTS/sparse" bs=1 seek=5000000 conv=notrunc status=none
    offline
    cd "$data/Documents"
    size=$(stat -c %s zeroed)
    last=$((size / 4096 - 1))
    dd if=/dev/zero of=zeroed bs=4096 seek=$((last - 2)) count=1 conv=notrunc status=none
    fallocate --punch-hole --offset $(((last - 2) * 4096)) --length 4096 hole
    dd if=swapped of="$WORK/one" bs=4096 skip=$((last - 3)) count=1 status=none
    dd if=swapped of="$WORK/two" bs=4096 skip=$((last - 1)) count=1 status=none
    dd if="$WORK/two" of=swapped bs=4096 seek=$((last - 3)) conv=notrunc status=none
    dd if="$WORK/one" of=swapped bs=4096 seek=$((last - 1)) conv=notrunc status=none
    dd if=a of="$WORK/one" bs=4096 skip=$((last - 1)) count=1 status=none
    dd if="$WORK/one" of=b bs=4096 seek=$((last - 1)) conv=notrunc status=none
    # Where data was, zeros: found from the host's own map of the file.
    /usr/bin/python3 -c '
import os, sys
file = os.open("sparse", os.O_RDWR)
data = os.lseek(file, 1 << 20, os.SEEK_DATA)
end = os.lseek(file, data, os.SEEK_HOLE)
os.pwrite(file, bytes(end - data), data)'
    cd "$WORK"
    online
    for name in zeroed hole swapped b sparse; do
        contains "$(fails cat "$DOCUMENTS/$name")" "Input/output error"
    done
    cmp original "$DOCUMENTS/a"
    fails appcontainer check "$DEVICE" >report
    for name in zeroed hole swapped sparse; do grep -q "$name" report || fail "check does not name $name"; done
}

case_whole_files_swapped_by_content_are_found_by_name_only() {
    # Two files whose names were exchanged are not detected, and ThreatModel says so: both are read, neither is mixed.
    start
    head -c 9000 /dev/urandom >one
    head -c 9000 /dev/urandom >two
    cp one two "$DOCUMENTS"
    offline
    mv "$data/Documents/one" "$data/Documents/x"
    mv "$data/Documents/two" "$data/Documents/one"
    mv "$data/Documents/x" "$data/Documents/two"
    online
    cmp one "$DOCUMENTS/two"
    cmp two "$DOCUMENTS/one"
}

case_no_plaintext_at_rest() {
    start --group group.com.example.shared
    words='Neque porro quisquam est qui dolorem ipsum quia dolor sit amet'
    for place in Documents Library/Caches tmp Library/Preferences Groups/group.com.example.shared; do
        for _ in $(seq 200); do echo "$words"; done >"$MOUNT/$place/file"
        echo "$words" >"$MOUNT/$place/small"
    done
    echo "$words" >letter
    appcontainer deliver "$DEVICE" "$APP" letter
    sync -f "$MOUNT"
    if grep -rlF "$words" "$DEVICE"; then fail "plaintext in the device while it is mounted"; fi
    stop
    if grep -rlF "$words" "$DEVICE"; then fail "plaintext in the device at rest"; fi
    if grep -rlF MCMMetadataIdentifier "$DEVICE"; then fail "the metadata is not encrypted"; fi
}

hostcase_a_full_backing_filesystem_is_enospc_and_loses_nothing() {
    device=$HOSTS/small/${WORK##*/}-device
    appcontainer create "$device"
    appcontainer install "$device" "$BASE/Notes.app"
    mkdir -p "$MOUNT"
    appcontainer mount "$device" "$APP" "$MOUNT"
    mkdir "$DOCUMENTS/files"
    tool fill "$DOCUMENTS/files" kept
    wc -l kept
    tool filled "$DOCUMENTS/files" kept
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$device"
    appcontainer mount "$device" "$APP" "$MOUNT"
    tool filled "$DOCUMENTS/files" kept
    # Deleting works on a full disk, and makes space.
    rm "$DOCUMENTS/files/file-0000"[0-4]
    head -c 500000 /dev/urandom >original
    cp original "$DOCUMENTS/after"
    sync "$DOCUMENTS/after"
    cmp original "$DOCUMENTS/after"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$device"
    same "$(appcontainer check "$device")" whole check
}
