# The passcode: set, changed, removed, given wrong, and where it comes from; keys that are damaged.
# shellcheck shell=bash disable=SC2164,SC2015,SC2153,SC2016,SC2034

umask 077

# A device with the passcode 1234 and cheap guesses, the app installed and nothing mounted.
start_with_passcode() {
    mkdir -p "$MOUNT"
    echo 1234 >code
    echo 4321 >bad
    appcontainer create "$DEVICE" --passcode-file code --kdf-cost "${1-1}"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
}

says() { contains "$(cat "$WORK/.err")" "$1"; }

# Lets the wait after wrong passcodes be over by this many seconds more.
pass_time() {
    /usr/bin/python3 "$HERE/passcode.py" pass_time "$DEVICE/Passcode.json" "$1"
}

case_a_passcode_is_set_changed_and_removed_under_a_mount() {
    start
    echo kept >"$DOCUMENTS/f"
    complains 31 appcontainer passcode "$DEVICE" change
    complains 31 appcontainer passcode "$DEVICE" remove
    complains 18 appcontainer passcode "$DEVICE" set
    # Set: unlocked until the next start.
    echo 1234 | appcontainer passcode "$DEVICE" set
    complains 34 appcontainer passcode "$DEVICE" set
    says "passcode $DEVICE change"
    same "$(appcontainer status --json "$DEVICE" | json hasPasscode)" True "has a passcode"
    same "$(appcontainer status --json "$DEVICE" | json state)" unlocked state
    echo more >>"$DOCUMENTS/f"
    again
    expect <<<"EPERM open $DOCUMENTS/f r"
    # Changed: as it was.
    printf '1234\ngeheim\n' | appcontainer passcode "$DEVICE" change
    expect <<<"EPERM open $DOCUMENTS/f r"
    complains 17 appcontainer unlock "$DEVICE" --passcode-file <(echo 1234)
    appcontainer unlock "$DEVICE" <<<geheim
    same "$(cat "$DOCUMENTS/f")" $'kept\nmore' content
    printf '%s\n' geheim neu | appcontainer passcode "$DEVICE" change
    same "$(cat "$DOCUMENTS/f")" $'kept\nmore' content
    # Removed before the first unlock: unlocked at once, and after every start.
    again
    expect <<<"EPERM open $DOCUMENTS/f r"
    complains 17 appcontainer passcode "$DEVICE" remove --old-file <(echo geheim)
    expect <<<"EPERM open $DOCUMENTS/f r"
    appcontainer passcode "$DEVICE" remove <<<neu
    same "$(appcontainer status --json "$DEVICE" | json state)" unlocked state
    same "$(cat "$DOCUMENTS/f")" $'kept\nmore' content
    echo new >"$DOCUMENTS/g"
    again
    same "$(cat "$DOCUMENTS/f" "$DOCUMENTS/g")" $'kept\nmore\nnew' content
    if grep -rqE 'geheim|neu' "$DEVICE/daemon.log" "$DEVICE/Device.json"; then fail "a passcode was written down"; fi
    stop
    whole
}

case_a_changed_passcode_rewrites_no_file() {
    start_with_passcode
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file code
    head -c 100000 /dev/urandom >"$DOCUMENTS/f"
    appcontainer unmount "$MOUNT"
    before=$(sha256sum "$(backing)/Documents/f")
    appcontainer passcode "$DEVICE" change --old-file code --new-file bad
    appcontainer passcode "$DEVICE" remove --old-file bad
    same "$(sha256sum "$(backing)/Documents/f")" "$before" "the backing file"
}

case_wrong_passcodes_wait_and_no_kill_shortens_it() {
    start_with_passcode
    for count in 1 2 3 4; do
        echo "bad $count" >bad
        complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
        says "so far: $count)"
        # One wrong passcode counts once.
        complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
        says "so far: $count)"
    done
    # The fifth is one of another command.
    echo "bad 5" >bad
    complains 17 appcontainer passcode "$DEVICE" remove --old-file bad
    says "so far: 5); try again with the right one in 1 minute"
    complains 32 appcontainer unlock "$DEVICE" --passcode-file code
    says "so far: 5)"
    complains 32 appcontainer passcode "$DEVICE" change --old-file code --new-file bad
    complains 32 appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file code
    pid=$(daemon_pid)
    kill -9 "$pid"
    tool listen_for_end "$pid"
    complains 32 appcontainer unlock "$DEVICE" --passcode-file code
    appcontainer shutdown "$DEVICE"
    # Nor does a copy.
    appcontainer clone "$DEVICE" "$WORK/copy"
    complains 32 appcontainer unlock "$WORK/copy" --passcode-file code
    appcontainer shutdown "$WORK/copy"
    pass_time 60
    echo "bad 6" >bad
    complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
    says "so far: 6); try again with the right one in 5 minutes"
    pass_time 290
    complains 32 appcontainer unlock "$DEVICE" --passcode-file code
    pass_time 10
    appcontainer unlock "$DEVICE" --passcode-file code
    absent "$DEVICE/Passcode.json"
    complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
    says "so far: 1)"
    # A damaged count is not taken for none.
    echo '{' >"$DEVICE/Passcode.json"
    complains 22 appcontainer unlock "$DEVICE" --passcode-file code
    says "Passcode.json is damaged"
    # An erased device has another passcode to guess: none.
    appcontainer shutdown "$DEVICE"
    appcontainer erase "$DEVICE"
    absent "$DEVICE/Passcode.json"
    appcontainer delete "$WORK/copy"
}

case_an_attempt_cut_short_by_a_kill_counts() {
    # Slow enough to be killed in the middle.
    start_with_passcode 17
    appcontainer status "$DEVICE" >/dev/null
    pid=$(daemon_pid)
    appcontainer unlock "$DEVICE" --passcode-file bad 2>said &
    eventually test -e "$DEVICE/Passcode.json"
    kill -9 "$pid"
    # The command asks again, of a new process, which knows of the first attempt.
    status=0
    wait $! || status=$?
    same $status 17 "exit status"
    contains "$(cat said)" "so far: 2)"
}

case_the_tenth_wrong_passcode_erases_a_device_that_is_set_so() {
    start_with_passcode
    appcontainer passcode "$DEVICE" change --old-file code --new-file code --erase-after-ten on
    same "$(appcontainer status --json "$DEVICE" | json eraseAfterTen)" True "what ten wrong passcodes do"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file code
    echo secret >"$DOCUMENTS/f"
    exec 7<"$DOCUMENTS/f"
    identifier=$(appcontainer status --json "$DEVICE" | json identifier)
    for count in 1 2 3 4 5 6 7 8 9; do
        echo "bad $count" >bad
        complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
        says "so far: $count)"
        [ "$count" -lt 5 ] || appcontainer clock "$DEVICE" advance 1h
        # The same one is no further step.
        complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
        says "so far: $count)"
        [ "$count" -lt 5 ] || appcontainer clock "$DEVICE" advance 1h
    done
    echo "bad 10" >bad
    complains 58 appcontainer passcode "$DEVICE" change --old-file bad --new-file code --erase-after-ten off
    says "$DEVICE is erased"
    exec 7<&-
    absent "$DOCUMENTS"
    told=$(appcontainer status --json "$DEVICE")
    same "$(json hasPasscode <<<"$told") $(json apps <<<"$told") $(json eraseAfterTen <<<"$told")" "False 0 True" status
    same "$(json identifier <<<"$told")" "$identifier" identifier
    absent "$DEVICE/Passcode.json"
    same "$(find "$DEVICE/Containers" -type f)" "" "files of containers"
    # It is a device like any other.
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    echo new >"$DOCUMENTS/f"
    same "$(cat "$DOCUMENTS/f")" new content
    stop
    whole
}

case_a_kill_at_the_tenth_passcode_leaves_the_erase_to_the_next_boot() {
    start_with_passcode 15
    appcontainer passcode "$DEVICE" change --old-file code --new-file code --erase-after-ten on
    complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
    appcontainer shutdown "$DEVICE"
    # A tenth that was counted, and no more.
    sed -i 's/"wrong" : 1/"wrong" : 10/' "$DEVICE/Passcode.json"
    same "$(appcontainer status --json "$DEVICE" | json hasPasscode)" True "has a passcode"
    # Of a copy too.
    appcontainer clone "$DEVICE" "$WORK/copy"
    for device in "$DEVICE" "$WORK/copy"; do
        appcontainer boot "$device" 2>said >/dev/null
        contains "$(cat said)" "ten wrong passcodes have erased"
        told=$(appcontainer status --json "$device")
        same "$(json hasPasscode <<<"$told") $(json apps <<<"$told") $(json state <<<"$told")" "False 0 unlocked" status
        appcontainer shutdown "$device"
    done
    # Turned off, ten are no more than a long wait.
    appcontainer passcode "$DEVICE" set --new-file code --erase-after-ten off
    complains 17 appcontainer unlock "$DEVICE" --passcode-file bad
    appcontainer shutdown "$DEVICE"
    sed -i 's/"wrong" : 1/"wrong" : 10/' "$DEVICE/Passcode.json"
    complains 32 appcontainer unlock "$DEVICE" --passcode-file code
    same "$(appcontainer status --json "$DEVICE" | json hasPasscode)" True "has a passcode"
    appcontainer delete "$WORK/copy"
}

case_many_guesses_at_once_are_five() {
    start_with_passcode
    local number
    for number in $(seq 12); do
        # Each another one: the same one again does not count.
        {
            echo "wrong$number" >"bad$number"
            chmod 600 "bad$number"
            status=0
            appcontainer unlock "$DEVICE" --passcode-file "bad$number" 2>/dev/null || status=$?
            echo $status >"s$number"
        } &
    done
    wait
    same "$(cat s* | sort | uniq -c | tr -s ' \n' ' ')" " 5 17 7 32 " "exit statuses"
}

case_damaged_keys_are_named_and_left_alone() {
    start_with_passcode
    appcontainer shutdown "$DEVICE"
    appcontainer create "$WORK/other" --kdf-cost 1
    mkdir kept
    cp "$DEVICE"/{Keybag,UID.key} kept
    keys() { { cat "$DEVICE"/{Keybag,UID.key} 2>&1 || true; } | sha256sum; }
    spoil() {
        cp kept/* "$DEVICE"
        (cd "$DEVICE" && eval "$1")
        sum=$(keys)
        for command in "status $DEVICE" "unlock $DEVICE --passcode-file code" "passcode $DEVICE set" \
            "passcode $DEVICE change --old-file code --new-file bad" "passcode $DEVICE remove --old-file code" \
            "mount $DEVICE $APP $MOUNT" "mount $DEVICE $APP $MOUNT --passcode-file code"; do
            # shellcheck disable=SC2086  # the words of a command line
            complains "${3-22}" appcontainer $command
            says "$2"
        done
        same "$(keys)" "$sum" "the keys after $1"
    }
    spoil 'truncate -s 100 Keybag' 'Keybag is cut short'
    spoil 'change_byte Keybag 100' 'Keybag is damaged'
    spoil 'cp ../other/Keybag Keybag' "Keybag is another device's"
    spoil 'rm Keybag' 'Keybag is missing'
    spoil 'truncate -s 8 UID.key' 'no file of the device can ever be read again without it'
    spoil 'rm UID.key' 'UID.key is missing, and no file of the device can ever be read again without it'
    spoil '/usr/bin/python3 -c "
import hashlib
bag = bytearray(open(\"Keybag\", \"rb\").read()[:-24]); bag[8] = 3
open(\"Keybag\", \"wb\").write(bag + hashlib.sha256(bag).digest()[:24])"' 'newer version (format 3)' 5
    cp kept/* "$DEVICE"
    appcontainer unlock "$DEVICE" --passcode-file code
}

case_a_passcode_file_that_others_can_read_is_a_warning() {
    mkdir -p "$MOUNT"
    echo 1234 >code
    for mode in 640 604 644; do
        chmod $mode code
        rm -rf "$DEVICE"
        appcontainer create "$DEVICE" --passcode-file code --kdf-cost 1 2>err
        same "$(wc -l <err)" 1 "lines on standard error"
        grep -q '^appcontainer: warning: the passcode file code .*chmod 600 code' err || fail "no warning: $(cat err)"
    done
    appcontainer unlock "$DEVICE" --passcode-file code 2>err
    grep -q '^appcontainer: warning: ' err || fail "no warning: $(cat err)"
    chmod 600 code
    same "$(appcontainer unlock "$DEVICE" --passcode-file code 2>&1)" "" "what is said of a file of one's own"
    same "$(echo 1234 | appcontainer unlock "$DEVICE" 2>&1)" "" "what is said of standard input"
    complains 35 appcontainer unlock "$DEVICE" --passcode-file "$WORK"
    complains 26 appcontainer unlock "$DEVICE" --passcode-file missing
    printf '\n1234\n' >empty
    complains 35 appcontainer unlock "$DEVICE" --passcode-file empty
    complains 35 appcontainer passcode "$DEVICE" change --old-file code --new-file empty
}

usercase_a_passcode_file_of_somebody_else_is_one_line() {
    mkdir -p "$MOUNT"
    echo 1234 >code
    chmod 0 code
    complains 23 appcontainer create "$DEVICE" --passcode-file code
    complains 23 appcontainer create "$DEVICE" --passcode-file /etc/shadow
    absent "$DEVICE"
}

case_a_terminal_does_not_show_a_passcode_and_asks_for_a_new_one_twice() {
    appcontainer create "$DEVICE" --kdf-cost 1
    /usr/bin/python3 "$HERE/prompts.py" "$DEVICE"
    same "$(appcontainer status --json "$DEVICE" | json hasPasscode)" False "has a passcode"
}

case_the_control_socket_takes_passcodes() {
    appcontainer create "$DEVICE" --kdf-cost 1
    appcontainer check "$DEVICE" >/dev/null
    socket=$(control_socket)
    post() { /usr/bin/python3 "$HERE/passcode.py" post "$socket" "$1"; }
    same "$(post '{"action":"set"}')" 400 "set without a passcode"
    same "$(post '{"action":"set","old":"1","new":"2"}')" 400 "set with an old one"
    same "$(post '{"action":"set","new":""}')" 400 "an empty one"
    same "$(post '{"action":"sat","new":"2"}')" 400 "no such action"
    contains "$(cat answer)" "set, change or remove"
    same "$(post '{"action":"remove","old":"2"}')" 409 "remove where there is none"
    same "$(post '{"action":"set","new":"1234"}')" 200 set
    same "$(post '{"action":"set","new":"1234"}')" 409 "set again"
    same "$(post '{"action":"change","old":"1","new":"2"}')" 403 "a wrong one"
    same "$(json complaint kind <answer)" wrongPasscode kind
    same "$(post '{"action":"change","old":"1234","new":"2"}')" 200 change
    same "$(post '{"action":"remove","old":"2"}')" 200 remove
    same "$(appcontainer status --json "$DEVICE" | json hasPasscode)" False "has a passcode"
}

# A script asks for no second answer after a change.
case_a_change_answers_with_the_state_that_it_has_led_to() {
    start_with_passcode
    echo word >password
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --passcode-file code --running
    keys() {
        appcontainer "$@" --json | /usr/bin/python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(*(answer[key] for key in sys.argv[1].split()))' "$wanted"
    }
    local wanted="state graceRemaining"
    same "$(keys lock "$DEVICE" --now)" "locked None"
    same "$(keys unlock "$DEVICE" --passcode-file code)" "unlocked None"
    same "$(keys lock "$DEVICE" --no-wait | cut -d. -f1 | sed 's/[0-9]*$/N/')" "locking N"
    appcontainer unlock "$DEVICE" --passcode-file code
    wanted="hasBackupPassword hasPasscode eraseAfterTen"
    same "$(keys backup-password "$DEVICE" set --new-file password)" "True True False"
    same "$(keys backup-password "$DEVICE" remove --old-file password)" "False True False"
    same "$(keys passcode "$DEVICE" change --old-file code --new-file bad --erase-after-ten on)" "False True True"
    same "$(keys passcode "$DEVICE" remove --old-file bad)" "False False True"
    wanted="app running state"
    appcontainer suspend "$DEVICE" "$APP"
    same "$(keys resume "$DEVICE" "$APP")" "$APP True foreground"
    same "$(keys terminate "$DEVICE" "$APP")" "$APP False None"
    wanted=state
    same "$(keys restart "$DEVICE")" unlocked
    # A refusal is none.
    complains 61 appcontainer resume "$DEVICE" "$APP" --json
    whole
}
