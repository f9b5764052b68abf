# Backing up and restoring: what goes in, what comes back, and what a backup that is not whole does.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

MARK=user.com.apple.metadata:com_apple_backup_excludeItem
BACKUP=$WORK/backup.tar
FINDER=$WORK/finder
OTHER=$WORK/other
GROUP=group.com.example.notes

# some_files COUNT: so many of the real files, in Documents/tree.
some_files() {
    mkdir "$DOCUMENTS/tree"
    (cd "$BASE/tree" && find . -type f | sort | sed -n "1,$1p" | tar -cf - -T -) | tar -C "$DOCUMENTS/tree" -xf -
}
# fill_home: something of every kind that a backup holds.
fill_home() {
    some_files 200
    mkdir -p "$MOUNT/Library/Application Support/db"
    sqlite3 "$MOUNT/Library/Application Support/db/notes.sqlite" "create table n(t); insert into n values('hello')"
    echo complete >"$DOCUMENTS/complete" && appcontainer protect complete "$DOCUMENTS/complete"
    echo none >"$DOCUMENTS/none" && appcontainer protect none "$DOCUMENTS/none"
    ln "$DOCUMENTS/none" "$DOCUMENTS/again"
    ln -s ../nowhere "$DOCUMENTS/link"
    truncate -s 5M "$DOCUMENTS/sparse" && printf end >>"$DOCUMENTS/sparse"
    setfattr -n user.color -v blue "$DOCUMENTS/none"
    echo out >"$DOCUMENTS/out" && setfattr -n "$MARK" -v x "$DOCUMENTS/out"
    echo cached >"$MOUNT/Library/Caches/cached"
    echo temporary >"$MOUNT/tmp/temporary"
    touch -d '2001-02-03 04:05:06.123456789Z' "$DOCUMENTS/complete"
    chmod 640 "$DOCUMENTS/complete"
}
# facts DIRECTORY: names, kinds, modes, times, links, sizes, attributes and content of all in a directory.
# The caches of a group are in no backup: a restore makes their directory anew.
facts() {
    (cd "$1" && find . -mindepth 1 ! -path './*/Library/Caches' -printf '%P %y %m %n %s %T+ %l\n' | sort \
        && find . -mindepth 1 -type f -print0 | sort -z | xargs -0 sha256sum \
        && { getfattr -R -h -d -m '^user\.' . | sort || true; })
}
# second_device [INSTALL-OPTION…]: another device with the app, mounted nowhere.
second_device() {
    appcontainer create "$OTHER"
    appcontainer install "$OTHER" "$BASE/Notes.app" "$@"
}
# mount_other: its home at $WORK/there.
mount_other() { mkdir -p "$WORK/there" && appcontainer mount "$OTHER" "$APP" "$WORK/there"; }

finish_other() { appcontainer shutdown "$OTHER"; }

# round_trip BACKUP [RESTORE-OPTION…]: everything but what is never backed up is the same on another device.
round_trip() {
    local backup=$1 place
    shift
    second_device --group "$GROUP"
    timeout 120 appcontainer restore "$OTHER" "$backup" "$@"
    mount_other
    rm "$DOCUMENTS/out"
    for place in Documents "Library/Application Support" Groups; do
        facts "$MOUNT/$place" >"$WORK/here.txt"
        facts "$WORK/there/$place" >"$WORK/there.txt"
        diff "$WORK/here.txt" "$WORK/there.txt"
    done
    absent "$WORK/there/Library/Caches/cached"
    absent "$WORK/there/tmp/temporary"
    same "$(sqlite3 "$WORK/there/Library/Application Support/db/notes.sqlite" 'select t from n')" hello
    same "$(getfattr --only-values -n user.appcontainer.protection "$WORK/there/Documents/complete")" \
        NSFileProtectionComplete
    same "$(appcontainer check "$OTHER")" whole
    finish_other
}

case_a_tar_brings_everything_back_onto_another_device() {
    start --group "$GROUP"
    fill_home
    echo shared >"$MOUNT/Groups/$GROUP/shared"
    timeout 120 appcontainer backup "$DEVICE" "$BACKUP"
    round_trip "$BACKUP"
}

case_a_finder_backup_brings_everything_back() {
    start --group "$GROUP"
    fill_home
    echo shared >"$MOUNT/Groups/$GROUP/shared"
    timeout 120 appcontainer backup "$DEVICE" "$FINDER" --format finder
    ls "$FINDER/Manifest.db" "$FINDER/Manifest.plist" "$FINDER/Info.plist" "$FINDER/Status.plist"
    round_trip "$FINDER"
}

oncecase_an_encrypted_finder_backup_needs_its_password() {
    start --group "$GROUP"
    fill_home
    echo shared >"$MOUNT/Groups/$GROUP/shared"
    echo 'correct horse' >"$WORK/password" && echo wrong >"$WORK/wrong"
    timeout 300 appcontainer backup "$DEVICE" "$FINDER" --format finder --password-file "$WORK/password"
    if grep -rq complete "$FINDER"/[0-9a-f][0-9a-f]; then fail "plaintext in the backup"; fi
    appcontainer create "$WORK/third"
    complains 49 timeout 120 appcontainer restore "$WORK/third" "$FINDER"
    complains 48 timeout 120 appcontainer restore "$WORK/third" "$FINDER" --password-file "$WORK/wrong"
    appcontainer shutdown "$WORK/third"
    round_trip "$FINDER" --password-file "$WORK/password"
}

# Those tools lie where an ordinary user may not look.
rootoncecase_tools_of_others_read_a_finder_backup() {
    start --group "$GROUP"
    fill_home
    echo 'correct horse' >"$WORK/password"
    local form tools
    for form in plain encrypted; do
        if [ $form = plain ]; then set --; else set -- --password-file "$WORK/password"; fi
        timeout 300 appcontainer backup "$DEVICE" "$WORK/$form" --format finder "$@"
        # Three tools read both forms, a fourth the encrypted one alone.
        tools=3
        set --
        [ $form = plain ] || { tools=4 && set -- 'correct horse'; }
        "$PYTHON_TOOLS/bin/python" "$HERE/read_with_public_tools.py" "$WORK/$form" "$@" >"$WORK/$form.txt"
        /usr/bin/python3 "$HERE/compare_tools.py" "$WORK/$form.txt" $tools "$MOUNT" "AppDomain-$APP" Documents/out
    done
    "$PYTHON_TOOLS/bin/python" "$HERE/check_with_mvt.py" "$WORK/plain" >"$WORK/log"
    contains "$(cat "$WORK/log")" "missing in Info.plist: []"
}

rootoncecase_what_mvt_has_decrypted_can_be_restored() {
    start --group "$GROUP"
    fill_home
    echo shared >"$MOUNT/Groups/$GROUP/shared"
    echo 'correct horse' >"$WORK/password"
    timeout 300 appcontainer backup "$DEVICE" "$FINDER" --format finder --password-file "$WORK/password"
    "$PYTHON_TOOLS/bin/python" "$HERE/check_with_mvt.py" "$FINDER" 'correct horse' "$WORK/copy" >"$WORK/log"
    contains "$(cat "$WORK/log")" "Documents/complete"
    round_trip "$WORK/copy"
    # Ciphertext in it is damage, and is told as such.
    cp -r "$FINDER"/[0-9a-f][0-9a-f] "$WORK/copy/"
    appcontainer create "$WORK/third"
    complains 46 appcontainer restore "$WORK/third" "$WORK/copy"
    appcontainer shutdown "$WORK/third"
    complains 27 appcontainer backup "$DEVICE" "$WORK/next" --format finder --since "$WORK/copy"
}

rootcase_a_backup_of_a_phone_is_accepted() {
    start_unmounted
    "$PYTHON_TOOLS/bin/python" "$HERE/make_phone_backup.py" "$WORK/phone" --password sesame
    echo sesame >"$WORK/password" && echo simsim >"$WORK/wrong"
    complains 48 appcontainer restore "$DEVICE" "$WORK/phone" --password-file "$WORK/wrong"
    contains "$(appcontainer restore "$DEVICE" "$WORK/phone" --password-file "$WORK/password" \
        --domain AppDomain-com.example.Phone)" "waits for its installation  com.example.Phone"
    make_app com.example.Phone Phone
    appcontainer install "$DEVICE" "$WORK/Phone.app"
    appcontainer mount "$DEVICE" com.example.Phone "$MOUNT"
    same "$(cat "$DOCUMENTS/a/c" "$DOCUMENTS/a.b")" "below abeside a"
    same "$(readlink "$DOCUMENTS/link")" /private/var/mobile
    same "$(stat -c %s "$DOCUMENTS/empty")" 0
    same "$(getfattr --only-values -n user.appcontainer.backup "$DOCUMENTS/tagged")" excluded
    same "$(getfattr --only-values -n user.appcontainer.protection "$DOCUMENTS/database")" NSFileProtectionComplete
    # A group of which the backup does not tell whose it is may be that of an app that the backup does not have.
    appcontainer unmount "$MOUNT"
    make_app com.example.Other Other
    appcontainer install "$DEVICE" "$WORK/Other.app" --group group.com.example.phone
    appcontainer mount "$DEVICE" com.example.Other "$MOUNT"
    complains 20 appcontainer restore "$DEVICE" "$WORK/phone" --password-file "$WORK/password"
    contains "$(cat "$WORK/.err")" "com.example.Other is mounted"
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$WORK/phone" --password-file "$WORK/password"
    appcontainer mount "$DEVICE" com.example.Other "$MOUNT"
    same "$(cat "$MOUNT/Groups/group.com.example.phone/shared")" group
    whole
}

case_the_same_content_gives_the_same_tar() {
    start
    fill_home
    timeout 120 appcontainer backup "$DEVICE" "$BACKUP"
    timeout 120 appcontainer backup "$DEVICE" "$WORK/second.tar"
    cmp "$BACKUP" "$WORK/second.tar"
    # On the device that it was restored onto, too.
    second_device
    appcontainer restore "$OTHER" "$BACKUP"
    appcontainer backup "$OTHER" "$WORK/third.tar"
    cmp "$BACKUP" "$WORK/third.tar"
    finish_other
}

case_ordinary_tar_reads_a_backup() {
    start
    fill_home
    timeout 120 appcontainer backup "$DEVICE" "$BACKUP"
    mkdir "$WORK/out" && tar -C "$WORK/out" --xattrs --xattrs-include='user.*' -xf "$BACKUP"
    diff -r --no-dereference "$DOCUMENTS/tree" "$WORK/out/AppDomain-$APP/Documents/tree"
    same "$(cat "$WORK/out/AppDomain-$APP/Documents/again")" none
    absent "$WORK/out/AppDomain-$APP/Documents/out"
    absent "$WORK/out/AppDomain-$APP/Library/Caches"
    /usr/bin/python3 -c 'import sys, tarfile; print(len(tarfile.open(sys.argv[1]).getmembers()))' "$BACKUP"
}

case_excluded_files_are_absent_unless_marks_are_ignored() {
    start
    fill_home
    timeout 60 appcontainer backup "$DEVICE" "$BACKUP"
    timeout 60 appcontainer backup "$DEVICE" "$WORK/all.tar" --ignore-exclusions
    tar -tf "$BACKUP" >"$WORK/names" && tar -tf "$WORK/all.tar" >"$WORK/all.names"
    if grep -q Documents/out "$WORK/names"; then fail "an excluded file is in the backup"; fi
    grep -q Documents/out "$WORK/all.names"
    second_device
    appcontainer restore "$OTHER" "$WORK/all.tar"
    mount_other
    same "$(cat "$WORK/there/Documents/out")" out
    contains "$(getfattr -d -m . "$WORK/there/Documents/out")" com_apple_backup_excludeItem
    finish_other
}

case_a_list_says_what_would_go_in_and_why_not() {
    start
    fill_home
    local list
    list=$(appcontainer backup "$DEVICE" --list)
    contains "$list" "AppDomain-$APP/Documents/tree"
    grep -q "Documents/out .*it is excluded" <<<"$list"
    grep -q "Library/Caches .*never backed up" <<<"$list"
    grep -q "^5.0 MiB .*Documents/sparse" <<<"$list"
    same "$(appcontainer backup "$DEVICE" --list --json | /usr/bin/python3 -c '
import json, sys
print(*sorted({item["leftOut"] for item in json.load(sys.stdin) if item["leftOut"]}))')" "excluded place"
}

case_an_incremental_tar_has_what_changed_and_needs_the_earlier_one() {
    start
    fill_home
    head -c 20M /dev/urandom >"$DOCUMENTS/large"
    timeout 60 appcontainer backup "$DEVICE" "$BACKUP"
    echo new >"$DOCUMENTS/new" && rm "$DOCUMENTS/again" && echo changed >"$DOCUMENTS/complete"
    timeout 60 appcontainer backup "$DEVICE" "$WORK/next.tar" --since "$BACKUP"
    [ "$(stat -c %s "$WORK/next.tar")" -lt 10000000 ] || fail "the unchanged large file is in it again"
    second_device
    appcontainer restore "$OTHER" "$WORK/next.tar"
    mount_other
    rm "$DOCUMENTS/out"
    diff <(facts "$DOCUMENTS") <(facts "$WORK/there/Documents")
    appcontainer unmount "$WORK/there"
    mv "$BACKUP" "$WORK/elsewhere.tar"
    complains "26|46" appcontainer restore "$OTHER" "$WORK/next.tar"
    finish_other
}

case_an_incremental_finder_backup_is_complete() {
    start
    fill_home
    timeout 60 appcontainer backup "$DEVICE" "$FINDER" --format finder
    echo new >"$DOCUMENTS/new"
    timeout 60 appcontainer backup "$DEVICE" "$WORK/next" --format finder --since "$FINDER"
    rm -rf "$FINDER"
    second_device
    appcontainer restore "$OTHER" "$WORK/next"
    mount_other
    rm "$DOCUMENTS/out"
    diff <(facts "$DOCUMENTS") <(facts "$WORK/there/Documents")
    finish_other
}

case_files_that_a_locked_device_closes_go_in_as_ciphertext() {
    start_protected
    echo plaintext >"$DOCUMENTS/secret" && appcontainer protect complete "$DOCUMENTS/secret"
    echo open >"$DOCUMENTS/open"
    appcontainer lock "$DEVICE" --now
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$BACKUP")" "1 as ciphertext"
    if grep -q plaintext "$BACKUP"; then fail "plaintext of a closed file"; fi
    second_device
    complains 50 appcontainer restore "$OTHER" "$BACKUP"
    same "$(appcontainer check "$OTHER")" whole
    finish_other
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$BACKUP"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    contains "$(fails cat "$DOCUMENTS/secret")" "Operation not permitted"
    unlock
    same "$(cat "$DOCUMENTS/secret" "$DOCUMENTS/open")" "$(printf 'plaintext\nopen')"
    whole
}

case_files_kept_open_on_a_locked_device_go_in_as_ciphertext() {
    start_protected
    echo plaintext >"$DOCUMENTS/secret" && appcontainer protect complete "$DOCUMENTS/secret"
    exec 7<>"$DOCUMENTS/secret"
    echo written >&7
    appcontainer lock "$DEVICE" --now
    contains "$(timeout 60 appcontainer backup "$DEVICE" "$BACKUP")" "1 as ciphertext"
    exec 7>&-
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$BACKUP"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file "$CODE"
    same "$(cat "$DOCUMENTS/secret")" "$(printf 'written\nt')"
    whole
}

oncecase_a_backup_of_a_container_that_is_reset_meanwhile_is_refused() {
    start
    some_files 2000
    # In the order of a backup: content that shows that it is at work, a hole that keeps it there, and the tree.
    head -c 100M /dev/urandom >"$DOCUMENTS/content"
    truncate -s 2G "$DOCUMENTS/hole"
    appcontainer unmount "$MOUNT"
    appcontainer backup "$DEVICE" "$WORK/meanwhile.tar" >"$WORK/told" 2>&1 &
    local command=$! status=0
    eventually half_written
    appcontainer reset "$DEVICE" "$APP"
    wait "$command" || status=$?
    same "$status" 20 "exit status ($(cat "$WORK/told"))"
    absent "$WORK/meanwhile.tar"
    contains "$(cat "$WORK/told")" "back up again"
    eventually no_leftover
}

case_a_backup_of_a_huge_hole_can_be_given_up() {
    start
    truncate -s 256G "$DOCUMENTS/hole"
    appcontainer backup "$DEVICE" "$BACKUP" &
    local command=$! daemon begun
    daemon=$(daemon_pid)
    begun=$(ticks "$daemon")
    # Nothing else keeps it busy for a second.
    eventually has_worked "$daemon" $((begun + $(getconf CLK_TCK)))
    kill -TERM "$command"
    wait "$command" || true
    absent "$BACKUP"
    eventually no_leftover
    timeout 20 appcontainer shutdown "$DEVICE"
}

case_data_waits_for_its_app() {
    start --group "$GROUP"
    echo hello >"$DOCUMENTS/note" && echo ours >"$MOUNT/Groups/$GROUP/shared"
    appcontainer backup "$DEVICE" "$BACKUP"
    appcontainer create "$OTHER"
    contains "$(appcontainer restore "$OTHER" "$BACKUP")" "waits for its installation"
    appcontainer shutdown "$OTHER"
    same "$(appcontainer check "$OTHER")" whole
    appcontainer install "$OTHER" "$BASE/Notes.app" --group "$GROUP"
    mount_other
    same "$(cat "$WORK/there/Documents/note" "$WORK/there/Groups/$GROUP/shared")" "$(printf 'hello\nours')"
    echo more >>"$WORK/there/Documents/note"
    finish_other
}

case_data_that_waits_is_backed_up_and_removed() {
    start --group "$GROUP"
    echo hello >"$DOCUMENTS/note" && echo ours >"$MOUNT/Groups/$GROUP/shared"
    appcontainer backup "$DEVICE" "$BACKUP"
    appcontainer create "$OTHER"
    appcontainer restore "$OTHER" "$BACKUP"
    same "$(appcontainer status "$OTHER" --json | json waiting)" "['$APP', '$GROUP']"
    contains "$(appcontainer status "$OTHER")" "data of $APP, which is not installed"
    # A backup has it, and brings it on.
    appcontainer backup "$OTHER" "$WORK/second.tar"
    contains "$(tar -tf "$WORK/second.tar")" "AppDomain-$APP/Documents/note"
    appcontainer uninstall "$OTHER" "$APP"
    same "$(appcontainer status "$OTHER" --json | json waiting)" "[]"
    complains 12 appcontainer uninstall "$OTHER" "$APP"
    appcontainer restore "$OTHER" "$WORK/second.tar"
    appcontainer install "$OTHER" "$BASE/Notes.app" --group "$GROUP"
    mount_other
    same "$(cat "$WORK/there/Documents/note" "$WORK/there/Groups/$GROUP/shared")" "$(printf 'hello\nours')"
    finish_other
}

case_one_domain_is_restored_alone() {
    start --group "$GROUP"
    echo hello >"$DOCUMENTS/note" && echo ours >"$MOUNT/Groups/$GROUP/shared"
    appcontainer backup "$DEVICE" "$FINDER" --format finder
    second_device --group "$GROUP"
    appcontainer restore "$OTHER" "$FINDER" --domain "AppDomain-$APP"
    mount_other
    same "$(cat "$WORK/there/Documents/note")" hello
    absent "$WORK/there/Groups/$GROUP/shared"
    complains 26 appcontainer restore "$OTHER" "$FINDER" --domain AppDomain-com.example.None
    complains 20 appcontainer restore "$OTHER" "$FINDER"
    finish_other
}

case_a_backup_has_all_that_was_written_before_it_began() {
    start
    # Unsynchronized, and still open.
    exec 7>"$DOCUMENTS/open"
    head -c 2M /dev/urandom | tee "$WORK/copy" >&7
    appcontainer backup "$DEVICE" "$BACKUP"
    exec 7>&-
    tar -xOf "$BACKUP" "AppDomain-$APP/Documents/open" | cmp - "$WORK/copy"
}

case_a_backup_that_is_interrupted_leaves_nothing_that_looks_whole() {
    start
    head -c 300M /dev/urandom >"$DOCUMENTS/content"
    # Comes after it, and takes longer than anybody waits.
    truncate -s 256G "$DOCUMENTS/hole"
    local form output status
    for form in tar finder; do
        output=$WORK/unfinished.$form
        appcontainer backup "$DEVICE" "$output" --format "$form" &
        local command=$!
        eventually half_written
        kill "$command"
        status=0
        wait "$command" || status=$?
        same "$status" 143 "exit status"
        eventually no_leftover
        absent "$output"
    done
    whole
}
# A MiB of a backup is there, by a name that is not its own.
half_written() {
    [ "$(du -s --block-size=1 "$WORK"/.appcontainer-* "$WORK"/.unfinished.finder.* 2>/dev/null \
        | awk '{ sum += $1 } END { print sum + 0 }')" -ge 1048576 ]
}
# ticks PROCESS: of the processor that it has had.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
has_worked() { [ "$(ticks "$1")" -ge "$2" ]; }
no_leftover() {
    [ -z "$(find "$WORK" -maxdepth 1 \( -name '.unfinished*' -o -name '.finder.*' -o -name '.appcontainer-*' \) -print -quit)" ]
}

rootcase_a_finder_backup_does_not_take_the_place_of_a_mount() {
    start
    local status=0 within=0
    mkdir "$WORK/disk" && mount -t tmpfs none "$WORK/disk"
    appcontainer backup "$DEVICE" "$WORK/disk" --format finder 2>"$WORK/said" || status=$?
    appcontainer backup "$DEVICE" "$WORK/disk/backup" --format finder || within=$?
    umount "$WORK/disk"
    same "$status $within" "27 0"
    contains "$(cat "$WORK/said")" "mount point"
    same "$(find "$WORK" -maxdepth 1 -name '.disk*')" "" "what is left"
}

# An app makes such a file by one call, and counting its zeros takes hours.
case_terabytes_of_nothing_hold_nobody_up() {
    start
    truncate -s 1T "$DOCUMENTS/hole"
    appcontainer backup "$DEVICE" "$FINDER" --format finder &
    local command=$!
    eventually unfinished_backup
    kill "$command"
    wait "$command" || true
    eventually no_leftover
    absent "$FINDER"
    # A shutdown does not wait for it either.
    appcontainer backup "$DEVICE" "$FINDER" --format finder 2>"$WORK/.err" &
    command=$!
    eventually unfinished_backup
    timeout 20 appcontainer shutdown "$DEVICE"
    wait "$command" || true
    no_leftover
    absent "$FINDER"
}
unfinished_backup() { [ -n "$(find "$WORK" -maxdepth 1 -name '.finder.*' -print -quit)" ]; }

case_bad_backups_are_refused_in_one_line_and_change_nothing() {
    start
    fill_home
    appcontainer backup "$DEVICE" "$BACKUP"
    second_device
    mount_other && echo mine >"$WORK/there/Documents/mine" && appcontainer unmount "$WORK/there"
    local size
    size=$(stat -c %s "$BACKUP")
    head -c $((size / 2)) "$BACKUP" >"$WORK/bad.tar"
    complains 46 appcontainer restore "$OTHER" "$WORK/bad.tar"
    head -c $((size - 2048)) "$BACKUP" >"$WORK/bad.tar"
    complains 46 appcontainer restore "$OTHER" "$WORK/bad.tar"
    cp "$BACKUP" "$WORK/bad.tar" && change_byte "$WORK/bad.tar" $((size / 3))
    complains 46 appcontainer restore "$OTHER" "$WORK/bad.tar"
    head -c 100K /dev/urandom >"$WORK/bad.tar"
    complains 46 appcontainer restore "$OTHER" "$WORK/bad.tar"
    tar -C "$BASE" -cf "$WORK/bad.tar" tree
    complains 46 appcontainer restore "$OTHER" "$WORK/bad.tar"
    complains 26 appcontainer restore "$OTHER" "$WORK/none.tar"
    mkdir "$WORK/empty"
    complains 46 appcontainer restore "$OTHER" "$WORK/empty"
    complains 40 appcontainer backup "$DEVICE" "$BACKUP"
    complains "1|10|26" appcontainer backup "$DEVICE" "$WORK/no/such/place.tar"
    complains 27 appcontainer backup "$DEVICE" "$DOCUMENTS/inside.tar"
    complains 27 appcontainer backup "$DEVICE" "$DEVICE/inside.tar"
    complains 27 appcontainer backup "$DEVICE" "$DOCUMENTS/inside/" --format finder
    mkdir "$DOCUMENTS/empty" && ln -s "$DOCUMENTS/empty" "$WORK/link"
    complains 27 appcontainer backup "$DEVICE" "$WORK/link" --format finder
    same "$(ls "$DOCUMENTS/empty")" "" "what is in the mount"
    complains 12 appcontainer backup "$DEVICE" "$WORK/x.tar" --app com.example.None
    complains 64 appcontainer backup "$DEVICE"
    mount_other
    same "$(cat "$WORK/there/Documents/mine")" mine
    same "$(appcontainer check "$OTHER")" whole
    finish_other
}

case_a_restore_without_enough_space_leaves_the_device_as_it_was() {
    start
    head -c 20M /dev/urandom >"$DOCUMENTS/large"
    appcontainer backup "$DEVICE" "$BACKUP"
    appcontainer create "$OTHER" --capacity 8M
    appcontainer install "$OTHER" "$BASE/Notes.app"
    mount_other && echo mine >"$WORK/there/Documents/mine" && appcontainer unmount "$WORK/there"
    complains 21 appcontainer restore "$OTHER" "$BACKUP"
    mount_other
    same "$(cat "$WORK/there/Documents/mine")" mine
    absent "$WORK/there/Documents/large"
    same "$(appcontainer check "$OTHER")" whole
    finish_other
}

hostcase_a_full_host_keeps_what_it_had() {
    local small=$HOSTS/small/${WORK##*/}
    start
    head -c 60M /dev/urandom >"$DOCUMENTS/large"
    mkdir "$small"
    local form
    for form in tar finder; do
        complains 21 timeout 60 appcontainer backup "$DEVICE" "$small/backup" --format "$form"
        same "$(ls -A "$small")" "" "remains of a backup without space"
    done
    appcontainer backup "$DEVICE" "$BACKUP"
    OTHER=$small/device
    second_device
    mount_other && echo mine >"$WORK/there/Documents/mine" && appcontainer unmount "$WORK/there"
    complains 21 timeout 60 appcontainer restore "$OTHER" "$BACKUP"
    mount_other
    same "$(ls "$WORK/there/Documents"; cat "$WORK/there/Documents/mine")" "$(printf 'mine\nmine')"
    same "$(appcontainer check "$OTHER")" whole
    appcontainer unmount "$WORK/there"
    finish_other
    rm -rf "$small"
}

oncecase_a_kill_in_the_middle_of_a_restore_leaves_one_state_or_the_other() {
    start
    some_files 2000
    appcontainer backup "$DEVICE" "$BACKUP"
    second_device
    mount_other && echo mine >"$WORK/there/Documents/mine" && appcontainer unmount "$WORK/there"
    local delay
    for delay in 0.02 0.1 0.3 0.6; do
        appcontainer restore "$OTHER" "$BACKUP" >/dev/null 2>&1 &
        local command=$!
        sleep "$delay"
        local pid
        pid=$(appcontainer status --json "$OTHER" | json daemon pid)
        [ "$pid" = None ] || kill -9 "$pid"
        wait "$command" || true
        mount_other
        if [ -e "$WORK/there/Documents/mine" ]; then
            absent "$WORK/there/Documents/tree"
        else
            diff -r --no-dereference "$DOCUMENTS/tree" "$WORK/there/Documents/tree"
        fi
        appcontainer unmount "$WORK/there"
        same "$(appcontainer check "$OTHER")" whole
    done
    finish_other
}
