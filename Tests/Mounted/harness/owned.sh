# Devices for test harnesses: started for whoever asks, owned by a process and gone with it, copied for one command.
# shellcheck shell=bash disable=SC2164,SC2016,SC2153,SC2154

# A device that is shut down, with the sample app.
make_template() {
    appcontainer create "$WORK/template"
    appcontainer install "$WORK/template" "$BASE/Notes.app" 2>/dev/null
    appcontainer shutdown "$WORK/template"
}

# own ORDER: holds a device by the descriptor $hold until that is closed; the answer goes to $WORK/answer.
own() {
    rm -f "$WORK/orders" "$WORK/answer"
    mkfifo "$WORK/orders"
    appcontainer own <"$WORK/orders" >"$WORK/answer" &
    owned=$!
    exec {hold}>"$WORK/orders"
    echo "$1" >&"$hold"
    eventually test -s "$WORK/answer"
}
let_go() { exec {hold}>&-; }

case_boot_starts_the_daemon_and_shows_its_socket() {
    make_template
    socket=$(appcontainer boot "$WORK/template")
    test -S "$socket"
    same "$(appcontainer boot "$WORK/template" --json | json socket)" "$socket"
    same "$(appcontainer status "$WORK/template" --json | json daemon socket)" "$socket"
    contains "$(curl -sSi --unix-socket "$socket" http://device/v1/apps)" "Server: appcontainer/"
    # One client, two requests.
    same "$(curl -sS -o one -o two -w '%{http_code} ' --unix-socket "$socket" http://device/v1/{apps,status})" "200 200 "
    complains 3 appcontainer boot "$WORK/none"
}

case_a_device_goes_with_its_owner() {
    make_template
    own "{\"device\": \"$WORK/copy\", \"clone\": \"$WORK/template\"}"
    socket=$(json socket <"$WORK/answer")
    home=$(curl -sS --unix-socket "$socket" http://device/v1/mount --json "{\"app\": \"$APP\"}" | json mountPoint)
    contains "$home" "/mounts/$(appcontainer apps "$WORK/copy" --json | json 0 container)"
    echo hello >"$home/Documents/note"
    # Files that lie there go as well.
    touch "$WORK/copy/stranger"
    # Somebody else's look at it does not keep it.
    same "$(appcontainer status "$WORK/copy" --json | json daemon pid)" "$owned"
    # Left open by whoever used it.
    exec 7<"$home/Documents/note"
    let_go
    wait "$owned"
    exec 7<&-
    absent "$WORK/copy"
    absent "$socket"
    absent "$home"
    same "$(appcontainer apps "$WORK/template" --json | json 0 identifier)" "$APP" "the template"
}

case_a_device_goes_when_its_owner_is_killed() {
    make_template
    # A process that holds the device, has a file open in it, and is killed.
    /usr/bin/python3 "$HERE/owned.py" hold "$WORK" "$APP" &
    owner=$!
    eventually test -e "$WORK/ready"
    read -r daemon home <"$WORK/ready"
    mountpoint -q "$home"
    kill -9 "$owner"
    wait "$owner" || true
    tool listen_for_end "$daemon"
    absent "$WORK/copy"
    absent "$home"
    not_mounted() { ! grep -qF "$home" /proc/self/mountinfo; }
    not_mounted || fail "$home is still mounted"
}

case_a_template_is_copied_by_many_at_once() {
    own "$(tr -d '\n' <<JSON
{"device": "$WORK/made", "create": {"passcode": "1234", "kdfCost": 1}, "template": true,
"install": [{"app": "$BASE/Notes.app"}]}
JSON
)"
    same "$(json apps 0 identifier <"$WORK/answer")" "$APP"
    same "$(json socket <"$WORK/answer")" null
    local -a copies=()
    for number in 1 2 3 4 5 6; do
        appcontainer clone "$WORK/made" "$WORK/copy-$number" &
        copies+=($!)
    done
    for copy in "${copies[@]}"; do wait "$copy"; done
    for number in 1 2 3 4 5 6; do
        same "$(appcontainer apps "$WORK/copy-$number" --json | json 0 identifier)" "$APP"
    done
    let_go
    wait "$owned"
    absent "$WORK/made"
    test -e "$WORK/copy-1/Device.json"
}

case_an_order_may_be_wrong() {
    make_template
    # said CODE KIND ORDER: the answer is a complaint of that kind, and nothing is left.
    said() {
        local status=0
        answer=$(appcontainer own <<<"$3") || status=$?
        same "$status" "$1" "$answer"
        same "$(json complaint kind <<<"$answer")" "$2"
    }
    said 27 badRequest ''
    said 27 badRequest 'nonsense'
    contains "$(json complaint message <<<"$answer")" "the order on standard input (appcontainer(1) tells what one has) is not JSON"
    said 27 badRequest "{\"device\": \"$WORK/new\", \"install\": [{\"bundle\": \"x\"}], \"create\": {}}"
    same "$(json complaint message <<<"$answer")" 'own: "install.0.app" is missing'
    said 27 badRequest "{\"device\": \"$WORK/template\", \"keep\": true}"
    said 27 badRequest '{"device": "relative", "create": {}}'
    said 27 badRequest "{\"device\": \"$WORK/new\", \"create\": {}, \"clone\": \"$WORK/template\"}"
    said 27 badRequest "{\"device\": \"$WORK/new\", \"create\": {\"kdfCost\": 99}}"
    said 3 deviceMissing "{\"device\": \"$WORK/new\", \"clone\": \"$WORK/none\"}"
    said 26 notFound "{\"device\": \"$WORK/no/new\", \"create\": {}}"
    said 26 notFound "{\"device\": \"$WORK/new\", \"create\": {}, \"install\": [{\"app\": \"$WORK/No.app\"}]}"
    absent "$WORK/new"
    # A device that is there already is left alone, with its content.
    said 7 deviceExists "{\"device\": \"$WORK/template\", \"create\": {}}"
    same "$(appcontainer apps "$WORK/template" --json | json 0 identifier)" "$APP"
    # A device that is on cannot be copied.
    appcontainer boot "$WORK/template" >"$WORK/socket"
    said 8 deviceBusy "{\"device\": \"$WORK/new\", \"clone\": \"$WORK/template\"}"
    absent "$WORK/new"
}

case_two_owners_of_one_place_are_one_too_many() {
    own "{\"device\": \"$WORK/phone\", \"create\": {}}"
    status=0
    answer=$(appcontainer own <<<"{\"device\": \"$WORK/phone\", \"create\": {}}") || status=$?
    same "$status" 7
    same "$(json complaint kind <<<"$answer")" deviceExists
    # The first one's is as it was.
    same "$(appcontainer status "$WORK/phone" --json | json daemon pid)" "$owned"
    let_go
    wait "$owned"
    absent "$WORK/phone"
}

case_a_device_that_is_kept_stays_without_its_owner() {
    own "{\"device\": \"$WORK/phone\", \"create\": {}, \"keep\": true}"
    let_go
    wait "$owned"
    same "$(appcontainer status "$WORK/phone" --json | json state)" off
    appcontainer check "$WORK/phone"
}

case_a_command_is_tested_on_a_copy() {
    make_template
    appcontainer test "$WORK/template" --junit refused.xml -- \
        sh -c 'touch "$APPCONTAINER_HOME/Documents/made"; mkdir "$APPCONTAINER_HOME/<new>" "$APPCONTAINER_HOME/Notes.app/x";
            "$APPCONTAINER" apps "$APPCONTAINER_DEVICE"; test -S "$APPCONTAINER_SOCKET" && test "$APPCONTAINER_APP" = '"$APP" \
        >out 2>err
    contains "$(cat out)" "$APP"
    /usr/bin/python3 "$HERE/owned.py" report refused.xml
    # Nothing of it is in the template, and each copy is as new.
    appcontainer test "$WORK/template" -- sh -c 'test ! -e "$APPCONTAINER_HOME/Documents/made"'
    same "$(find "$WORK" -maxdepth 1 -name 'appcontainer-*')" "" "copies that are left"
}

case_a_report_of_refusals_is_xml_whatever_was_refused() {
    make_template
    appcontainer test "$WORK/template" --junit refused.xml -- /usr/bin/python3 "$HERE/owned.py" refuse
    /usr/bin/python3 "$HERE/owned.py" refuse_report refused.xml
}

case_the_exit_status_of_a_tested_command_is_passed_on() {
    make_template
    # ends CODE COMMAND…
    ends() {
        local code=$1 status=0
        shift
        appcontainer test "$WORK/template" --junit ended.xml -- "$@" >/dev/null 2>&1 || status=$?
        same "$status" "$code" "$*"
    }
    ends 0 true
    ends 7 sh -c 'exit 7'
    contains "$(cat ended.xml)" 'exit status 7'
    ends 143 sh -c 'kill -TERM $$'
    # One of an earlier run says nothing of this one, also while this one goes on.
    ends 3 sh -c 'grep -q "<error" ended.xml && ! grep -q "<failure" ended.xml && exit 3'
    # The report says so where nothing was tested.
    ends 127 "$WORK/none"
    contains "$(cat ended.xml)" "<error type=\"appcontainer\" message=\"cannot run $WORK/none: No such file or directory\"/>"
    ends 126 "$BASE/Notes.app"
    contains "$(cat ended.xml)" 'failures="0" errors="1"'
    complains 125 appcontainer test "$WORK/none" --junit ended.xml -- true
    contains "$(cat ended.xml)" "$WORK/none"
    complains 125 appcontainer test "$WORK/none" -- true
    # Before the command, which may take an hour.
    complains 125 appcontainer test "$WORK/template" --junit none/ended.xml -- touch "$WORK/ran"
    complains 125 appcontainer test "$WORK/template" --junit "$WORK" -- touch "$WORK/ran"
    absent "$WORK/ran"
    complains 125 appcontainer test "$WORK/template" --app com.example.Other -- true
    complains 64 appcontainer test "$WORK/template"
    same "$(find "$WORK" -maxdepth 1 -name 'appcontainer-*')" "" "copies that are left"
}

case_a_copy_is_gone_when_its_test_is_killed() {
    make_template
    appcontainer test "$WORK/template" -- sh -c '
        "$APPCONTAINER" status "$APPCONTAINER_DEVICE" --json >status.new; echo $$ >child; mv status.new status; exec sleep 1000' &
    tested=$!
    eventually test -e status
    daemon=$(json daemon pid <status)
    kill -9 "$tested"
    wait "$tested" || true
    tool listen_for_end "$daemon"
    absent "$(json device <status)"
    # The command's own processes are nobody's now.
    # Its command goes with it.
    eventually is_gone "$(cat child)"
}

case_a_device_with_a_passcode_is_unlocked_for_its_test() {
    echo 271828 >"$CODE"
    chmod 600 "$CODE"
    appcontainer create "$WORK/template" --passcode-file "$CODE" --kdf-cost 1
    appcontainer install "$WORK/template" "$BASE/Notes.app" 2>/dev/null
    appcontainer shutdown "$WORK/template"
    same "$(appcontainer test "$WORK/template" --passcode-file "$CODE" -- sh -c \
        '"$APPCONTAINER" status "$APPCONTAINER_DEVICE" --json' | json state)" unlocked
    same "$(appcontainer test "$WORK/template" -- sh -c \
        '"$APPCONTAINER" status "$APPCONTAINER_DEVICE" --json' | json state)" beforeFirstUnlock
}

case_copies_that_run_an_app_at_once_have_homes_of_their_own() {
    make_template
    appcontainer clone "$WORK/template" "$WORK/other"
    appcontainer run "$WORK/template" "$APP" -- sh -c '
        pwd >'"$WORK"'/first; while [ ! -e '"$WORK"'/seen ]; do sleep 0.05; done; ls' >"$WORK/inside" &
    running=$!
    eventually test -s "$WORK/first"
    second=$(appcontainer run "$WORK/other" "$APP" -- sh -c 'pwd; ls')
    touch "$WORK/seen"
    wait "$running"
    [ "$(cat "$WORK/first")" != "$(head -n 1 <<<"$second")" ] || fail "one home for two devices"
}
