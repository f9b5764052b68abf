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

case_a_confined_command_gets_few_variables_and_no_keys() {
    start
    export SSH_AUTH_SOCK=/run/agent SECRET_TOKEN=hunter2 LD_PRELOAD_NOT=x LC_TIME=C TZ=UTC WANTED=asked GIT_ASKPASS=x
    cp "$HERE/secrets.py" "$DOCUMENTS/secrets.py"
    # A key of the caller's session, as a mount of an encrypted host filesystem has one.
    /usr/bin/python3 "$HERE/secrets.py" with_key appcontainer run "$DEVICE" "$APP" --confine \
        --env WANTED --env "GIVEN=a=b" --env HOME=/elsewhere --env ABSENT -- \
        /usr/bin/python3 Documents/secrets.py look "$MOUNT"
    # Unconfined it has the caller's, and what is given.
    same "$(appcontainer run "$DEVICE" "$APP" --env GIVEN=c -- sh -c 'echo $SECRET_TOKEN $GIVEN')" "hunter2 c" "variables"
    complains 64 appcontainer run "$DEVICE" "$APP" --confine --env =x -- true
}

# Of two users in one namespace the files show as they are, and nobody else's do.
rootcase_root_confines_in_a_user_namespace() {
    as_container_user
    appcontainer run "$DEVICE" "$APP" --confine -- sh -c 'cat /proc/self/uid_map >Documents/map; stat -c %u Documents; touch Documents/mine; stat -c %u Documents/mine' >said
    same "$(tr '\n' ' ' <said)" "$(id -u "$TEST_USER") 0 " "owners, as the command sees them"
    same "$(wc -l <"$DOCUMENTS/map")" 2 "users in the namespace"
    same "$(awk '{ print $1 == $2, $3 }' "$DOCUMENTS/map" | sort -u)" "1 1" "each is itself, and alone"
    # Rights on the host: none, such as that to set its name in a namespace that is not its own.
    appcontainer run "$DEVICE" "$APP" --confine -- sh -c 'readlink /proc/self/ns/user' >said
    [ "$(cat said)" != "$(readlink /proc/self/ns/user)" ] || fail "it is in the host's user namespace"
}

case_a_crafted_elf_file_is_refused_in_a_line() {
    start
    local status kind
    for kind in $(/usr/bin/python3 "$HERE/crafted_elf.py" kinds); do
        /usr/bin/python3 "$HERE/crafted_elf.py" make "$kind" "$DOCUMENTS/program"
        status=0
        timeout 60 appcontainer run "$DEVICE" "$APP" --confine -- Documents/program 2>said || status=$?
        same "$status" 126 "the exit status for $kind"
        same "$(wc -l <said)" 1 "lines for $kind: $(head -c 500 said)"
    done
    # Much to do, and nothing wrong: it is the kernel's to say that it is no program.
    /usr/bin/python3 "$HERE/crafted_elf.py" make_long "$DOCUMENTS/program"
    status=0
    timeout 20 appcontainer run "$DEVICE" "$APP" --confine -- Documents/program 2>said || status=$?
    [ "$status" -gt 125 ] || fail "the exit status: $status"
    same "$(running)" "" "running apps"
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
