# Installed again: what an update keeps and what it drops, while the app is mounted, while it is used, and when it is killed.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# later [NAME]: the sample app as a later version, $WORK/later/NAME.app
later() {
    local app=$WORK/later/${1:-Notes}.app
    mkdir -p "$WORK/later"
    cp -R "$BASE/Notes.app" "$app"
    chmod -R u+w "$app"
    rm -rf "$app/_CodeSignature"
    echo later >"$app/Samples/Later.txt"
    sed -i 's/>1\.2</>1.3</' "$app/Info.plist"
    echo "$app"
}
update() { timeout 60 /usr/bin/python3 "$HERE/update.py" "$@"; }
nothing_staged() { [ -z "$(ls "$DEVICE/Staging")" ]; }
works_in_its_home() { [ -n "$(find "$DEVICE/Containers" -name where)" ]; }
container() { appcontainer apps "$DEVICE" --json | json 0 container; }

fill_home() {
    mkdir -p "$DOCUMENTS/a/b" "$MOUNT/Library/Application Support" "$MOUNT/Library/Caches/c" "$MOUNT/tmp/t"
    echo text >"$DOCUMENTS/text"
    ln "$DOCUMENTS/text" "$MOUNT/Library/linked"
    ln -s ../nowhere "$DOCUMENTS/link"
    mkfifo "$DOCUMENTS/fifo"
    echo cached >"$MOUNT/Library/Caches/c/cached"
    head -c 300000 /dev/urandom >"$MOUNT/Library/Application Support/large"
    truncate -s 10M "$DOCUMENTS/sparse"
    setfattr -n user.color -v blue "$DOCUMENTS/text"
    setfattr -n com.apple.metadata -v something "$DOCUMENTS/a"
    chmod 0640 "$DOCUMENTS/text"
    chmod 0700 "$DOCUMENTS/a"
    touch -d '2001-02-03 04:05:06.789' "$DOCUMENTS/text" "$DOCUMENTS/a"
    echo passing >"$MOUNT/tmp/t/passing"
    appcontainer deliver "$DEVICE" "$APP" "$BASE/Notes.app/Samples/Welcome.txt" >/dev/null
}
# The part that has to stay, as the mount shows it.
kept_home() {
    (
        cd "$MOUNT"
        find Documents Library -printf '%P %y %i %n %m %U:%G %s %b %T@ %l\n' | LC_ALL=C sort
        getfattr -hR -d -m - Documents Library
        find Documents Library -type f -exec sha256sum {} + | LC_ALL=C sort
    )
}

case_an_update_keeps_documents_and_library_and_drops_tmp() {
    start --group group.com.example.shared
    fill_home
    kept_home >before
    local old path
    old=$(container)
    path=$(backing)
    appcontainer unmount "$MOUNT"
    same "$(appcontainer install "$DEVICE" "$(later)" --group group.com.example.more)" "$APP" "what install prints"
    [ "$(container)" != "$old" ] || fail "the container has its old path"
    absent "$path"
    same "$(backing)" "$DEVICE/Containers/Data/Application/$(container)" "path"
    same "$(appcontainer apps "$DEVICE" --json | json 0 version)" 1.3 version
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    kept_home >after
    cmp before after
    same "$(ls -A "$MOUNT/tmp")" "" "tmp"
    cmp "$WORK/later/Notes.app/Samples/Later.txt" "$MOUNT/Notes.app/Samples/Later.txt"
    contains "$(cat "$MOUNT/.com.apple.mobile_container_manager.metadata.plist")" "<string>$(container)</string>"
    same "$(ls "$MOUNT/Groups" | tr '\n' ' ')" "group.com.example.more group.com.example.shared " "groups"
    same "$(appcontainer inspect "$DOCUMENTS/text" --json | json 0 backing)" "$(backing)/Documents/text" "inspect"
    same "$(appcontainer events "$DEVICE" | grep -c '"event":"installed"')" 2 "events"
    same "$(find "$DEVICE/Staging" "$DEVICE"/Containers/*/Application -mindepth 1 -maxdepth 1 | wc -l)" 2 "the containers"
    whole
    again
    kept_home | cmp - after
}

case_a_mounted_app_is_updated_under_what_is_open() {
    start
    update live "$MOUNT" appcontainer install "$DEVICE" "$(later)"
    # And under another name of its bundle.
    mv "$(later Other)" "$WORK/Other.app"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    rm -rf "$DOCUMENTS"/kept "$DOCUMENTS"/mapped
    update live "$MOUNT" appcontainer install "$DEVICE" "$WORK/Other.app"
    same "$(ls "$MOUNT" | tr '\n' ' ')" "Documents Library Other.app tmp " "the home"
    # Files that nobody has open any more are gone, once the kernel has let go of them.
    eventually nothing_staged
    whole
    again
    same "$(cat "$DOCUMENTS/kept")" "Xefore after" "after a boot"
}
rootcase_a_mounted_app_of_a_user_is_updated_under_what_is_open() {
    as_container_user
    chmod 755 "$WORK"
    update live "$MOUNT" appcontainer install "$DEVICE" "$(later)"
    same "$(stat -c %U "$MOUNT/tmp" "$MOUNT/Notes.app" | tr '\n' ' ')" "$TEST_USER $TEST_USER " "owners"
    act touch "$MOUNT/tmp/x"
    whole
}

case_calls_by_path_find_tmp_before_or_after_the_update() {
    start
    update paths "$DEVICE" "$MOUNT" 30 "$BASE/Notes.app"
    whole
}

case_a_process_in_the_old_bundle_or_tmp_is_not_disturbed() {
    start
    mkfifo go1 go2
    mkdir "$MOUNT/tmp/inner"
    (cd "$MOUNT/Notes.app/Samples" && cat >/dev/null <"$WORK/go1" && cat Welcome.txt ../Samples/Welcome.txt && ls .. && cd / && ls) >said1 2>&1 &
    (cd "$MOUNT/tmp/inner" && cat >/dev/null <"$WORK/go2" && ls -A && ! touch x 2>/dev/null && ! mkdir y 2>/dev/null && cd ..; echo "$?" && cd / && echo out) >said2 2>&1 &
    exec 5>go1 6>go2
    appcontainer install "$DEVICE" "$(later)"
    exec 5>&- 6>&-
    wait
    contains "$(cat said1)" "$(cat "$BASE/Notes.app/Samples/Welcome.txt")"
    contains "$(cat said1)" Info.plist
    contains "$(cat said2)" out
    eventually nothing_staged
}

case_sqlite_and_git_go_on_through_updates() {
    start
    later >/dev/null
    /usr/bin/python3 "$HERE/update.py" rows "$DOCUMENTS/rows.db" "$WORK/stop" &
    local writer=$!
    (cd "$DOCUMENTS" && git init -q repository && cd repository && git config user.email a@b && git config user.name A
        for number in $(seq 12); do echo "$number" >file && git add file && git commit -qm "$number" || exit 1; done) &
    local committer=$!
    for app in "$WORK/later/Notes.app" "$BASE/Notes.app" "$WORK/later/Notes.app" "$BASE/Notes.app"; do
        appcontainer install "$DEVICE" "$app"
        /usr/bin/python3 -c 'import sqlite3, sys; assert sqlite3.connect(sys.argv[1], timeout=60).execute("pragma integrity_check").fetchall() == [("ok",)]' "$DOCUMENTS/rows.db" || fail "integrity"
    done
    wait "$committer" || fail "git"
    touch stop
    wait "$writer" || fail "sqlite"
    again
    same "$(/usr/bin/python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute("select count(*) from rows").fetchone())' "$DOCUMENTS/rows.db")" "$(cat stop.count)" "rows"
    same "$(git -C "$DOCUMENTS/repository" log --oneline | wc -l)" 12 "commits"
    git -C "$DOCUMENTS/repository" fsck --strict
    whole
}

case_an_update_that_is_refused_changes_nothing() {
    start
    fill_home
    kept_home >before
    local app
    app=$(later)
    appcontainer identity Developer
    appcontainer seal "$app" --identity Developer
    echo more >>"$app/Samples/Later.txt"
    complains 37 appcontainer install "$DEVICE" "$app"
    rm -rf "$app/_CodeSignature"
    complains 38 appcontainer install "$DEVICE" "$app" --require-signed
    if [ "$(id -u)" = 0 ]; then complains 23 appcontainer install "$DEVICE" "$app" --owner "$TEST_USER"; fi
    kept_home | cmp - before
    same "$(cat "$MOUNT/tmp/t/passing")" passing "tmp"
    same "$(appcontainer apps "$DEVICE" --json | json 0 version)" 1.2 version
    same "$(ls "$DEVICE/Staging")" "" "what is left over"
    appcontainer install "$DEVICE" "$app" --owner "$(id -un)"
    whole
}

case_an_app_that_runs_is_updated_only_when_it_is_ended() {
    start
    appcontainer launch "$DEVICE" "$APP" --no-exec
    complains 41 appcontainer install "$DEVICE" "$(later)"
    contains "$(cat "$WORK/.err")" "appcontainer terminate $DEVICE $APP"
    same "$(appcontainer apps "$DEVICE" --json | json 0 version)" 1.2 version
    same "$(ls "$DEVICE/Staging")" "" "what is left over"
    appcontainer install "$DEVICE" "$WORK/later/Notes.app" --terminate
    same "$(appcontainer apps "$DEVICE" --json | json 0 version)" 1.3 version
    # One that works in its home, which was mounted for that.
    appcontainer unmount "$MOUNT"
    appcontainer run "$DEVICE" "$APP" -- sh -c 'pwd >Documents/where; echo >tmp/x; exec sleep 60' &
    local runner=$! status=0
    eventually works_in_its_home
    complains 41 appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer install "$DEVICE" "$BASE/Notes.app" --terminate
    wait "$runner" || status=$?
    same "$status" 143 "its end"
    local where
    where=$(appcontainer run "$DEVICE" "$APP" -- sh -c 'pwd; cat Documents/where; ls -A tmp')
    same "${where%%$'\n'*}" "$(dirname "${where##*$'\n'}")/$(container)" "where it runs now"
    [ "${where%%$'\n'*}" != "${where##*$'\n'}" ] || fail "it runs where it ran"
    whole
}

case_a_locked_device_takes_an_update() {
    start_protected
    classed complete "$DOCUMENTS/secret"
    echo mine >"$DOCUMENTS/secret/diary"
    exec 5<"$DOCUMENTS/secret/diary"
    appcontainer lock "$DEVICE" --now
    appcontainer install "$DEVICE" "$(later)"
    contains "$(fails cat "$DOCUMENTS/secret/diary")" "not permitted"
    same "$(cat "$MOUNT/Notes.app/Samples/Later.txt")" later "the new bundle"
    unlock
    same "$(cat <&5)" mine "a descriptor of before"
    exec 5<&-
    same "$(appcontainer inspect "$DOCUMENTS/secret/diary" --json | json 0 protection)" NSFileProtectionComplete class
    # Before the first unlock too.
    stop
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
    same "$(cat "$DOCUMENTS/secret/diary")" mine "after that"
    whole
}

case_open_files_of_an_unmounted_app_survive_an_update() {
    start
    echo one >"$DOCUMENTS/file"
    echo t >"$MOUNT/tmp/t"
    exec 5<>"$DOCUMENTS/file" 6<>"$MOUNT/tmp/t" 7<"$MOUNT/Notes.app/Samples/Welcome.txt"
    appcontainer unmount --lazy "$MOUNT"
    appcontainer install "$DEVICE" "$(later)"
    same "$(cat <&7)" "$(cat "$BASE/Notes.app/Samples/Welcome.txt")" "the old bundle"
    same "$(cat <&6)" t "the old tmp"
    cat <&5 >/dev/null
    echo two >&5
    exec 5<&- 6<&- 7<&-
    # An ordinary user's mount ends with the last of them.
    eventually appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(tr '\n' ' ' <"$DOCUMENTS/file")" "one two " "Documents"
    same "$(ls -A "$MOUNT/tmp")" "" "tmp"
    same "$(cat "$MOUNT/Notes.app/Samples/Later.txt")" later "the bundle"
    whole
}
