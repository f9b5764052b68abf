# Looking at an app's containers: audits and reports.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

MARK=user.com.apple.metadata:com_apple_backup_excludeItem

# some_files COUNT: so many of the real files, in Documents/tree.
some_files() {
    mkdir "$DOCUMENTS/tree"
    (cd "$BASE/tree" && find . -type f | sort | sed -n "1,$1p" | tar -cf - -T -) | tar -C "$DOCUMENTS/tree" -xf -
}

# A path that is no file takes the page, and stays what it is: the terminal of the user is one.
case_a_report_replaces_files_and_nothing_else() {
    start
    mkfifo "$WORK/pipe" && cat "$WORK/pipe" >"$WORK/piped" &
    eventually test -p "$WORK/pipe"
    appcontainer report "$DEVICE" "$APP" "$WORK/pipe"
    wait $!
    [ -p "$WORK/pipe" ] || fail "the pipe is none any more"
    grep -q '</html>' "$WORK/piped"
    # In the place of the system's own.
    cp -a /dev/null "$WORK/null" 2>"$WORK/.err" || ln -s /dev/null "$WORK/null"
    appcontainer report "$DEVICE" "$APP" "$WORK/null"
    [ -c "$WORK/null" ] || fail "the device is none any more"
    echo precious >"$WORK/precious" && ln -s precious "$WORK/link.html"
    appcontainer report "$DEVICE" "$APP" "$WORK/link.html"
    same "$(cat "$WORK/precious")" precious
    echo earlier >"$WORK/earlier.html" && chmod 600 "$WORK/earlier.html"
    appcontainer report "$DEVICE" "$APP" "$WORK/earlier.html"
    same "$(stat -c %a "$WORK/earlier.html")" 600
    grep -q '</html>' "$WORK/earlier.html"
    mkdir "$WORK/directory"
    complains 1 appcontainer report "$DEVICE" "$APP" "$WORK/directory"
    same "$(ls -A "$WORK/directory")" ""
    complains "1|26" appcontainer report "$DEVICE" "$APP" "$WORK/none/report.html"
    same "$(find "$WORK" -maxdepth 1 -name '*.unfinished')" ""
}

# A link to a stream, however it leads there, stays. Only links of the test's own are tried: root would replace the system's.
case_an_output_path_that_leads_to_a_stream_is_written_to() {
    start
    ln -s /dev/null "$WORK/nothing" && ln -s nothing "$WORK/chain"
    ln -s /proc/self/fd/7 "$WORK/seventh"
    appcontainer report "$DEVICE" "$APP" "$WORK/chain"
    echo first >"$WORK/page"
    appcontainer report "$DEVICE" "$APP" "$WORK/seventh" 7>>"$WORK/page"
    same "$(head -n 1 "$WORK/page")" first "what was there"
    grep -q '</html>' "$WORK/page"
    appcontainer report "$DEVICE" "$APP" "$WORK/seventh" 7>&1 | grep -q '</html>'
    local link
    for link in nothing chain seventh; do [ -L "$WORK/$link" ] || fail "$link is no link any more"; done
}

# Another user may write where root makes something, and has planted links there.
rootcase_root_follows_no_link_that_another_user_planted() {
    start
    local place=$WORK/shared target=$WORK/target
    chmod 711 "$WORK"
    mkdir "$place" "$target"
    chown "$TEST_USER" "$place"
    echo precious >"$target/file"
    chmod 644 "$target/file"
    runuser -u "$TEST_USER" -- sh -c "
        cd $place && ln -s $target directory && ln -s $target/file file && ln -s /dev/null null && mkfifo pipe"
    # A directory of the path: refused.
    local output words
    for output in "report $DEVICE $APP $place/directory/out" "backup $DEVICE $place/directory/out" \
        "backup $DEVICE $place/directory/out --format finder" "backup $DEVICE $place/directory --format finder" \
        "identity $place/directory/out" "test $WORK/none --junit $place/directory/out -- true"; do
        read -ra words <<<"$output"
        if timeout 60 appcontainer "${words[@]}" >.out 2>.err; then fail "it was written: $output"; fi
        same "$(wc -l <.err)" 1 "lines for $output"
    done
    same "$(ls -A "$target")" file "what is where the link leads"
    # The last name: the link is replaced, or keeps the command from writing.
    appcontainer report "$DEVICE" "$APP" "$place/file"
    appcontainer report "$DEVICE" "$APP" "$place/null"
    [ ! -L "$place/file" ] && [ ! -L "$place/null" ] || fail "a link is there still"
    same "$(cat "$target/file")" precious
    complains "1|23" timeout 60 appcontainer report "$DEVICE" "$APP" "$place/pipe"
    # Root's own links lead where they lead.
    ln -s "$target" "$WORK/own"
    appcontainer report "$DEVICE" "$APP" "$WORK/own/page"
    appcontainer backup "$DEVICE" "$WORK/own/tar"
    grep -q '</html>' "$target/page"
    [ -s "$target/tar" ] || fail "there is no backup"
}

case_an_audit_tells_what_breaks_the_guidelines() {
    start
    mkdir "$DOCUMENTS/Downloads" && head -c 1M /dev/urandom >"$DOCUMENTS/Downloads/film.bin"
    echo letter >"$DOCUMENTS/letter.txt" && appcontainer protect complete "$DOCUMENTS/letter.txt"
    local status=0 told
    told=$(appcontainer audit "$DEVICE" "$APP" 2>/dev/null) || status=$?
    same "$status" 51
    grep -q "breach *1.0 MiB *AppDomain-$APP/Documents/Downloads" <<<"$told"
    setfattr -n "$MARK" -v x "$DOCUMENTS/Downloads"
    told=$(appcontainer audit "$DEVICE" "$APP")
    contains "$told" "nothing to say against it"
    sqlite3 "$MOUNT/Library/Caches/app.sqlite" 'create table t(a)'
    status=0
    appcontainer audit "$DEVICE" "$APP" --json >"$WORK/audit.json" 2>/dev/null || status=$?
    same "$status $(json findings 0 rule <"$WORK/audit.json")" "51 irreplaceablePurgeable"
    echo 'ordinary *.sqlite' >"$WORK/patterns"
    appcontainer audit "$DEVICE" "$APP" --patterns "$WORK/patterns"
    echo nonsense >"$WORK/patterns"
    complains 27 appcontainer audit "$DEVICE" "$APP" --patterns "$WORK/patterns"
    complains 26 appcontainer audit "$DEVICE" "$APP" --patterns "$WORK/none"
}

# breaks_guidelines OPTION…: an audit that fails.
breaks_guidelines() {
    local status=0
    appcontainer audit "$DEVICE" "$APP" "$@" >/dev/null 2>&1 || status=$?
    same "$status" 51 "exit status"
}

case_an_excluded_download_is_no_breach_and_findings_are_grouped() {
    start
    mkdir -p "$DOCUMENTS/Downloads/guide"
    echo page >"$DOCUMENTS/Downloads/guide/page.pdf" && echo film >"$DOCUMENTS/film.mp4"
    appcontainer exclude "$DOCUMENTS/Downloads" "$DOCUMENTS/film.mp4"
    local told name
    told=$(appcontainer audit "$DEVICE" "$APP")
    grep -q "advice *5 bytes *AppDomain-$APP/Documents/film.mp4 *excluded, which is right for a download" <<<"$told"
    ! grep -q page.pdf <<<"$told" || fail "a file in an excluded directory of downloads is a finding: $told"
    breaks_guidelines --strict
    # It is no download where the user says so.
    echo 'document *.mp4' >"$WORK/patterns"
    breaks_guidelines --patterns "$WORK/patterns"
    appcontainer include "$DOCUMENTS/film.mp4" && appcontainer protect complete "$DOCUMENTS/film.mp4"
    # In a cache that is named as one, a database can be made again.
    mkdir "$MOUNT/Library/Caches/Covers.cache" && sqlite3 "$MOUNT/Library/Caches/Covers.cache/index.sqlite" 'create table t(a)'
    appcontainer audit "$DEVICE" "$APP" >/dev/null
    for name in 1 2 3 4 5; do echo letter >"$DOCUMENTS/$name.txt"; done
    told=$(appcontainer audit "$DEVICE" "$APP")
    grep -q "advice *35 bytes *AppDomain-$APP/Documents: 1.txt, 2.txt, 3.txt and 2 more *a document that a locked" <<<"$told"
    same "$(grep -c advice <<<"$told")" 1 "lines of findings"
    told=$(appcontainer audit "$DEVICE" "$APP" --json)
    same "$(json groups 0 findings <<<"$told") $(json findings 4 path <<<"$told")" "5 Documents/5.txt"
    appcontainer report "$DEVICE" "$APP" "$WORK/report.html" --patterns "$WORK/patterns"
    grep -q '"findings":\[{"domain":"AppDomain-'"$APP"'","findings":5' "$WORK/report.html"
}

case_caches_of_a_group_are_out_of_backups_and_no_breach() {
    local group=group.com.example.notes told
    start --group "$group"
    local caches=$MOUNT/Groups/$group/Library/Caches
    same "$(getfattr --absolute-names -n user.appcontainer.backup --only-values "$caches")" excluded
    same "$(getfattr --absolute-names -n user.xdg.robots.backup --only-values "$caches")" false
    same "$(lsattr -d "$caches" | cut -c 7)" d
    complains 23 appcontainer include "$caches"
    refused setfattr -x "$MARK" "$caches"
    refused chattr -d "$caches"
    echo half >"$caches/film.part"
    same "$(getfattr --absolute-names -n user.appcontainer.backup --only-values "$caches/film.part")" \
        "excluded-by:Groups/$group/Library/Caches"
    told=$(appcontainer audit "$DEVICE" "$APP")
    contains "$told" "nothing to say against it"
    told=$(appcontainer backup "$DEVICE" --list)
    grep -q "AppDomainGroup-$group/Library/Caches *left out" <<<"$told"
    appcontainer backup "$DEVICE" "$WORK/out.tar"
    ! tar -tf "$WORK/out.tar" | grep -q film.part || fail "the backup has a cache of the group"
    # A restore brings a group with empty caches.
    appcontainer unmount "$MOUNT"
    appcontainer restore "$DEVICE" "$WORK/out.tar"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(ls -A "$caches")" ""
    # So does the first start of a device of an earlier version.
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$DEVICE"
    rm -r "$DEVICE"/Containers/Shared/AppGroup/*/Library
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(ls -A "$caches") $(stat -c %U "$caches")" " $(stat -c %U "$MOUNT/Groups/$group")"
    whole
}
