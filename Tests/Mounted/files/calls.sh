# Files and directories at their limits, and the calls that tools rarely make.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_sizes_around_a_block() {
    start
    for size in 0 1 4095 4096 4097 8191 8192 8193 131071 1048577; do
        head -c "$size" /dev/urandom >"host-$size"
        cp "host-$size" "$DOCUMENTS/size-$size"
        dd if="host-$size" of="$DOCUMENTS/slow-$size" bs=511 status=none
        same "$(stat -c %s "$DOCUMENTS/size-$size")" "$size" "size"
    done
    again
    for size in 0 1 4095 4096 4097 8191 8192 8193 131071 1048577; do
        same "$(stat -c %s "$DOCUMENTS/size-$size")" "$size" "size after a remount, before opening"
        cmp "host-$size" "$DOCUMENTS/size-$size"
        cmp "host-$size" "$DOCUMENTS/slow-$size"
        # Longer, shorter, and back: what was cut off is zeros.
        truncate -s 3000 "$DOCUMENTS/size-$size"
        truncate -s 5000 "$DOCUMENTS/size-$size"
        cp "host-$size" expected
        truncate -s 3000 expected
        truncate -s 5000 expected
        cmp expected "$DOCUMENTS/size-$size"
    done
    again
    for size in 0 1 4095 4096 4097; do
        cp "host-$size" expected
        truncate -s 3000 expected
        truncate -s 5000 expected
        cmp expected "$DOCUMENTS/size-$size"
    done
    whole
}

case_five_gibibytes_sparse() {
    start
    tool big_sparse "$DOCUMENTS/big"
    same "$(stat -c %s "$DOCUMENTS/big")" 5368709120 size
    again
    tool big_sparse_check "$DOCUMENTS/big"
    cp --sparse=always "$DOCUMENTS/big" "$DOCUMENTS/copy"
    tool big_sparse_check "$DOCUMENTS/copy"
    whole
}

case_names_of_255_bytes_and_in_utf_8() {
    start
    long=$(printf 'n%.0s' $(seq 255))
    cd "$DOCUMENTS"
    for name in "$long" "Grüße aus Köln" "日本語のファイル名" "🗂️ notes" " leading and trailing " "-rf" "new
line" $'not utf-8 \xff\xfe' "back\\slash" "*?[a]" ".hidden" "...  "; do
        printf '%s' "$name" >"./$name"
        mkdir "./$name.d" 2>/dev/null || same "$name" "$long" "only the longest has no room for two more bytes"
    done
    fails touch "$long-" | grep -q 'File name too long'
    mkdir "${long%n}d"
    ls -A | sort >"$WORK/names"
    cd "$WORK"
    again
    cd "$DOCUMENTS"
    ls -A | sort | cmp - "$WORK/names"
    for name in ./*; do
        [ -d "$name" ] || same "$(cat "$name"; echo .)" "${name#./}." "content"
    done
    mv "$long" "${long%nn}mm"
    rm -r -- ./* ./.[!.]*
    cd "$WORK"
}

# To Swift each of these two characters and the slash beside it are one.
oncecase_names_that_join_with_a_slash_are_reached_by_every_command() {
    local mark=$'\xcc\x81' open=$'\xd8\x80' folder file command
    DEVICE="$WORK/${mark}device$open" MOUNT="$WORK/${mark}home$open" DOCUMENTS="$WORK/${mark}home$open/Documents"
    folder="$WORK/${mark}backups$open"
    start
    mkdir -p "$DOCUMENTS/${mark}a$open" "$folder/$mark" "$folder/${open}x"
    file="$DOCUMENTS/${mark}a$open/${mark}b"
    echo kept >"$file"
    for command in inspect "protect complete" "exclude" "include"; do
        # shellcheck disable=SC2086  # a command and its first argument
        appcontainer $command "$file" >/dev/null
    done
    same "$(appcontainer inspect --json "$file" | json 0 path)" "Documents/${mark}a$open/${mark}b"
    same "$(appcontainer path "$DEVICE" "$APP" | head -c 1)" /
    appcontainer backup "$DEVICE" "$folder/$mark/first.tar"
    appcontainer backup "$DEVICE" "$folder/${open}x/next.tar" --since "$folder/$mark/first.tar"
    rm "$file"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE/"
    appcontainer restore "$DEVICE" "$folder/${open}x/next.tar"
    appcontainer mount "$DEVICE/" "$APP" "$MOUNT/"
    same "$(cat "$file")" kept
    whole
    appcontainer unmount "$MOUNT/"
    appcontainer shutdown "$DEVICE"
}

# A tenth of the files goes while the directory is listed.
oncecase_many_files_in_one_directory() {
    local count
    count=$(rounds files_in_one_directory)
    start
    tool many "$DOCUMENTS/many" "$count"
    again
    same "$(find "$DOCUMENTS/many" -type f | wc -l)" $((count - count / 10)) "after a remount"
    rm -r "$DOCUMENTS/many"
    absent "$DOCUMENTS/many"
}

case_a_deep_path() {
    start
    cd "$DOCUMENTS"
    # 5 KB of path: longer than one system call takes.
    for level in $(seq 60); do
        mkdir "level-$level-some-eighty-bytes-of-name-that-make-the-path-longer-than-any-call-takes"
        cd level-*
    done
    echo deep >file
    cat file
    cd "$WORK"
    again
    same "$(find "$DOCUMENTS" -name file -execdir cat {} \;)" deep content
    rm -r "$DOCUMENTS"/level-1-*
}

case_a_shared_mapping_between_two_processes() { start; tool shared_mapping "$DOCUMENTS/f"; again; whole; }

case_a_private_mapping() { start; tool private_mapping "$DOCUMENTS/f"; }

case_punching_holes() {
    start
    tool punch_hole "$DOCUMENTS/f"
    sha256sum "$DOCUMENTS/f" >sum
    again
    sha256sum -c sum
    whole
}

case_preallocating() { start; tool preallocate "$DOCUMENTS/f"; again; whole; }

case_seek_data_on_a_dirty_file() { start; tool seek_dirty "$DOCUMENTS/f"; }

case_unlink_while_open() { start; tool unlink_open "$DOCUMENTS/f"; again; same "$(cat "$DOCUMENTS/f")" "another file" content; whole; }

case_rename_while_open() { start; tool rename_open "$DOCUMENTS/f"; again; whole; }

case_appending_processes() { start; tool appenders "$DOCUMENTS/f"; again; same "$(wc -l <"$DOCUMENTS/f")" 800 lines; }

case_locks_of_every_kind() { start; tool locks "$DOCUMENTS/f"; }

case_copy_file_range() { start; tool copy_range "$DOCUMENTS/f"; again; whole; }

usercase_descriptors_outlive_their_files_mode() { start; tool modes "$DOCUMENTS/f"; again; whole; }

usercase_descriptors_outlive_their_directorys_mode() { start; tool closed_directory "$DOCUMENTS/d"; again; whole; }

usercase_a_file_is_reached_by_the_name_that_can_be_reached() {
    start
    mkdir "$DOCUMENTS/d"
    echo content >"$DOCUMENTS/d/g"
    ln "$DOCUMENTS/d/g" "$DOCUMENTS/f"
    same "$(cat "$DOCUMENTS/d/g")" content "by its other name"
    chmod 600 "$DOCUMENTS/d"
    expect <<TABLE
EACCES open $DOCUMENTS/d/g r
ok     read $DOCUMENTS/f content
ok     write $DOCUMENTS/f CONTENT
ok     truncate $DOCUMENTS/f 4
ok     chmod 640 $DOCUMENTS/f
ok     setxattr $DOCUMENTS/f user.note x
ok     read $DOCUMENTS/f CONT
TABLE
    chmod 700 "$DOCUMENTS/d"
}

case_random_operations_against_a_model() {
    start
    for seed in 1 2 3; do tool torture "$DOCUMENTS/f$seed" "$(rounds seconds_of_random_calls)" "$seed"; done
    again
    for seed in 1 2 3; do cmp "$DOCUMENTS/f$seed" "$DOCUMENTS/f$seed.model"; done
    whole
}

case_random_calls_answered_as_the_host_answers_them() {
    start
    # A tree on the host is the model: each call gives the same errno and result in both.
    for seed in 1 2 3 4; do
        tool twins "$DOCUMENTS/twin-$seed" "$WORK/twin-$seed" "$(rounds seconds_of_random_calls)" "$seed"
        # rsync is to read what an ordinary user has closed to itself.
        chmod -R u+rwX "$DOCUMENTS/twin-$seed" "$WORK/twin-$seed"
        same_content "$WORK/twin-$seed" "$DOCUMENTS/twin-$seed"
    done
    again
    for seed in 1 2 3 4; do same_content "$WORK/twin-$seed" "$DOCUMENTS/twin-$seed"; done
    whole
}

case_exchange_and_noreplace() {
    start
    echo a >"$DOCUMENTS/a"
    echo b >"$DOCUMENTS/b"
    mkdir "$DOCUMENTS/d"
    echo in >"$DOCUMENTS/d/in"
    expect <<TABLE
ok     exchange $DOCUMENTS/a $DOCUMENTS/b
ok     read $DOCUMENTS/a b
ok     read $DOCUMENTS/b a
ok     exchange $DOCUMENTS/a $DOCUMENTS/d
ok     read $DOCUMENTS/a/in in
ok     read $DOCUMENTS/d b
EEXIST noreplace $DOCUMENTS/b $DOCUMENTS/d
ok     noreplace $DOCUMENTS/b $DOCUMENTS/c
ENOENT exchange $DOCUMENTS/c $DOCUMENTS/missing
ENOENT stat $DOCUMENTS/b
EINVAL rename $DOCUMENTS/a $DOCUMENTS/a/in2
TABLE
    again
    expect <<TABLE
ok     read $DOCUMENTS/a/in in
ok     read $DOCUMENTS/c a
TABLE
    whole
}

case_a_storm_of_names_leaves_every_file_under_the_names_that_it_has() {
    start
    name_storm() { timeout 300 /usr/bin/python3 "$HERE/name_storm.py" "$@"; }
    for seed in 1 2; do
        mkdir "$DOCUMENTS/storm-$seed"
        name_storm run "$DOCUMENTS/storm-$seed" "$(rounds seconds_of_a_storm_of_names)" "$seed"
    done
    again
    for seed in 1 2; do name_storm verify "$DOCUMENTS/storm-$seed"; done
    whole
}

case_links_fifos_sockets_and_times() {
    start
    echo text >"$DOCUMENTS/f"
    expect <<TABLE
ok     link $DOCUMENTS/f $DOCUMENTS/hard
ok     links $DOCUMENTS/f 2
ok     write $DOCUMENTS/hard TEXT
ok     read $DOCUMENTS/f TEXT
ok     symlink ../../outside/the/mount $DOCUMENTS/soft
ok     readlink $DOCUMENTS/soft ../../outside/the/mount
ENOENT read $DOCUMENTS/soft
ok     symlink /etc/hostname $DOCUMENTS/absolute
ok     readlink $DOCUMENTS/absolute /etc/hostname
ok     mkfifo $DOCUMENTS/fifo
ok     mksocket $DOCUMENTS/socket
EPERM  mkdevice $DOCUMENTS/device
ok     utimes $DOCUMENTS/f 987654321
ok     mtime $DOCUMENTS/f 987654321123456789
ok     utimes $DOCUMENTS/soft 987654321
ok     mtime $DOCUMENTS/soft 987654321123456789
ok     chmod 4711 $DOCUMENTS/f
ok     mode $DOCUMENTS/f 4711
EOPNOTSUPP open $DOCUMENTS tmpfile
ok     mkdir $DOCUMENTS/full
ok     open $DOCUMENTS/full/f excl
ENOTEMPTY rmdir $DOCUMENTS/full
ok     unlink $DOCUMENTS/full/f
ok     rmdir $DOCUMENTS/full
ENOTDIR open $DOCUMENTS/f/x
EISDIR open $DOCUMENTS w
ok     statfs $MOUNT
TABLE
    again
    expect <<TABLE
ok     read $DOCUMENTS/hard TEXT
ok     links $DOCUMENTS/f 2
ok     mtime $DOCUMENTS/f 987654321123456789
ok     mtime $DOCUMENTS/soft 987654321123456789
ok     mode $DOCUMENTS/f 4711
ok     list $DOCUMENTS f hard soft absolute fifo socket
TABLE
    # Somebody reads what somebody writes through the fifo, also with the daemon in between.
    (exec 9>&-; echo through >"$DOCUMENTS/fifo") &
    same "$(cat "$DOCUMENTS/fifo")" through "the fifo"
    wait
}

case_new_files_belong_to_the_caller() {
    start
    umask 027
    echo x >"$DOCUMENTS/f"
    mkdir "$DOCUMENTS/d"
    expect <<TABLE
ok mode $DOCUMENTS/f 640
ok mode $DOCUMENTS/d 750
ok owner $DOCUMENTS/f $(id -u)
ok group $DOCUMENTS/f $(id -g)
TABLE
}

rootcase_setgid_directories_and_other_callers() {
    start --owner "$TEST_USER"
    chmod 711 "$WORK"
    mkdir "$DOCUMENTS/shared"
    chown 0:4242 "$DOCUMENTS/shared"
    chmod 2777 "$DOCUMENTS/shared"
    runuser -u "$TEST_USER" -- sh -c "umask 022; echo x >'$DOCUMENTS/shared/f'; mkdir '$DOCUMENTS/shared/d'" \
        || { appcontainer unmount "$MOUNT"; appcontainer mount "$DEVICE" "$APP" "$MOUNT" --allow-other
             runuser -u "$TEST_USER" -- sh -c "umask 022; echo x >'$DOCUMENTS/shared/f'; mkdir '$DOCUMENTS/shared/d'"; }
    expect <<TABLE
ok owner $DOCUMENTS/shared/f $(id -u "$TEST_USER")
ok group $DOCUMENTS/shared/f 4242
ok group $DOCUMENTS/shared/d 4242
ok mode $DOCUMENTS/shared/d 2755
ok mode $DOCUMENTS/shared/f 644
TABLE
}

rootcase_writing_clears_setuid_for_an_ordinary_caller() {
    start --owner "$TEST_USER"
    chmod 711 "$WORK"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --allow-other
    runuser -u "$TEST_USER" -- sh -c "echo x >'$DOCUMENTS/f'; chmod 4755 '$DOCUMENTS/f'; echo y >>'$DOCUMENTS/f'"
    expect <<TABLE
ok mode $DOCUMENTS/f 755
TABLE
}

case_a_large_file_keeps_its_setuid_bits_when_it_is_closed() {
    start
    head -c 5000000 /dev/urandom >big
    chmod 6755 big
    cp -p big "$DOCUMENTS/copied"
    tar -cf - big | tar -xpf - -C "$DOCUMENTS"
    again
    expect <<TABLE
ok mode $DOCUMENTS/copied 6755
ok mode $DOCUMENTS/big 6755
TABLE
}

case_a_file_in_a_directory_that_nobody_may_list_can_be_synchronized() {
    start
    mkdir "$DOCUMENTS/closed"
    echo text >"$DOCUMENTS/closed/f"
    chmod 300 "$DOCUMENTS/closed"
    sync "$DOCUMENTS/closed/f"
    again
    echo more >>"$DOCUMENTS/closed/f"
    sync "$DOCUMENTS/closed/f"
    same "$(cat "$DOCUMENTS/closed/f")" $'text\nmore' content
    chmod 700 "$DOCUMENTS/closed"
    stop
}

case_files_can_be_opened_until_the_daemon_needs_its_last_descriptors() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer shutdown "$DEVICE"
    (ulimit -n 400; appcontainer mount "$DEVICE" "$APP" "$MOUNT")
    mkdir "$DOCUMENTS/many"
    socket=$(control_socket)
    opened=$(tool open_all "$DOCUMENTS/many" 390 "$socket")
    [ "$opened" -ge 200 ] || fail "only $opened files could be opened"
    appcontainer status "$DEVICE" >/dev/null
    again
    whole
}
