# Partial views: a confined command, and file sharing.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_a_confined_command_sees_the_container_only() {
    start_unmounted
    echo secret >"$WORK/secret"
    echo secret >"/var/tmp/appcontainer-secret-$$"
    local container
    container=$(appcontainer apps "$DEVICE" --json | json 0 container)
    # The program comes by standard input: its file is out of sight.
    appcontainer run "$DEVICE" "$APP" --confine -- /usr/bin/python3 - "$WORK" "/var/tmp/appcontainer-secret-$$" \
        <"$HERE/confined.py" >said
    rm "/var/tmp/appcontainer-secret-$$"
    contains "$(cat said)" "/homes/$container"
    absent /tmp/private
    same "$(appcontainer run "$DEVICE" "$APP" -- cat Documents/kept)" kept "what it wrote"
    same "$(running) $(mounts)" " " "running apps and mounts"
    # Where somebody mounted it is the way as well.
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(appcontainer run "$DEVICE" "$APP" --confine -- pwd)" "$MOUNT" "where it runs"
    appcontainer run "$DEVICE" "$APP" --confine -- Notes.app/Notes add confined
    contains "$(appcontainer run "$DEVICE" "$APP" --confine)" confined
}

case_a_confined_command_ends_as_any_other() {
    start
    local status=0
    appcontainer run "$DEVICE" "$APP" --confine -- sh -c 'exit 7' || status=$?
    same "$status" 7 "an exit status"
    status=0
    appcontainer run "$DEVICE" "$APP" --confine -- sh -c 'kill -9 $$' || status=$?
    same "$status" 137 "the status of one that was killed"
    complains 127 appcontainer run "$DEVICE" "$APP" --confine -- no-such-command
    complains 127 appcontainer run "$DEVICE" "$APP" --confine -- "$WORK/secret"
    complains 126 appcontainer run "$DEVICE" "$APP" --confine -- /etc/passwd
    complains 126 appcontainer run "$DEVICE" "$APP" --confine -- Documents/
    same "$(appcontainer run "$DEVICE" "$APP" --confine -- printf %s 'a b')" "a b" "an argument with a blank"
    /usr/bin/python3 "$HERE/running.py" signals "$DEVICE" "$APP" "$DOCUMENTS" --confine
    # It ends with its runner, whatever it ignores, and so does what it left behind.
    appcontainer run "$DEVICE" "$APP" --confine -- \
        sh -c 'trap "" TERM HUP INT; setsid sleep 300 & touch Documents/ready; while :; do sleep 0.1; echo >>Documents/alive; done' &
    local runner=$!
    eventually test -s "$DOCUMENTS/alive"
    kill -9 "$runner"
    eventually runs_not
    appcontainer unmount "$MOUNT"
}

case_confinement_needs_bubblewrap() {
    start_unmounted
    mkdir programs
    local name status=0
    for name in appcontainer fusermount3 true; do ln -s "$(command -v "$name")" "programs/$name"; done
    env PATH="$WORK/programs" appcontainer run "$DEVICE" "$APP" --confine -- true 2>said || status=$?
    same "$status" 125 "the exit status"
    contains "$(cat said)" "install the package bubblewrap"
    same "$(wc -l <said)" 1 "lines"
    same "$(running)" "" "running apps"
}

case_file_sharing_shows_documents_only() {
    start
    mkdir "$MOUNT/Library/Application Support"
    echo note >"$DOCUMENTS/note"
    echo state >"$MOUNT/Library/Application Support/state"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT" --documents
    same "$(ls -A "$MOUNT")" Documents "what is shown"
    same "$(stat -c %h "$MOUNT")" 3 "links of the top level"
    same "$(cat "$DOCUMENTS/note")" note "a document"
    echo more >"$DOCUMENTS/more"
    local name
    for name in Library "Library/Application Support/state" tmp Notes.app Notes.app/Info.plist \
        .com.apple.mobile_container_manager.metadata.plist; do
        absent "$MOUNT/$name"
    done
    refused mkdir "$MOUNT/Library"
    refused touch "$MOUNT/x"
    refused mkdir "$DOCUMENTS/Inbox"
    contains "$(appcontainer status "$DEVICE")" "$MOUNT (documents)"
    echo mail >mail.txt
    same "$(appcontainer deliver "$DEVICE" "$APP" mail.txt)" Documents/Inbox/mail.txt "deliver"
    same "$(cat "$DOCUMENTS/Inbox/mail.txt")" mail "what was delivered"
    appcontainer entitle "$DEVICE" "$APP" --group group.com.example.shared
    same "$(ls -A "$MOUNT")" Documents "what is shown after a group has come"
    same "$(appcontainer path "$DEVICE" "$APP")" "$MOUNT" "the path of the home"
    complains 25 appcontainer path "$DEVICE" "$APP" app
    # There is nothing to be run in it.
    complains 125 appcontainer run "$DEVICE" "$APP" -- true
    contains "$(cat .err)" "unmount that first"
    appcontainer restart "$DEVICE"
    same "$(ls -A "$MOUNT")" Documents "what is shown after a restart"
    appcontainer unmount "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(cat "$MOUNT/Library/Application Support/state" "$DOCUMENTS/more")" "state
more" "what is there with everything shown"
    # An app has to want it.
    make_app com.example.Private Private
    sed -i '/UIFileSharingEnabled/{N;d}' "$WORK/Private.app/Info.plist"
    appcontainer install "$DEVICE" "$WORK/Private.app"
    mkdir other
    complains 44 appcontainer mount "$DEVICE" com.example.Private "$WORK/other" --documents
    not_mounted "$WORK/other"
}
