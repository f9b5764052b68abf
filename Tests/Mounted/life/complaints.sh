# Impossible requests get one line on standard error and an exit code of their own, and nothing is lost by it.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_no_device_and_not_a_device() {
    mkdir empty "$MOUNT"
    echo x >file
    for command in status apps check shutdown erase delete; do
        complains 3 appcontainer $command "$WORK/missing"
        complains 4 appcontainer $command "$WORK/empty"
    done
    complains 3 appcontainer mount "$WORK/missing" "$APP" "$MOUNT"
    complains 4 appcontainer mount "$WORK/empty" "$APP" "$MOUNT"
    complains 4 appcontainer install "$WORK/file" "$BASE/Notes.app"
    same "$(ls -A empty)" "" "left behind"
    appcontainer create "$DEVICE"
    complains 7 appcontainer create "$DEVICE"
    complains "7|4" appcontainer create "$WORK/file"
    mkdir full
    touch full/something
    complains "7|4" appcontainer create full
    complains "3|10|26" appcontainer create "$WORK/missing/device"
}

case_a_device_of_a_newer_format() {
    appcontainer create "$DEVICE"
    appcontainer shutdown "$DEVICE"
    /usr/bin/python3 "$HERE/newer_format.py" "$DEVICE/Device.json"
    for command in status apps check erase; do complains 5 appcontainer $command "$DEVICE"; done
}

case_mount_points() {
    start
    mkdir other
    echo x >file
    complains 11 appcontainer mount "$DEVICE" "$APP" "$WORK/other"
    grep -qF "$MOUNT" .err || fail "the first mount is not named: $(cat .err)"
    complains 11 appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    appcontainer unmount "$MOUNT"
    complains 10 appcontainer mount "$DEVICE" "$APP" "$WORK/missing"
    complains 10 appcontainer mount "$DEVICE" "$APP" "$WORK/file"
    complains 25 appcontainer unmount "$MOUNT"
    complains 25 appcontainer unmount "$WORK/other"
    complains "25|26|10" appcontainer unmount "$WORK/missing"
    complains 12 appcontainer mount "$DEVICE" com.example.Nothing "$MOUNT"
    complains 14 appcontainer mount "$DEVICE" ../escape "$MOUNT"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}

case_a_mount_does_not_hide_a_device() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer create other
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    ln -s device/Containers link
    for place in "$DEVICE" device device/ device/Containers link . .. other other/Staging "" \
        "$(dirname "$(control_socket)")" /proc/self/fdinfo; do
        complains 10 appcontainer mount "$DEVICE" "$APP" "$place"
    done
    complains 25 appcontainer unmount ""
    complains 3 appcontainer status ""
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}

case_settings_that_no_device_can_have() {
    for setting in --kdf-cost=0 --kdf-cost=21 --lock-grace=-1 --lock-grace=86401 --lock-grace=nan; do
        complains 64 appcontainer create "$DEVICE" "$setting"
        absent "$DEVICE"
    done
}

case_nothing_is_copied_into_itself() {
    start
    ln -s . here
    echo x >file
    for path in . .. here "$DEVICE" "$DEVICE/Staging"; do
        complains 36 timeout 20 appcontainer deliver "$DEVICE" "$APP" "$path"
        contains "$(cat .err)" "into itself"
    done
    complains 26 appcontainer deliver "$DEVICE" "$APP" ""
    absent "$DOCUMENTS/Inbox"
    echo x >"$DOCUMENTS/f"
    appcontainer deliver "$DEVICE" "$APP" "$MOUNT"
    same "$(cat "$DOCUMENTS/Inbox/home/Documents/f")" x "delivered from the home itself"
    stop
    for new in "$DEVICE/copy" "$DEVICE/Containers/copy" device/Staging/../copy; do
        complains 7 timeout 20 appcontainer clone "$DEVICE" "$new"
        complains 7 timeout 20 appcontainer create "$new"
    done
    same "$(find "$DEVICE" -name '*copy*')" "" "left behind"
    whole
}

case_apps_that_cannot_be_installed() {
    appcontainer create "$DEVICE"
    mkdir NoInfo.app
    complains 13 appcontainer install "$DEVICE" NoInfo.app
    cp -R "$BASE/Notes.app" Broken.app
    chmod -R u+w Broken.app
    echo 'not a property list' >Broken.app/Info.plist
    complains 13 appcontainer install "$DEVICE" Broken.app
    printf '<?xml version="1.0"?><plist version="1.0"><dict><key>CFBundleName</key><string>x</string></dict></plist>' >Broken.app/Info.plist
    complains 13 appcontainer install "$DEVICE" Broken.app
    for identifier in ../../escape a/b .. . '' 'a..b' '-rf' 'with space' 'ümlaut'; do
        sed "s|com\.example\.Notes|$identifier|" "$BASE/Notes.app/Info.plist" >Broken.app/Info.plist
        complains "13|14" appcontainer install "$DEVICE" Broken.app
    done
    for group in ../escape a/b .. 'a..b'; do
        complains 14 appcontainer install "$DEVICE" "$BASE/Notes.app" --group "$group"
        complains 14 appcontainer install "$DEVICE" "$BASE/Notes.app" --icloud "$group"
    done
    complains "13|26" appcontainer install "$DEVICE" "$WORK/missing.app"
    echo x >file.app
    complains 13 appcontainer install "$DEVICE" file.app
    cp -R "$BASE/Notes.app" Leak.app
    ln -s ../../../../etc/passwd Leak.app/leak
    complains 13 appcontainer install "$DEVICE" Leak.app
    cp -R "$BASE/Notes.app" Fifo.app
    mkfifo Fifo.app/fifo
    complains 13 appcontainer install "$DEVICE" Fifo.app
    same "$(apps "$DEVICE")" 0 "apps"
    same "$(find "$DEVICE/Containers" -mindepth 3 2>/dev/null | head)" "" "left behind"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    complains 12 appcontainer entitle "$DEVICE" com.example.Nothing --group group.x
    complains 14 appcontainer entitle "$DEVICE" "$APP" --group ../x
}

case_wrong_usage_is_64() {
    appcontainer create "$DEVICE"
    mkdir -p "$MOUNT"
    for line in "" "nonsense" "mount" "mount $DEVICE" "create" "create $DEVICE --nonsense" "install $DEVICE" \
        "path $DEVICE" "unmount" "status $DEVICE extra" "nonsense --help" "help nonsense"; do
        read -ra words <<<"$line"
        status=0
        appcontainer "${words[@]}" >out 2>err </dev/null || status=$?
        # Without a command at all, help is an answer too.
        [ $status = 64 ] || { [ -z "$line" ] && [ $status = 0 ]; } || fail "exit status $status: appcontainer $line"
    done
    appcontainer --version | grep -qE '^[0-9]+\.[0-9]+'
    appcontainer --help | grep -q mount
    for command in create clone export import erase delete status shutdown install uninstall apps entitle reset mount unmount \
        unlock deliver path inspect check; do
        appcontainer help $command | grep -qi usage || fail "no help on $command"
    done
    for shell in bash zsh fish; do
        [ "$(appcontainer --generate-completion-script $shell | wc -l)" -gt 20 ] || fail "no completion for $shell"
    done
}

case_a_missing_file_or_daemon() {
    appcontainer create "$DEVICE"
    mkdir -p "$MOUNT"
    complains 26 appcontainer create "$WORK/second" --passcode-file "$WORK/missing"
    absent "$WORK/second"
    complains "25|26" appcontainer inspect "$WORK/missing"
    complains "25|26|27" appcontainer inspect /etc/hostname
    appcontainer shutdown "$DEVICE"
    appcontainer shutdown "$DEVICE"
}

case_a_device_whose_records_are_broken() {
    start
    stop
    cp -a "$DEVICE" "$WORK/broken"
    echo '{' >"$WORK/broken/Device.json"
    complains "4|22" appcontainer mount "$WORK/broken" "$APP" "$MOUNT"
    rm -r "$WORK/broken"
    cp -a "$DEVICE" "$WORK/broken"
    change_byte "$WORK/broken/Keybag" 40
    complains 22 appcontainer mount "$WORK/broken" "$APP" "$MOUNT"
    rm "$WORK/broken/Keybag"
    complains "4|22" appcontainer mount "$WORK/broken" "$APP" "$MOUNT"
    for missing in Containers Containers/Data Containers/Bundle/Application; do
        rm -r "$WORK/broken"
        cp -a "$DEVICE" "$WORK/broken"
        rm -r "$WORK/broken/${missing:?}"
        complains 22 appcontainer mount "$WORK/broken" "$APP" "$MOUNT"
        appcontainer shutdown "$WORK/broken"
    done
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}

rootcase_without_dev_fuse() {
    mkdir -p "$MOUNT" dev
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer shutdown "$DEVICE"
    status=0
    unshare -m bash -ec '
        mount -t tmpfs none dev
        for node in null:3 zero:5 random:8 urandom:9; do mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"; done
        mount --move dev /dev
        appcontainer mount "$0" "$1" "$2"' "$DEVICE" "$APP" "$MOUNT" >out 2>err </dev/null || status=$?
    same $status 15 "exit status ($(cat err))"
    same "$(wc -l <err)" 1 "lines on standard error"
    contains "$(cat err)" /dev/fuse
    appcontainer shutdown "$DEVICE"
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}

# The machine's offer to an ordinary user is changed for that one command only, in a mount namespace of its own.
as_user_with() {
    local over=$1 file=$2
    shift 2
    unshare -m bash -ec 'mount --bind "$0" "$1"; shift; exec runuser -u "$TEST_USER" -- "$@"' "$over" "$file" "$@"
}

# A device of the ordinary user.
users_device() {
    chmod 711 "$WORK"
    mkdir -p users "$WORK/users/home"
    chown -R "$TEST_USER" users
    runuser -u "$TEST_USER" -- appcontainer create "$WORK/users/device"
    runuser -u "$TEST_USER" -- appcontainer install "$WORK/users/device" "$BASE/Notes.app"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$WORK/users/device"
}

rootcase_a_users_device_is_refused_to_root_until_the_user_is_named() {
    users_device
    for command in status apps check shutdown "install $BASE/Notes.app" "mount $APP $WORK/users/home" delete; do
        read -ra words <<<"$command"
        complains 52 appcontainer "${words[0]}" "$WORK/users/device" "${words[@]:1}"
        contains "$(cat .err)" "--trust-owner $TEST_USER"
    done
    # Nor does sudo's word for its caller count.
    complains 52 env SUDO_UID="$(id -u "$TEST_USER")" appcontainer status "$WORK/users/device"
    complains 52 appcontainer status --trust-owner nobody "$WORK/users/device"
    complains 26 appcontainer status --trust-owner no-such-user "$WORK/users/device"
    contains "$(appcontainer status --trust-owner "$TEST_USER" "$WORK/users/device")" "off"
    contains "$(APPCONTAINER_TRUST_OWNER=$(id -u "$TEST_USER") appcontainer status "$WORK/users/device")" "off"
}

case_every_command_that_takes_a_device_takes_the_name_of_its_owner() {
    local command
    for command in $(appcontainer --help | sed -n '/SUBCOMMANDS/,$s/^  \([a-z][a-z]*\) .*/\1/p'); do
        case $command in
        # It gets no arguments: the variable names the owner.
        own) continue ;;
        # They make their devices themselves.
        import | volumes) continue ;;
        esac
        contains "$(appcontainer "$command" --help)" "--trust-owner <user>"
    done
}

rootcase_root_seals_no_app_that_another_users_link_leads_to() {
    mkdir -p users own
    cp -R "$BASE/Notes.app" own/Notes.app
    rm -rf own/Notes.app/_CodeSignature
    ln -s "$PWD/own/Notes.app" users/Notes.app
    ln -s "$PWD/own" users/own
    ln -s "$PWD/own/Notes.app" own/Link.app
    chown -hR "$TEST_USER" users
    appcontainer identity Developer
    for app in users/Notes.app users/own/Notes.app; do
        for command in "seal --identity Developer" verify; do
            # shellcheck disable=SC2086  # the words of a command line
            complains 52 appcontainer $command "$app"
            contains "$(cat .err)" "a link of another user is on the way to $app"
        done
    done
    absent own/Notes.app/_CodeSignature
    appcontainer seal own/Link.app --identity Developer
    appcontainer verify own/Notes.app
}

rootcase_a_users_device_stays_the_users_when_root_has_served_it() {
    users_device
    export APPCONTAINER_TRUST_OWNER=$TEST_USER
    appcontainer mount "$WORK/users/device" "$APP" "$WORK/users/home"
    appcontainer unmount "$WORK/users/home"
    appcontainer shutdown "$WORK/users/device"
    same "$(find "$WORK/users/device" ! -user "$TEST_USER")" "" "files of others"
    runuser -u "$TEST_USER" -- appcontainer mount "$WORK/users/device" "$APP" "$WORK/users/home"
    runuser -u "$TEST_USER" -- appcontainer unmount "$WORK/users/home"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$WORK/users/device"
}

rootcase_a_users_device_that_root_serves_is_not_said_to_be_off() {
    users_device
    export APPCONTAINER_TRUST_OWNER=$TEST_USER
    appcontainer mount "$WORK/users/device" "$APP" "$WORK/users/home"
    as_user() { runuser -u "$TEST_USER" -- appcontainer "$@"; }
    pid=$(appcontainer status --json "$WORK/users/device" | json daemon pid)
    same "$(as_user status --json "$WORK/users/device" | json state)" unknown state
    same "$(as_user status --json "$WORK/users/device" | json daemon pid)" "$pid" "the process"
    contains "$(as_user status "$WORK/users/device")" "another user"
    for command in shutdown check erase delete "clone $WORK/users/copy" "mount $APP $WORK/users/home" \
        "install $BASE/Notes.app"; do
        read -ra words <<<"$command"
        complains 23 timeout 20 runuser -u "$TEST_USER" -- \
            appcontainer "${words[0]}" "$WORK/users/device" "${words[@]:1}"
        contains "$(cat .err)" "process $pid of root"
    done
    for command in unmount inspect; do
        complains 23 as_user "$command" "$WORK/users/home"
        contains "$(cat .err)" "process $pid of root"
    done
    kill -9 "$pid"
    while [ -e "/proc/$pid" ]; do sleep 0.05; done
    same "$(as_user status --json "$WORK/users/device" | json state)" off "the state after a kill"
    appcontainer shutdown "$WORK/users/device"
    same "$(find "$WORK/users/device" ! -user "$TEST_USER")" "" "files of others"
    as_user mount "$WORK/users/device" "$APP" "$WORK/users/home"
    as_user unmount "$WORK/users/home"
    as_user shutdown "$WORK/users/device"
}

rootcase_without_fusermount3() {
    users_device
    touch nothing
    complains 15 as_user_with "$WORK/nothing" "$(command -v fusermount3)" \
        appcontainer mount "$WORK/users/device" "$APP" "$WORK/users/home"
    grep -q fusermount3 .err || fail "it is not named: $(cat .err)"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$WORK/users/device"
}

rootcase_without_the_list_of_mounts_that_fusermount3_reads() {
    users_device
    cp -a /etc etc
    rm -f etc/mtab
    complains 16 as_user_with "$WORK/etc" /etc \
        appcontainer mount "$WORK/users/device" "$APP" "$WORK/users/home"
    grep -q 'ln -s /proc/self/mounts /etc/mtab' .err || fail "no word of what to do: $(cat .err)"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$WORK/users/device"
}

rootcase_without_user_allow_other() {
    users_device
    echo '# nothing is allowed' >fuse.conf
    chmod 644 fuse.conf
    [ -e /etc/fuse.conf ] || fail "there is no /etc/fuse.conf: Debian's fuse3 brings it"
    complains 16 as_user_with "$WORK/fuse.conf" /etc/fuse.conf \
        appcontainer mount "$WORK/users/device" "$APP" "$WORK/users/home" --allow-other
    grep -q user_allow_other .err || fail "it is not named: $(cat .err)"
    runuser -u "$TEST_USER" -- appcontainer shutdown "$WORK/users/device"
}

usercase_little_lockable_memory_is_a_warning() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer shutdown "$DEVICE"
    # io_uring needs such memory too, so a mount that may choose takes /dev/fuse.
    local turn=$APPCONTAINER_TRANSPORT
    unset APPCONTAINER_TRANSPORT
    if [ "$turn" = io-uring ]; then
        local status=0
        (ulimit -l 0; appcontainer mount "$DEVICE" "$APP" "$MOUNT" --transport io-uring) 2>err || status=$?
        same "$status" 16 "exit code"
        # Behind the warning of below.
        same "$(wc -l <err)" 2 "lines on standard error"
        grep -q 'raise the limit of locked memory (ulimit -l)' err || fail "the remedy is not told: $(cat err)"
        appcontainer shutdown "$DEVICE"
    fi
    (ulimit -l 0; appcontainer mount "$DEVICE" "$APP" "$MOUNT") 2>err
    same "$(appcontainer status "$DEVICE" --json | json mounts 0 transport)" dev-fuse transport
    same "$(wc -l <err)" 1 "lines on standard error"
    grep -q '^appcontainer: warning: memlock' err || fail "no warning: $(cat err)"
    same "$(ulimit -l 0; appcontainer check "$DEVICE" 2>&1)" whole "where the daemon runs already"
    echo x >"$DOCUMENTS/f"
    same "$(cat "$DOCUMENTS/f")" x content
    grep -qi memlock "$DEVICE/daemon.log" || fail "no warning in the log"
}

rootcase_another_users_device() {
    start
    stop
    chmod 711 "$WORK"
    complains "4|9|23|3" runuser -u "$TEST_USER" -- appcontainer status "$DEVICE"
    complains "4|9|23|3" runuser -u "$TEST_USER" -- appcontainer mount "$DEVICE" "$APP" "$MOUNT"
}
