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
    same "$(find "$WORK" -maxdepth 1 -name '*.unfinished')" ""
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

oncecase_a_report_draws_itself_in_a_browser() {
    start_protected
    some_files 50
    head -c 200K /dev/urandom >"$DOCUMENTS/<b>&\"quoted'" && appcontainer protect complete "$DOCUMENTS/<b>&\"quoted'"
    head -c 100K /dev/urandom >"$MOUNT/Library/Caches/cached"
    head -c 100K /dev/urandom >"$DOCUMENTS/out" && setfattr -n "$MARK" -v x "$DOCUMENTS/out"
    refused mkdir "$MOUNT/top"
    appcontainer report "$DEVICE" "$APP" "$WORK/report.html"
    # A page names whatever it loads.
    if grep -Eq '(src=|href|url\(|@import|fetch\(|XMLHttpRequest|https?:)' "$WORK/report.html"; then
        fail "the page refers to something outside it"
    fi
    HOME=$WORK timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/browser" \
        --window-size=1200,1400 --virtual-time-budget=5000 --dump-dom "file://$WORK/report.html" \
        >"$WORK/drawn.html" 2>/dev/null
    /usr/bin/python3 "$HERE/report.py" "$WORK/drawn.html"
    complains "1|26" appcontainer report "$DEVICE" "$APP" "$WORK/none/report.html"
}
