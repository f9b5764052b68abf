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

rootcase_a_hundred_thousand_directories_in_each_other() {
    local count=100000
    in_memory
    start
    daemon=$(daemon_pid)
    depth descend "$DOCUMENTS" "$count"
    whole
    # No backup holds so long a path, and says so.
    contains "$(fails appcontainer backup "$DEVICE" "$WORK/deep.tar" --app "$APP")" "its path has more than"
    depth remove "$DOCUMENTS"
    same "$(ls -A "$DOCUMENTS")" "Inbox" "after the removal"
    same "$(daemon_pid)" "$daemon" "the daemon"
    depth descend "$DOCUMENTS" "$count"
    again
    depth bottom "$DOCUMENTS" "$count"
    whole
    rm -r "$DOCUMENTS/d"
    # As one entry of the caches, which a purge takes.
    mkdir "$MOUNT/Library/Caches/entry"
    depth descend "$MOUNT/Library/Caches/entry" "$count"
    appcontainer purge "$DEVICE" --level critical
    absent "$MOUNT/Library/Caches/entry"
    whole
}

rootcase_a_deep_tree_is_backed_up_and_restored() {
    in_memory
    start
    depth descend "$DOCUMENTS" 3000
    appcontainer backup "$DEVICE" "$WORK/deep.tar" --app "$APP"
    rm -r "$DOCUMENTS/d"
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$WORK/deep.tar"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    depth bottom "$DOCUMENTS" 3000
    whole
}

rootcase_a_file_has_sixty_five_thousand_names() {
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
