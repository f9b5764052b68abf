# The filesystems that can hold a device.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

on_host() {
    DEVICE=$HOSTS/$1/${WORK##*/}-device
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@example.com
    export GIT_COMMITTER_NAME=T GIT_COMMITTER_EMAIL=t@example.com
    start
    same "$(stat -f -c %T "$DEVICE")" "$2" "the host's type"
    cp -a "$BASE/tree/usr/include/linux" "$DOCUMENTS/headers"
    same_tree "$BASE/tree/usr/include/linux" "$DOCUMENTS/headers"
    git -C "$DOCUMENTS/headers" init -q
    git -C "$DOCUMENTS/headers" add .
    git -C "$DOCUMENTS/headers" commit -qm first
    git -C "$DOCUMENTS/headers" fsck --no-progress
    sqlite3 "$MOUNT/Library/notes.db" \
        'pragma journal_mode=wal; create table t(x); insert into t select value from generate_series(1, 1000)'
    tool shared_mapping "$DOCUMENTS/shared"
    tool punch_hole "$DOCUMENTS/punched"
    tool preallocate "$DOCUMENTS/allocated"
    tool seek_dirty "$DOCUMENTS/sought"
    tool unlink_open "$DOCUMENTS/unlinked"
    tool copy_range "$DOCUMENTS/copied"
    tool locks "$DOCUMENTS/locked"
    tool big_sparse "$DOCUMENTS/big"
    tool torture "$DOCUMENTS/random" "$(rounds seconds_of_random_calls)" 7
    long=$(printf 'ü%.0s' $(seq 127))
    echo long >"$DOCUMENTS/$long"
    for size in 0 1 4095 4096 4097; do head -c "$size" /dev/urandom >"$DOCUMENTS/size-$size"; done
    seq 2000 | split -l 1 -a 4 -d - "$DOCUMENTS/headers/file-"
    setfattr -n com.apple.note -v text "$DOCUMENTS/copied"
    expect <<TABLE
ok    exchange $DOCUMENTS/size-1 $DOCUMENTS/size-4095
ok    size $DOCUMENTS/size-1 4095
EEXIST noreplace $DOCUMENTS/size-1 $DOCUMENTS/size-0
ok    getxattr $DOCUMENTS/copied user.com.apple.note text
EPERM open $MOUNT/Notes.app/Info.plist w
TABLE
    (cd "$DOCUMENTS" && find . -type f ! -name big -exec sha256sum {} +) >sums
    again
    (cd "$DOCUMENTS" && sha256sum --quiet -c "$WORK/sums")
    tool big_sparse_check "$DOCUMENTS/big"
    same "$(cat "$DOCUMENTS/$long")" long "a name of 254 bytes"
    same "$(sqlite3 "$MOUNT/Library/notes.db" 'select count(*) from t; pragma integrity_check')" $'1000\nok' sqlite
    rm -r "$DOCUMENTS/headers"
    stop
    whole
}

hostcase_on_ext4() { on_host ext4 ext2/ext3; }
hostcase_on_xfs() { on_host xfs xfs; }
hostcase_on_btrfs() { on_host btrfs btrfs; }
hostcase_on_tmpfs() { on_host tmpfs tmpfs; }

rootcase_a_mount_reads_ahead_as_far_as_its_host() {
    # Of filesystems that are made for these tests nobody else's reading is touched.
    control() { echo "/sys/class/bdi/$(mountpoint -d "$1")/read_ahead_kb"; }
    host=$(control "$HOSTS/ext4")
    before=$(cat "$host")
    DEVICE=$HOSTS/ext4/${WORK##*/}-device
    for figures in "256 256" "8192 512" "64 128"; do
        read -r theirs ours <<<"$figures"
        echo "$theirs" >"$host"
        start
        figure=$(cat "$(control "$MOUNT")")
        stop
        rm -r "$DEVICE"
        echo "$before" >"$host"
        same "$figure" "$ours" "KiB read ahead over a host that reads $theirs"
    done
}

hostcase_a_host_filesystem_without_attributes_is_refused() {
    complains 6 appcontainer create "$HOSTS/ramfs/${WORK##*/}-device"
    grep -q ramfs .err || fail "the filesystem is not named: $(cat .err)"
    absent "$HOSTS/ramfs/${WORK##*/}-device"
    same "$(ls -A "$HOSTS/ramfs")" "" "left behind"
}
