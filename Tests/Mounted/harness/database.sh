# A database of GRDB in an app's group: the program Importer of Tests/Samples, suspended for real.
# shellcheck shell=bash disable=SC2153

# importing MANNER: a program whose database is GRDB's, in `app`
importing() {
    rm -f said
    timeout 100 appcontainer run "$DEVICE" "$APP" -- "$BASE/importer" "$journal" "$1" >said &
    app=$!
    eventually grep -q ready said
}
count() { sqlite3 "$MOUNT/Groups/group.com.example.notes/$journal.sqlite" 'select count(*) from note'; }

# An app whose database is GRDB's is suspended for real, in each journal's mode.
case_an_app_with_a_database_in_a_group_is_suspended() {
    local journal app status
    start --group group.com.example.notes
    for journal in delete wal; do
        importing idle
        appcontainer suspend "$DEVICE" "$APP" --json >report
        same "$(json terminated <report)" "[]" "what ended it idle ($journal)"
        appcontainer resume "$DEVICE" "$APP"
        appcontainer terminate "$DEVICE" "$APP"
        wait "$app" || true
        # In the middle of a transaction it is killed, which takes the transaction back.
        importing importing
        contains "$(appcontainer suspend "$DEVICE" "$APP")" \
            "held a lock (sqlite) on Groups/group.com.example.notes/$journal.sqlite: killed"
        status=0
        wait "$app" || status=$?
        same "$status" 137 "its exit status ($journal)"
        same "$(count)" 1 "the rows of $journal"
        # Where GRDB hears of the background in time, it lives, and reads on in the foreground.
        importing heeding
        appcontainer suspend "$DEVICE" "$APP" --after 2 --json >report
        same "$(json terminated <report)" "[]" "what ended one that heeds ($journal)"
        contains "$(cat said)" "import ended"
        appcontainer resume "$DEVICE" "$APP"
        eventually grep -q "notes: 1" said
        appcontainer terminate "$DEVICE" "$APP"
        wait "$app" || true
    done
    whole
}
