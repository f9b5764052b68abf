# Volumes of container engines: the plugin's protocol, and Podman itself.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# A socket's path has at most 107 bytes, and Podman's directory fewer.
SHORT=$(mktemp -d /tmp/tmp.XXXXXX)
STATE=$SHORT/state TEMPLATES=$WORK/templates SECRETS=$WORK/secrets SOCKET=$SHORT/plugin.sock
export STATE TEMPLATES SECRETS SOCKET

# Of the plugin, of devices that outlive it, and of containers that a case has left.
undo() {
    local device
    release
    [ ! -e "$SHORT/podman" ] || engine rm -fa -t 0 >/dev/null 2>&1
    [ -z "${SERVER-}" ] || kill "$SERVER" 2>/dev/null
    [ -z "${SERVER-}" ] || wait "$SERVER" 2>/dev/null
    for device in "$STATE"/devices/* "$TEMPLATES"/*; do
        [ ! -e "$device/Device.json" ] || timeout 20 appcontainer shutdown "$device" >/dev/null 2>&1
    done
    [ ! -e "$SHORT/podman" ] || engine system reset -f >/dev/null 2>&1
    ! mountpoint -q "$STATE" || umount -l "$STATE"
    rm -rf --one-file-system "$SHORT"
}

# A template with a passcode and two apps that share a group, as a device and as a file; and its secret.
templates() {
    mkdir -p "$TEMPLATES" "$SECRETS" "$MOUNT"
    echo 271828 >"$SECRETS/code"
    chmod 600 "$SECRETS/code"
    appcontainer create "$TEMPLATES/phone" --passcode-file "$SECRETS/code" --kdf-cost 1
    make_app com.example.Other Other
    appcontainer install "$TEMPLATES/phone" "$BASE/Notes.app" --group group.com.example.shared
    appcontainer install "$TEMPLATES/phone" "$WORK/Other.app" --group group.com.example.shared
    appcontainer mount "$TEMPLATES/phone" "$APP" "$MOUNT" --passcode-file "$SECRETS/code"
    echo 'from the template' >"$DOCUMENTS/first"
    appcontainer protect complete "$DOCUMENTS/first"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$TEMPLATES/phone"
    appcontainer export "$TEMPLATES/phone" "$TEMPLATES/packed"
    echo 'no template' >"$TEMPLATES/broken"
}

# SERVE_IN: the words before the command, of a shell.
serve() {
    local -a before=()
    eval "before=(${SERVE_IN-})"
    "${before[@]}" appcontainer volumes serve --socket "$SOCKET" --templates "$TEMPLATES" --state "$STATE" --secrets "$SECRETS" \
        >"$WORK/served" 2>"$WORK/complaints" 9>&- &
    SERVER=$!
    eventually test -s "$WORK/served"
}
end_server() {
    kill "-${1:-TERM}" "$SERVER"
    wait "$SERVER" 2>/dev/null || true
    SERVER=''
    : >"$WORK/served"
}

plugin() { within /usr/bin/python3 "$HERE/plugin.py" "$@" 9>&-; }

# Nothing is left of any volume: no device, mount, process.
nothing_left() {
    same "$(find "$STATE/devices" "$STATE/mounts" "$STATE/volumes" -mindepth 1)" "" "left behind"
    same "$(grep -c "$STATE/mounts" /proc/self/mounts || true)" 0 "mounts"
    # The guard of a process ends a moment after it.
    eventually no_process
}
no_process() { ! pgrep -f "daemon $STATE/devices"; }

rootcase_an_engine_makes_uses_and_removes_volumes() {
    templates
    serve
    plugin "activates,makes_uses_and_removes,shares_a_device,handles_a_device,is_asked_twice_and_in_any_order,tells_mistakes"
    nothing_left
    end_server
    absent "$SOCKET"
}

# Stands for a container that has a volume: a mount namespace that shows it elsewhere.
HOLDERS=()
hold() {
    unshare -m --propagation private sh -c 'mount --bind "$1" /mnt && touch "$2" && exec sleep 1000' - \
        "$STATE/mounts/$1" "$WORK/held-$1" 9>&- &
    HOLDERS+=($!)
    eventually test -e "$WORK/held-$1"
}
release() {
    [ ${#HOLDERS[@]} != 0 ] || return 0
    kill "${HOLDERS[@]}" 2>/dev/null || true
    wait "${HOLDERS[@]}" 2>/dev/null || true
    HOLDERS=()
}

rootcase_mounts_outlive_the_plugin() {
    templates
    serve
    plugin makes_some
    hold first
    hold second
    end_server
    plugin some_are_used
    serve
    plugin some_are_known
    # Killed, it leaves its socket, which the next one replaces.
    end_server KILL
    plugin some_are_used
    serve
    plugin some_are_known
    complains 20 appcontainer volumes serve --socket "$WORK/other.sock" --templates "$TEMPLATES" --state "$STATE"
    release
    plugin some_end
    nothing_left
}

rootcase_uses_that_end_while_no_plugin_runs_are_not_kept() {
    templates
    serve
    plugin an_end_is_missed
    end_server
    serve
    plugin the_next_end_is_the_last
    nothing_left
}

rootcase_a_plugin_stays_out_of_directories_of_others() {
    templates
    local place complaint
    mkdir "$WORK/theirs" "$WORK/theirs/inner"
    chown 1 "$WORK/theirs"
    for place in state templates secrets; do
        complaint=$(fails timeout 10 appcontainer volumes serve --socket "$SOCKET" \
            --state "$([ $place = state ] && echo "$WORK/theirs/inner" || echo "$STATE")" \
            --templates "$([ $place = templates ] && echo "$WORK/theirs/inner" || echo "$TEMPLATES")" \
            --secrets "$([ $place = secrets ] && echo "$WORK/theirs/inner" || echo "$SECRETS")")
        contains "$complaint" "other users can rename what is in $WORK/theirs"
    done
    absent "$SOCKET"
}

rootcase_a_plugin_removes_nothing_but_its_own() {
    templates
    mkdir -m 700 "$WORK/used"
    echo mine >"$WORK/used/file"
    contains "$(fails timeout 10 appcontainer volumes serve --socket "$SOCKET" --templates "$TEMPLATES" --state "$WORK/used")" \
        "has other files"
    same "$(ls "$WORK/used")" file "the directory of somebody else"
    # Templates in the state would be removed as imports that no template names.
    serve
    end_server
    cp -a "$TEMPLATES/phone" "$STATE/templates/phone"
    contains "$(fails timeout 10 appcontainer volumes serve --socket "$SOCKET" --templates "$STATE/templates" --state "$STATE")" \
        "belongs to no volume"
    [ -d "$STATE/templates/phone" ] || fail "the templates are gone"
}

rootcase_a_plugin_removes_what_belongs_to_nobody() {
    templates
    serve
    plugin makes_some
    end_server
    # Of calls that were interrupted: a device without a record, a mount without a use, a record without a mount.
    appcontainer clone "$TEMPLATES/phone" "$STATE/devices/orphan"
    mkdir "$STATE/devices/.half.0F0F0F0F-0000-4000-8000-000000000000" "$STATE/mounts/orphan"
    appcontainer mount "$STATE/devices/orphan" "$APP" "$STATE/mounts/orphan"
    rm "$STATE/volumes/second.json"
    serve
    same "$(ls -A "$STATE/devices")" "first" "devices"
    same "$(ls "$STATE/mounts")" "first" "mounts"
    # The uses of an earlier boot of the host are none.
    end_server
    appcontainer shutdown "$STATE/devices/first"
    sed -i 's/"boot" : ".*"/"boot" : "another"/' "$STATE/volumes/first.json"
    serve
    same "$(ls "$STATE/mounts")" "" "mounts after a boot"
    # A record that cannot be read keeps all.
    end_server
    echo '{' >"$STATE/volumes/first.json"
    appcontainer clone "$TEMPLATES/phone" "$STATE/devices/orphan"
    serve
    same "$(ls "$STATE/devices")" "first"$'\n'"orphan" "devices"
    contains "$(cat "$WORK/complaints")" "cannot be read"
    plugin "a_damaged_volume_is_told"
}

rootoncecase_a_plugin_that_is_killed_leaves_volumes_whole() {
    templates
    serve
    local round
    for round in $(seq "$(rounds kills_of_plugins)"); do
        plugin storms "$round" &
        storm=$!
        sleep "0.$((RANDOM % 9))"
        end_server KILL
        wait "$storm" || true
        serve
    done
    plugin ends_all
    nothing_left
}

rootcase_a_node_without_fuse_tells_so_and_works_once_it_has_it() {
    templates
    # Its devices start in the same place.
    SERVE_IN="unshare -m --propagation private sh -c 'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 &&
        mknod -m 444 /dev/urandom c 1 9 && exec \"\$@\"' -" serve
    plugin a_mount_is_refused "/dev/fuse"
    same "$(ls -A "$STATE/mounts")" "" "mount points"
    eventually no_process
    end_server
    serve
    plugin the_same_mount_works
    nothing_left
}

rootcase_a_full_disk_in_the_middle_of_a_clone_leaves_nothing() {
    templates
    appcontainer mount "$TEMPLATES/phone" "$APP" "$MOUNT" --passcode-file "$SECRETS/code"
    head -c 24M /dev/urandom >"$DOCUMENTS/large"
    appcontainer unmount "$MOUNT"
    appcontainer shutdown "$TEMPLATES/phone"
    rm "$TEMPLATES/packed"
    appcontainer export "$TEMPLATES/phone" "$TEMPLATES/packed"
    mkdir "$STATE"
    mount -t tmpfs -o size=40M,mode=700 none "$STATE"
    serve
    head -c 20M /dev/zero >"$STATE/ballast"
    local template
    for template in phone packed; do
        plugin a_volume_is_refused "$template" "the host filesystem is full"
        same "$(find "$STATE/devices" "$STATE/volumes" "$STATE/templates" -mindepth 1)" "" "left behind"
    done
    rm "$STATE/ballast"
    plugin the_same_volume_is_made phone
    nothing_left
}

# MARK: Podman

# The engine with its own storage, and without what needs a host that lets it: limits of processes, a network, overlays.
engine() {
    CONTAINERS_CONF=$WORK/containers.conf timeout 120 podman --runtime runc --cgroup-manager cgroupfs --storage-driver vfs \
        --root "$SHORT/podman" --runroot "$SHORT/podman-run" --tmpdir "$SHORT/podman-tmp" "$@" 9>&-
}
# contained [OPTION…] -- COMMAND…: runs a command in a container that has the host's /usr.
contained() {
    local -a options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    engine run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v /usr:/usr:ro "${options[@]}" \
        localhost/empty "$@"
}
engine_with_plugin() {
    printf '[engine.volume_plugins]\nappcontainer = "%s"\n' "$SOCKET" >"$WORK/containers.conf"
    mkdir -p "$SHORT/podman" "$WORK/image"/{usr,etc,tmp,proc,sys,dev,data,control}
    (cd "$WORK/image" && for name in bin sbin lib lib64; do ln -s "usr/$name" $name; done)
    echo 'test:x:1234:1234::/:/bin/sh' >"$WORK/image/etc/passwd"
    tar -C "$WORK/image" -c . | engine import -q - localhost/empty
}

rootcase_podman_runs_containers_with_volumes() {
    templates
    serve
    engine_with_plugin
    engine volume create --driver appcontainer -o template=packed -o app="$APP" -o passcode-secret=code -o uid=1234 notes
    contains "$(fails engine volume create --driver appcontainer -o beside=notes -o uid=1234 other)" "does not go with"
    engine volume create --driver appcontainer -o beside=notes -o app=com.example.Other other
    engine volume create --driver appcontainer -o control-of=notes -o uid=1234 control
    same "$(engine volume inspect notes --format '{{.Driver}}')" appcontainer "the driver"
    # An unprivileged user in a container has an app's container of its own, with the rules of the device.
    contained --user 1234 -v notes:/data -- sh -euc '
        test "$(cat /data/Documents/first)" = "from the template"
        echo written >/data/Documents/second
        ! touch /data/Notes.app/x 2>/dev/null
        echo shared >/data/Groups/group.com.example.shared/note'
    # Two containers share a group by two volumes of one device.
    same "$(contained --user 1234 -v other:/data -- cat /data/Groups/group.com.example.shared/note)" shared "the group"
    # A container handles its own device: it locks, and its file is closed.
    contained --user 1234 -v notes:/data -v control:/control -- sh -euc '
        ask() { curl -sS --fail-with-body --unix-socket /control/control.sock "http://device/v1/$1" --json "$2"; }
        cat /data/Documents/first >/dev/null
        ask lock "{\"now\": true}"
        ! cat /data/Documents/first 2>/dev/null
        ask unlock "{\"passcode\": \"271828\"}"
        cat /data/Documents/first
        ask purge "{\"level\": \"critical\"}"
        for host in "install {\"path\": \"/usr\"}" "backup {\"output\": \"/tmp/x\"}" "shutdown {}" \
            "mount {\"app\": \"com.example.Notes\", \"mountPoint\": \"/tmp\"}"; do
            ! ask ${host%% *} "${host#* }"
        done'
    # No other user, not even in a container, gets in.
    ! contained --user 1235 -v control:/control -- curl -sS --unix-socket /control/control.sock http://device/v1/status ||
        fail "another user was let in"
    # Removed while a container has it, and after that.
    engine run -d --name holder --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v /usr:/usr:ro \
        -v notes:/data localhost/empty sleep 1000
    fails engine volume rm notes
    engine rm -f -t 0 holder
    fails engine volume rm notes
    engine volume rm control
    engine volume rm other
    engine volume rm notes
    nothing_left
}

rootcase_a_killed_container_and_a_killed_daemon_lose_nothing() {
    templates
    serve
    engine_with_plugin
    engine volume create --driver appcontainer -o template=phone -o app="$APP" -o passcode-secret=code notes
    engine run -d --name writer --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v /usr:/usr:ro \
        -v notes:/data localhost/empty sh -c 'echo kept >/data/Documents/kept; sync /data/Documents/kept; touch /data/Documents/done; exec sleep 1000'
    eventually test -e "$STATE/mounts/notes/Documents/done"
    engine kill writer
    engine rm -f -t 0 writer
    same "$(contained -v notes:/data -- cat /data/Documents/kept)" kept "after a killed container"
    engine run -d --name holder --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v /usr:/usr:ro \
        -v notes:/data localhost/empty sleep 1000
    kill -9 "$(appcontainer status "$STATE/devices/notes" --json | json daemon pid)"
    engine rm -f -t 0 holder
    same "$(contained -v notes:/data -- cat /data/Documents/kept)" kept "after a killed daemon"
    end_server
    serve
    same "$(contained -v notes:/data -- cat /data/Documents/kept)" kept "after a restart of the plugin"
    engine volume rm notes
    nothing_left
}
