# Limits: names of control characters, waiting clients, floods, many links, repetitions.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

limits() { within /usr/bin/python3 "$HERE/limits.py" "$@"; }

# printed COMMAND…: what a command prints, whatever its exit status, is kept to be looked at.
printed() {
    local status=0
    outputs=$((outputs + 1))
    appcontainer "$@" >"$WORK/output-$outputs" 2>&1 </dev/null || status=$?
    [ "$status" -le 127 ] || fail "exit status $status: $*"
    { echo "of: $1"; } >>"$WORK/output-$outputs"
    tried+=" $1 "
}
outputs=0 tried=' '

# Each of `bad` as an argument of each command.
name_to_each_command() {
    local name command
    for name in "${bad[@]}"; do
        printed inspect "$DOCUMENTS/$name" "$DOCUMENTS/$name/$name" "$DOCUMENTS/$name/missing$name"
        printed inspect --json "$DOCUMENTS/$name"
        printed protect --recursive complete "$DOCUMENTS/$name" "$DOCUMENTS/missing$name"
        printed protect "$name" "$DOCUMENTS/$name"
        printed exclude "$DOCUMENTS/$name" "$WORK/missing$name"
        printed include "$DOCUMENTS/$name" "$WORK/missing$name"
        printed deliver "$DEVICE" "$APP" "$WORK/Other.app/$name" "$WORK/missing$name"
        printed path "$DEVICE" "$APP" "$name"
        printed mount "$DEVICE" "$APP$name" "$WORK/missing$name"
        printed unmount "$WORK/missing$name"
        for command in apps boot capacity check clock clone conditions delete erase events explain export import lock passcode purge restart shutdown status top ui \
            unlock audit backup create entitle install launch report reset restore resume run schedule suspend terminate test \
            uninstall; do
            printed "$command" "$WORK/missing$name" "x$name" "y$name"
        done
        printed volumes serve --socket "$WORK/$name/x" --templates "$WORK/missing$name" --state "$WORK/x$name" --secrets "$name"
        for command in identity seal verify own; do printed "$command" "$WORK/missing$name/$name" --option"$name"; done
        printed own <<<"{\"device\": \"$name\"}"
    done
}

oncecase_names_of_control_characters_are_shown_escaped_by_every_command() {
    start --group group.com.example.shared
    local place name
    # The first forges a line, the second clears the terminal.
    local -a bad=($'new\nforged: line' $'clear\e[2J\e[31m')
    for place in Documents Library/Caches tmp Groups/group.com.example.shared; do limits names "$MOUNT/$place"; done
    # Refusals, with names that are there, and an app whose files have them.
    for name in "${bad[@]}"; do ! mkdir "$MOUNT/$name" && ! rm -r "${MOUNT:?}/$name" && ! touch "$MOUNT/Notes.app/$name"; done
    make_app com.example.Other Other
    for name in "${bad[@]}"; do echo x >"$WORK/Other.app/$name"; done
    cp -R "$WORK/Other.app" "$WORK/${bad[0]}.app"
    mkdir "$WORK/${bad[0]}"
    name_to_each_command
    printed verify "$WORK/Other.app"
    printed install "$DEVICE" "$WORK/${bad[0]}.app"
    echo changed >"$WORK/${bad[0]}.app/${bad[1]}"
    printed verify "$WORK/${bad[0]}.app"
    printed apps "$DEVICE"
    printed identity "$WORK/identity.pem"
    printed seal "$WORK/${bad[0]}.app" --identity "$WORK/identity.pem"
    printed verify "$WORK/${bad[0]}.app"
    printed run "$DEVICE" "$APP" -- "./${bad[0]}"
    printed events "$DEVICE"
    printed explain "$DEVICE"
    printed audit "$DEVICE" "$APP"
    printed audit "$DEVICE" "$APP" --json
    printed report "$DEVICE" "$APP" "$WORK/${bad[0]}/report.html"
    printed backup "$DEVICE" --list
    printed backup "$DEVICE" --list --ignore-exclusions --json
    printed backup "$DEVICE" "$WORK/${bad[0]}/backup.tar"
    printed restore "$DEVICE" "$WORK/${bad[0]}/backup.tar"
    printed purge "$DEVICE" --app "$APP" --dry-run
    appcontainer unmount "$MOUNT"
    printed purge "$DEVICE" --level critical --dry-run
    printed mount "$DEVICE" "$APP" "$WORK/${bad[0]}"
    printed status "$DEVICE"
    printed list
    printed list --json
    # A program takes the path as it is; JSON has it escaped.
    printed path "$DEVICE" "$APP" data --json
    printed unmount "$WORK/${bad[0]}"
    printed shutdown "$DEVICE"
    # Damage, which names its file.
    find "$(backing)/Documents" -type f -name 'new*' -exec sh -c 'printf XYZ | dd of="$1" bs=1 seek=4200 conv=notrunc' _ {} \; 2>/dev/null
    printed check "$DEVICE"
    printed check "$DEVICE" --json
    printed check "$DEVICE" --repair
    limits shown "$WORK"/output-* "$DEVICE/daemon.log"
    [ -s "$WORK/${bad[0]}/report.html" ] || fail "no report"
    limits shown "$WORK/${bad[0]}/report.html"
    for command in $(appcontainer --help | sed -n '/^DEVICE SUB/,$s/^  \([a-z]*\) .*/\1/p'); do
        contains "$tried" " $command "
    done
}

case_a_hundred_that_wait_keep_nobody_else_waiting() {
    start_protected --lock-grace 3600
    pid=$(daemon_pid)
    limits wait "$MOUNT" "$DEVICE" 100
    same "$(daemon_pid)" "$pid" "the device's process"
    rm "$DOCUMENTS/fifo" "$DOCUMENTS/locked"
    whole
}

oncecase_ten_thousand_refusals_leave_the_devices_process_as_small() {
    start
    pid=$(daemon_pid)
    limits refuse "$MOUNT" "$pid" "$(rounds refusals_of_a_process)"
    same "$(daemon_pid)" "$pid" "the device's process"
    [ "$(cat "$DEVICE"/Events*.jsonl | wc -c)" -le $((8 << 20)) ] || fail "the record has grown too much"
}

hostcase_a_file_has_as_many_names_as_the_host_has_room_for() {
    local count
    count=$(rounds hard_links_of_one_file)
    DEVICE=$HOSTS/tmpfs/${WORK##*/}-device
    start
    limits links "$DOCUMENTS/links" "$count"
    again
    whole
    limits unlinks "$DOCUMENTS/links" "$count"
    whole
}

oncecase_the_same_work_again_and_again_leaves_the_devices_process_as_small() {
    start_protected
    limits repeat "$MOUNT" "$DEVICE" "$(rounds turns_of_the_same_work)"
}
