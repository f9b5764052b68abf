# The daemon is killed, over and over, while it works.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_killed_again_and_again_no_block_is_torn_and_nothing_safe_is_lost() {
    start
    # Another seed at each run: a failure names its own.
    within /usr/bin/python3 "$HERE/kill.py" "$DEVICE" "$APP" "$MOUNT" "$(rounds kills)" "$RANDOM" 9>&-
    whole
    stop
    same "$(grep -c "$DEVICE" /proc/self/mountinfo)" 0 "mounts that stay"
    # At rest every file is whole too, and nothing of the kills is left to be cleared.
    same "$(appcontainer check "$DEVICE")" whole "check after the shutdown"
}

oncecase_killed_in_the_middle_of_work_nothing_acknowledged_is_lost() {
    start
    for round in $(seq "$(rounds kills_of_one_writer)"); do
        rm -f report
        /usr/bin/python3 "$KIT/tool.py" acknowledge "$DOCUMENTS/f$round" "$WORK/report" "$round" \
            2>/dev/null 9>&- &
        writer=$!
        until [ -e report ]; do sleep 0.01; done
        sleep "0.$((RANDOM % 20 + 10))"
        pid=$(daemon_pid)
        kill -9 "$pid"
        wait "$writer" 2>/dev/null || true
        gone "$pid"
        appcontainer mount "$DEVICE" "$APP" "$MOUNT"
        tool acknowledged "$DOCUMENTS/f$round" report || fail "round $round"
        # The file of the round before is there still.
        [ "$round" = 1 ] || cmp before "$DOCUMENTS/f$((round - 1))"
        cp "$DOCUMENTS/f$round" before
    done
    stop
    whole
}

oncecase_killed_in_the_middle_of_a_purge_again_and_again() {
    start
    mkdir "$WORK/template"
    for name in $(seq 40); do
        mkdir "$MOUNT/Library/Caches/$name"
        for file in 1 2 3; do echo x >"$MOUNT/Library/Caches/$name/$file"; done
        echo y >"$MOUNT/tmp/$name"
    done
    echo kept >"$DOCUMENTS/kept"
    stop
    local data
    data=$(backing)
    cp -a "$data/Library/Caches" "$data/tmp" "$WORK/template"
    within /usr/bin/python3 "$HERE/purges.py" "$DEVICE" "$data" "$WORK/template" "$(rounds kills_in_purges)" 9>&-
    whole
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(cat "$DOCUMENTS/kept")" kept
}
