# Trees as deep as an app likes, files with as many names as the host allows, and what else grows with its use.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

depth() { timeout 300 /usr/bin/python3 "$HERE/depth.py" "$@"; }

# The host's ext4 takes milliseconds to remove a directory, so the device is in memory.
in_memory() {
    DEVICE=$(mktemp -d /dev/shm/appcontainer-test.XXXXXX)/device
    trap 'finish_in_memory' EXIT
}
finish_in_memory() {
    local status=$?
    appcontainer shutdown "$DEVICE" >/dev/null 2>&1
    rm -rf "${DEVICE%/device}"
    (exit $status)
    finish
}

rootoncecase_directories_in_each_other_are_made_used_and_removed() {
    in_memory
    start
    daemon=$(daemon_pid)
    depth descend "$DOCUMENTS" "$(rounds directories_in_each_other)"
    whole
    depth remove "$DOCUMENTS"
    same "$(find "$DOCUMENTS" -name d)" "" "after the removal"
    same "$(daemon_pid)" "$daemon" "the daemon"
}

rootcase_directories_in_each_other_are_found_again() {
    in_memory
    start
    depth descend "$DOCUMENTS" "$(rounds directories_in_each_other)"
    again
    depth bottom "$DOCUMENTS" "$(rounds directories_in_each_other)"
}

rootcase_a_deep_tree_is_removed_by_rm() {
    in_memory
    start
    depth descend "$DOCUMENTS" 5000
    rm -r "$DOCUMENTS/d"
    whole
}

rootcase_a_purge_takes_directories_in_each_other() {
    in_memory
    start
    mkdir "$MOUNT/Library/Caches/entry"
    depth descend "$MOUNT/Library/Caches/entry" "$(rounds directories_in_each_other)"
    appcontainer purge "$DEVICE" --level critical
    absent "$MOUNT/Library/Caches/entry"
    whole
}

rootcase_a_deep_tree_is_backed_up_and_restored() {
    in_memory
    start
    depth descend "$DOCUMENTS" 500
    appcontainer backup "$DEVICE" "$WORK/deep.tar" --app "$APP"
    rm -r "$DOCUMENTS/d"
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$WORK/deep.tar"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    depth bottom "$DOCUMENTS" 500
    whole
}

rootcase_a_path_that_no_backup_holds_is_named_by_its_refusal() {
    in_memory
    start
    depth descend "$DOCUMENTS" 300 "$(printf 'n%.0s' $(seq 255))"
    contains "$(fails appcontainer backup "$DEVICE" "$WORK/deep.tar" --app "$APP")" "its path has more than"
    absent "$WORK/deep.tar"
}

rootoncecase_a_file_has_sixty_five_thousand_names() {
    start
    depth link "$DOCUMENTS" 65000
    whole
}

case_reads_beside_direct_writes_give_the_new_bytes() {
    start
    depth direct "$DOCUMENTS/file" 1500
    whole
}

rootcase_a_file_handle_leads_to_its_file_or_is_stale() {
    start
    for number in $(seq 20); do printf 'old %s' "$number" >"$DOCUMENTS/$number"; done
    handles=()
    for number in $(seq 20); do handles+=("$(depth handle "$DOCUMENTS/$number")"); done
    # shellcheck disable=SC2086
    same "$(depth by_handle "$MOUNT" ${handles[0]} 'old 1')" same "the handle of a file that is known"
    again
    # The first nodes of the new mount: other files, in another order.
    for number in $(seq 40 -1 1); do printf 'new %s' "$number" >"$DOCUMENTS/new-$number"; done
    ls -lR "$MOUNT" >/dev/null
    for number in $(seq 20); do
        # shellcheck disable=SC2086
        depth by_handle "$MOUNT" ${handles[number - 1]} "old $number"
    done
    # Nodes that the kernel has forgotten, and whose numbers other files get.
    handles=()
    for number in $(seq 20); do handles+=("$(depth handle "$DOCUMENTS/$number")"); done
    rm "$DOCUMENTS"/[0-9]*
    echo 2 >/proc/sys/vm/drop_caches
    for number in $(seq 20); do printf 'later %s' "$number" >"$DOCUMENTS/later-$number"; done
    for number in $(seq 20); do
        # shellcheck disable=SC2086
        same "$(depth by_handle "$MOUNT" ${handles[number - 1]} "old $number")" stale "handle $number"
    done
}

rootcase_the_memory_of_many_open_files_is_given_back() {
    start
    files=$(rounds files_open_at_once)
    depth burst "$DOCUMENTS/many" "$files"
    eventually gave_back 120000
    first=$resident
    for _ in $(seq "$(rounds bursts_of_open_files)"); do depth burst "$DOCUMENTS/many" "$files"; done
    # The kernel forgets the last files a moment after they were closed, and memory that is not given back never is.
    eventually gave_back $((first + 30000))
}
# gave_back MOST: whether the daemon has no more memory than so many kB.
gave_back() {
    resident=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$(daemon_pid)/status")
    [ "$resident" -le "$1" ]
}

rootcase_a_read_only_mount_leaves_times_of_access() {
    start
    echo text >"$DOCUMENTS/file"
    mkdir "$DOCUMENTS/directory"
    touch -a -d '2001-01-01' "$DOCUMENTS/file" "$DOCUMENTS/directory"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --read-only
    before=$(stat -c %x "$DOCUMENTS/file" "$DOCUMENTS/directory")
    cat "$DOCUMENTS/file"
    ls "$DOCUMENTS/directory"
    stop
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --read-only
    same "$(stat -c %x "$DOCUMENTS/file" "$DOCUMENTS/directory")" "$before" "times of access"
}

rootoncecase_the_end_of_a_locked_file_is_found_as_its_status_is() {
    start_protected
    classed complete "$DOCUMENTS/closed"
    echo text >"$DOCUMENTS/closed/file"
    exec 5<"$DOCUMENTS/closed/file"
    appcontainer lock "$DEVICE"
    eventually state_is locked
    depth seek 5
    exec 5<&-
}
state_is() { [ "$(state)" = "$1" ]; }
