# Two apps in one group at once: each sees what the other does, and stays where it is.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

shared() { within /usr/bin/python3 "$HERE/groups.py" "$@"; }

TASKS=com.example.Tasks
GROUP=group.com.example.shared
FIRST=$MOUNT/Groups/$GROUP
SECOND=$WORK/tasks/Groups/$GROUP

MOUNT_OPTIONS=()
# start_both [CREATE-OPTION…]: two apps of one group; only the first is mounted.
start_both() {
    make_app "$TASKS" Tasks
    mkdir -p "$MOUNT" "$WORK/tasks"
    appcontainer create "$DEVICE" "$@"
    appcontainer install "$DEVICE" "$BASE/Notes.app" --group "$GROUP"
    appcontainer install "$DEVICE" "$WORK/Tasks.app" --group "$GROUP"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" "${MOUNT_OPTIONS[@]}"
}
mount_second() { appcontainer mount "$DEVICE" "$TASKS" "$WORK/tasks"; }

rootcase_a_directory_of_a_group_is_in_both_homes() {
    start_both
    mount_second
    mkdir -p "$FIRST/repo/inner"
    cd "$FIRST/repo/inner"
    ls "$SECOND/repo/inner"
    same "$(/bin/pwd)" "$FIRST/repo/inner" "where the first app is after the second one looked"
    cd "$SECOND/repo/inner"
    ls "$FIRST/repo/inner"
    same "$(/bin/pwd)" "$SECOND/repo/inner" "where the second app is"
    same "$(stat -c %i . .. "$FIRST/repo/inner" "$FIRST/repo" | tr '\n' ' ')" \
        "$(stat -c %i "$FIRST/repo/inner" "$FIRST/repo" . .. | tr '\n' ' ')" "inode numbers"
    shared places "$FIRST" "$SECOND"
    shared places "$SECOND" "$FIRST"
}

rootcase_a_change_in_a_group_shows_in_the_other_app_at_once() {
    start_both
    mount_second
    shared changes "$FIRST" "$SECOND"
    shared changes "$SECOND" "$FIRST"
}

rootcase_content_and_locks_of_a_group_are_one_in_both_homes() {
    # With a capacity of its own: other programs use the host's space meanwhile.
    start_both --capacity 1G
    mount_second
    shared content "$FIRST" "$SECOND"
    shared content "$SECOND" "$FIRST"
}

rootcase_a_group_that_a_second_app_comes_to_show_is_not_cached_for_the_first() {
    start_both
    mkdir "$FIRST/d" "$FIRST/in"
    echo old >"$FIRST/d/f"
    shared learn "$FIRST" &
    local learner=$!
    eventually test -e "$FIRST/in/learned"
    mount_second
    shared change "$SECOND"
    wait "$learner"
    # Once more with an app that is entitled while both are mounted.
    make_app com.example.Third Third
    mkdir "$WORK/third"
    appcontainer install "$DEVICE" "$WORK/Third.app"
    appcontainer mount "$DEVICE" com.example.Third "$WORK/third"
    appcontainer unmount "$WORK/tasks"
    rm -rf "$FIRST/d" "$FIRST/in" "$FIRST/absent"
    mkdir "$FIRST/d" "$FIRST/in"
    echo old >"$FIRST/d/f"
    # The second app's cache has gone with its mount, and the first one is alone again.
    shared learn "$FIRST" &
    learner=$!
    eventually test -e "$FIRST/in/learned"
    appcontainer entitle "$DEVICE" com.example.Third --group "$GROUP"
    shared change "$WORK/third/Groups/$GROUP"
    wait "$learner"
}

# Whichever app a change by path names: two volumes would write to one file.
case_a_file_of_a_group_is_protected_through_the_mount_that_has_it() {
    start_both
    shared protected "$(control_socket)" "$TASKS" "Groups/$GROUP/log" "$FIRST/log"
    appcontainer unmount "$MOUNT"
    mount_second
    same "$(getfattr --absolute-names --only-values -n user.appcontainer.protection "$SECOND/log")" \
        NSFileProtectionComplete "the class"
    same "$(tr -d w <"$SECOND/log" | wc -c) $(wc -c <"$SECOND/log")" "0 200000" "what was written before and after"
    appcontainer check "$DEVICE"
}

rootoncecase_git_in_both_homes_at_once() {
    start_both
    mount_second
    export GIT_CONFIG_GLOBAL=$WORK/gitconfig
    git config --global user.email tester@example.com
    git config --global user.name Tester
    git config --global safe.directory '*'
    git init -q -b main "$FIRST/repo"
    cd "$FIRST/repo"
    mkdir -p a/b/c d
    for name in a/1 a/b/2 a/b/c/3 d/4; do echo "$name" >"$name"; done
    git add .
    git commit -qm first
    git checkout -qb moved
    git mv a/b d/b
    git commit -qam moved
    (
        cd "$SECOND/repo"
        # A reader is not to keep the index from the one that changes it.
        export GIT_OPTIONAL_LOCKS=0
        for _ in $(seq 40); do
            same "$(/bin/pwd)" "$SECOND/repo" "where the second app is"
            git log --oneline >"$WORK/log"
            ls -R . >"$WORK/listed" || true
            git status --short >"$WORK/status"
        done
    ) &
    local second=$!
    for round in $(seq 10); do
        git checkout -q main
        git checkout -q moved
        same "$(/bin/pwd)" "$FIRST/repo" "where the first app is"
        git status --short >"$WORK/status.first"
    done
    wait "$second"
    same "$(git status --short)" "" "what the first app changed"
    cd "$SECOND/repo"
    same "$(git status --short)" "" "what the second app changed"
    echo 5 >d/b/5
    git add .
    git commit -qm second
    git checkout -q main
    cd "$FIRST/repo"
    same "$(git status --short --branch)" "## main" "what the first app sees of it"
    same "$(git log --oneline moved | wc -l)" 3 "commits"
    git fsck --strict --no-progress
    cd "$WORK"
    whole
}

rootoncecase_a_lock_and_a_restart_reach_both_homes() {
    echo 271828 >"$CODE"
    chmod 600 "$CODE"
    MOUNT_OPTIONS=(--passcode-file "$CODE")
    start_both --passcode-file "$CODE" --kdf-cost 1
    mount_second
    classed complete "$FIRST/A"
    echo secret >"$FIRST/A/f"
    shared holding "$FIRST/A/f" "$SECOND/A/f" locked &
    local holder=$!
    eventually test -e "$WORK/locked.ready"
    appcontainer lock "$DEVICE"
    touch "$WORK/locked.done"
    wait "$holder"
    same "$(stat -c %s "$FIRST/A/f" "$SECOND/A/f" | tr '\n' ' ')" "7 7 " "lengths while locked"
    unlock
    same "$(cat "$FIRST/A/f" "$SECOND/A/f" | tr '\n' ' ')" "secret secret " "content after it"
    shared holding "$FIRST/A/f" "$SECOND/A/f" restarted &
    holder=$!
    eventually test -e "$WORK/restarted.ready"
    appcontainer restart "$DEVICE"
    unlock
    touch "$WORK/restarted.done"
    wait "$holder"
    same "$(cat "$FIRST/A/f" "$SECOND/A/f" | tr '\n' ' ')" "secret secret " "content after a restart"
    cd "$SECOND/A"
    same "$(/bin/pwd)" "$SECOND/A" "where the second app is after a restart"
    cd "$WORK"
}

rootcase_two_apps_at_work_in_one_group_at_random() {
    start_both
    mount_second
    shared random "$FIRST" "$SECOND" "$(rounds seconds_in_one_group)"
    shared compare "$FIRST" "$SECOND" >"$WORK/tree"
    test -s "$WORK/tree"
    appcontainer unmount "$WORK/tasks"
    again
    shared listing "$FIRST" >"$WORK/tree.again"
    diff "$WORK/tree" "$WORK/tree.again"
    whole
}
