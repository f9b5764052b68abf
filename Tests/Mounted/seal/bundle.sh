# The sealed bundle: signed, verified, installed, read only as far as it is what was verified, and run.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# signed NAME: a copy of the sample app, signed by the identity that `developer` makes.
developer() { [ -e "$WORK/Developer" ] || appcontainer identity "$WORK/Developer"; }
signed() {
    developer
    cp -R "$BASE/Notes.app" "$WORK/$1.app"
    chmod -R u+w "$WORK/$1.app"
    appcontainer seal "$WORK/$1.app" --identity "$WORK/Developer"
}
# The bundle's backing copy.
backing_bundle() { appcontainer path "$DEVICE" "$APP" app --backing; }
bundle() { echo "$MOUNT/Notes.app"; }

case_the_signature_is_one_that_openssl_accepts() {
    signed Notes
    local seal=$WORK/Notes.app/_CodeSignature
    openssl cms -verify -binary -inform DER -in "$seal/CodeSignature" -content "$seal/CodeDirectory" \
        -CAfile "$WORK/Developer.crt" -out /dev/null 2>said || fail "openssl does not accept it: $(cat said)"
    echo x >>"$seal/CodeDirectory"
    ! openssl cms -verify -binary -inform DER -in "$seal/CodeSignature" -content "$seal/CodeDirectory" \
        -CAfile "$WORK/Developer.crt" -out /dev/null 2>/dev/null || fail "openssl accepts another CodeDirectory"
    # The hash of the whole program, and of the property lists, are in the CodeDirectory.
    signed Other
    /usr/bin/python3 "$HERE/bundle.py" hashes "$WORK/Other.app"
}

case_sealing_twice_gives_the_same_bytes() {
    signed Notes
    cp -R "$WORK/Notes.app/_CodeSignature" before
    sleep 1
    appcontainer seal "$WORK/Notes.app" --identity "$WORK/Developer"
    cmp before/CodeResources "$WORK/Notes.app/_CodeSignature/CodeResources"
    cmp before/CodeDirectory "$WORK/Notes.app/_CodeSignature/CodeDirectory"
    same "$(appcontainer verify "$WORK/Notes.app" --trust "$WORK/Developer.crt")" valid verify
}

case_programs_run_from_the_bundle() {
    mkdir -p app
    cp -R "$BASE/Notes.app" app/Notes.app
    cp "$(readlink -f "$(command -v ls)")" app/Notes.app/list
    cp "$(ls /lib/x86_64-linux-gnu/libm.so.6 /lib/*/libm.so.6 2>/dev/null | head -1)" app/Notes.app/library
    chmod 755 app/Notes.app/list
    chmod 644 app/Notes.app/library
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" app/Notes.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    HOME=$MOUNT "$(bundle)/Notes" add first
    contains "$(HOME=$MOUNT "$(bundle)/Notes")" first
    contains "$("$(bundle)/list" "$(bundle)")" Info.plist
    contains "$(fails "$(bundle)/library")" "ermission denied"
    # Code that is mapped: a shared library, and a mapping that asks for it by hand.
    /usr/bin/python3 -c 'import ctypes, sys; assert ctypes.CDLL(sys.argv[1]).abs' "$(bundle)/library"
    /usr/bin/python3 "$HERE/bundle.py" map_code "$(bundle)/list"
    # Nothing of it can be changed, and each attempt is in the record.
    refused touch "$(bundle)/Notes"
    refused chmod 777 "$(bundle)/Notes"
    refused mv "$(bundle)/Notes" "$(bundle)/Note"
    contains "$(appcontainer events "$DEVICE")" '"path":"Notes.app/Notes","operation":"chmod"'
}

case_a_changed_block_is_eio_and_the_others_are_read() {
    mkdir -p app
    cp -R "$BASE/Notes.app" app/Notes.app
    head -c 3000000 /dev/urandom >app/Notes.app/large
    head -c 5000 /dev/urandom >app/Notes.app/little
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" app/Notes.app
    local copy
    copy=$(backing_bundle)
    cmp app/Notes.app/large "$copy/large"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    cmp app/Notes.app/large "$(bundle)/large"
    appcontainer unmount "$MOUNT"
    chmod u+w "$copy"/l*
    change_byte "$copy/large" $((300 * 4096 + 17))
    change_byte "$copy/little" 4999
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    /usr/bin/python3 "$HERE/bundle.py" damaged "$(bundle)" app/Notes.app
    contains "$(fails cat "$(bundle)/large")" "Input/output error"
    contains "$(appcontainer events "$DEVICE")" '"event":"corrupt","app":"com.example.Notes","path":"Notes.app/large"'
    local status=0
    appcontainer run "$DEVICE" "$APP" -- true 2>said || status=$?
    same "$status" 125 "run's exit status"
    contains "$(cat said)" "a sealed resource is missing or invalid: large"
}

case_a_file_put_into_the_backing_copy_is_not_shown() {
    start
    local copy
    copy=$(backing_bundle)
    appcontainer unmount "$MOUNT"
    chmod u+w "$copy" "$copy/Samples"
    echo planted >"$copy/planted"
    ln -sfn /etc/passwd "$copy/FirstNote.txt"
    chmod 777 "$copy/Notes"
    mv "$copy/Samples/Welcome.txt" "$copy/Samples/Moved.txt"
    ln "$copy/Notes" "$copy/Samples/Welcome.txt"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    absent "$(bundle)/planted"
    absent "$(bundle)/Samples/Moved.txt"
    same "$(readlink "$(bundle)/FirstNote.txt")" Samples/Welcome.txt "the link"
    same "$(stat -c %a "$(bundle)/Notes")" 755 "the mode"
    cmp "$BASE/Notes.app/Notes" "$(bundle)/Notes"
    ! grep -q '^#!' "$(bundle)/Samples/Welcome.txt" 2>/dev/null || fail "another file's bytes were read"
    # A hole where there were bytes is not one.
    for shown in "$(bundle)"/*; do [ "${shown##*/}" != planted ] || fail "it is listed"; done
}

case_an_archive_is_installed() {
    signed Notes
    mkdir Payload
    cp -R "$WORK/Notes.app" Payload/Notes.app
    zip -qry "$WORK/Notes.ipa" Payload
    appcontainer create "$DEVICE"
    same "$(appcontainer install "$DEVICE" "$WORK/Notes.ipa" --require-signed --trust "$WORK/Developer.crt")" "$APP" install
    same_content "$WORK/Notes.app" "$(backing_bundle)"
    appcontainer run "$DEVICE" "$APP" -- sh -c 'cmp Notes.app/Notes '"$WORK"'/Notes.app/Notes'
    # An archive that leads out of itself is refused, and nothing of it appears anywhere.
    /usr/bin/python3 "$HERE/bundle.py" archives "$WORK"
    for name in up root link twice length; do complains 13 appcontainer install "$DEVICE" "$WORK/$name.ipa"; done
    same "$(find "$DEVICE" "$WORK" /tmp -maxdepth 3 -name evil 2>/dev/null)" "" "what was planted"
    same "$(apps "$DEVICE")" 1 "apps"
    whole
}

case_an_app_runs_in_its_home() {
    start
    appcontainer run "$DEVICE" "$APP" -- sh -c 'pwd; echo "$HOME" "$CFFIXED_USER_HOME" "$TMPDIR"' >said
    same "$(cat said)" "$MOUNT
$MOUNT $MOUNT $MOUNT/tmp" "where it runs"
    local status=0
    echo typed | appcontainer run "$DEVICE" "$APP" -- sh -c 'cat; exit 3' >said || status=$?
    same "$status $(cat said)" "3 typed" "its status and its input"
    status=0
    appcontainer run "$DEVICE" "$APP" -- sh -c 'kill -TERM $$' 2>/dev/null || status=$?
    same "$status" 143 "the status of one that was killed"
    appcontainer run "$DEVICE" "$APP" --verify-all -- Notes.app/Notes add hello
    contains "$(appcontainer run "$DEVICE" "$APP")" hello
    # A signal that asks for the end reaches the command.
    appcontainer run "$DEVICE" "$APP" -- sh -c 'trap "echo asked >Documents/asked; exit 9" TERM; echo >Documents/ready; while :; do sleep 0.1; done' &
    local runner=$!
    eventually test -e "$DOCUMENTS/ready"
    kill "$runner"
    status=0
    wait "$runner" || status=$?
    same "$status $(cat "$DOCUMENTS/asked")" "9 asked" "what became of it"
    appcontainer unmount "$MOUNT"
    # Not mounted, it has a home for as long as it runs, and eight of them have the same.
    for number in 1 2 3 4 5 6 7 8; do
        appcontainer run "$DEVICE" "$APP" -- sh -c "pwd; echo $number >Documents/$number; sleep 0.3" >"home-$number" &
    done
    wait
    local container
    container=$(appcontainer apps "$DEVICE" --json | json 0 container)
    for number in 1 2 3 4 5 6 7 8; do contains "$(cat "home-$number")" "/homes/$container"; done
    same "$(appcontainer run "$DEVICE" "$APP" -- sh -c 'cat Documents/[1-8] | tr -d "\n"')" 12345678 "what they wrote"
    same "$(appcontainer apps "$DEVICE" --json | json 0 mountPoint)" null "the mount point afterwards"
    absent "$(head -1 home-1)"
}

case_a_launched_app_goes_on_by_itself() {
    mkdir -p app "$MOUNT"
    cp -R "$BASE/Notes.app" app/Notes.app
    printf '#!/bin/sh\npwd >Documents/where\nwhile [ ! -e Documents/stop ]; do sleep 0.1; done\necho bye >Documents/bye\n' >app/Notes.app/Notes
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" app/Notes.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    local process
    process=$(appcontainer launch "$DEVICE" "$APP")
    eventually test -s "$DOCUMENTS/where"
    same "$(cat "$DOCUMENTS/where")" "$MOUNT" "its working directory"
    kill -0 "$process" || fail "no process $process"
    touch "$DOCUMENTS/stop"
    eventually test -s "$DOCUMENTS/bye"
    same "$(cat "$DOCUMENTS/bye")" bye "its end"
}

case_a_copied_device_runs_its_apps() {
    start
    stop
    cp -R "$DEVICE" "$WORK/copy"
    same "$(appcontainer run "$WORK/copy" "$APP" -- cat Notes.app/Samples/Welcome.txt)" \
        "$(cat "$BASE/Notes.app/Samples/Welcome.txt")" "what it reads"
    appcontainer shutdown "$WORK/copy"
    appcontainer clone "$DEVICE" "$WORK/clone"
    appcontainer run "$WORK/clone" "$APP" -- true
    appcontainer shutdown "$WORK/clone"
}

case_an_install_that_is_killed_leaves_nothing() {
    mkdir app
    cp -R "$BASE/Notes.app" app/Notes.app
    head -c 300M /dev/zero | tr '\0' x >app/Notes.app/large
    appcontainer create "$DEVICE"
    for delay in 0.05 0.2 0.4; do
        appcontainer status "$DEVICE" >/dev/null
        appcontainer apps "$DEVICE" >/dev/null
        appcontainer events "$DEVICE" >/dev/null
        appcontainer check "$DEVICE" >/dev/null
        appcontainer install "$DEVICE" app/Notes.app >/dev/null 2>&1 &
        sleep "$delay"
        kill -9 "$(daemon_pid)" 2>/dev/null || true
        wait
        whole
        if [ "$(apps "$DEVICE")" = 1 ]; then appcontainer uninstall "$DEVICE" "$APP"; fi
        same "$(find "$DEVICE/Containers" "$DEVICE/Staging" -type f | wc -l)" 0 "files left over"
    done
}
