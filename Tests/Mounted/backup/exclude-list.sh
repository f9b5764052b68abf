# The exclude list: other tools that back a mount up with it leave out what a phone does, whatever the names are.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

GROUP=group.com.example.notes
TAKEN=$WORK/taken

excluded_paths() { appcontainer backup "$DEVICE" --list --excluded "$@"; }
list_tool() { /usr/bin/python3 "$HERE/exclude_list.py" "$@"; }

# took DIRECTORY: the home that a tool has taken there is what is in a backup of the device.
took() {
    [ -e "$WORK/phone.tar" ] || appcontainer backup "$DEVICE" "$WORK/phone.tar" --app "$APP" >"$WORK/log"
    list_tool same "$WORK/phone.tar" "$MOUNT" "$1"
    rm -rf "$TAKEN"
}

# drop KIND: names that a tool has no form for.
drop() {
    list_tool drop "$MOUNT" "$1"
    rm "$WORK/phone.tar"
}

with_restic() {
    export RESTIC_PASSWORD=restic RESTIC_CACHE_DIR=$WORK/restic.cache
    excluded_paths --for restic >list
    restic -q -r "$WORK/restic" init
    restic -q -r "$WORK/restic" backup --exclude-file list "$MOUNT"
    restic -q -r "$WORK/restic" restore latest --target "$TAKEN"
    took "$TAKEN$MOUNT"
}

with_rsync() {
    excluded_paths --for rsync >list
    rsync -aR --exclude-from list "$MOUNT" "$TAKEN/"
    took "$TAKEN$MOUNT"
    excluded_paths --for rsync --print0 --relative --app "$APP" >list
    rsync -a --from0 --exclude-from list "$MOUNT/" "$TAKEN/"
    took "$TAKEN"
}

# unpack TAR: where a tar of absolute paths was taken from.
unpack() { mkdir "$TAKEN" && tar -C "$TAKEN" -xf "$1"; }

with_tar_arguments() {
    complains 56 excluded_paths --for tar
    local -a list
    excluded_paths --for tar --print0 >list
    mapfile -d '' -t list <list
    tar "${list[@]/#/--exclude=}" -cf arguments.tar "$MOUNT" 2>"$WORK/log"
    unpack arguments.tar
    took "$TAKEN$MOUNT"
}

with_tar_list() {
    excluded_paths --for tar >list
    tar -cf list.tar --exclude-from list "$MOUNT" 2>"$WORK/log"
    unpack list.tar
    took "$TAKEN$MOUNT"
    excluded_paths --for tar --relative --app "$APP" >list
    tar -C "$MOUNT" -cf relative.tar --exclude-from list .
    unpack relative.tar
    took "$TAKEN"
}

with_duplicity() {
    complains 56 excluded_paths --for duplicity
    drop bytes
    local option options=("")
    # Each run of it takes seconds.
    [ "$FULL" = 0 ] || options+=(--null-separator)
    for option in "${options[@]}"; do
        excluded_paths --app "$APP" --for duplicity ${option:+--print0} >list
        HOME=$WORK PYTHONWARNINGS=ignore duplicity full --no-encryption --archive-dir "$WORK/archive$option" ${option:+$option} \
            --exclude-filelist list "$MOUNT" "file://$WORK/duplicity$option" >"$WORK/log"
        HOME=$WORK duplicity restore --no-encryption --archive-dir "$WORK/archive$option" \
            "file://$WORK/duplicity$option" "$TAKEN" >"$WORK/log"
        took "$TAKEN"
    done
}

oncecase_other_tools_leave_out_what_a_phone_leaves_out() {
    start --group "$GROUP" --icloud iCloud.com.example.Notes
    list_tool make "$MOUNT" "$GROUP"
    excluded_paths --print0 --relative --app "$APP" >list
    list_tool listed "$MOUNT" list
    # Absolute paths are those of the mount, and every one leads to something.
    excluded_paths --print0 | xargs -0 ls -d >"$WORK/log"
    contains "$(cat "$WORK/log")" "$MOUNT/Documents/files/plain"
    complains 56 excluded_paths
    with_restic
    with_rsync
    with_tar_arguments
    with_duplicity
    drop newline
    with_tar_list
    # Without --for, the lines are the paths.
    excluded_paths | contains_line "$MOUNT/Documents/trees/star*"
    appcontainer unmount "$MOUNT"
    complains 25 excluded_paths
    complains 25 excluded_paths --app "$APP"
    excluded_paths --relative --app "$APP" | contains_line "Documents/trees/star*"
    complains 12 excluded_paths --app com.example.Other
}

contains_line() { grep -qxF -e "$1" || fail "no line $1"; }
