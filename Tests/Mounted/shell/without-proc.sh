# A machine that shows no /proc: chroots and containers that forgot it.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# without_proc COMMAND…: in a mount namespace whose /proc is empty.
without_proc() { unshare --mount sh -c 'mount --bind "$0" /proc && exec "$@"' "$WORK/empty" "$@"; }
# The same for a /proc that is not there at all.
unmounted_proc() { unshare --mount sh -c 'umount --lazy /proc && exec "$@"' sh "$@"; }

rootoncecase_without_proc_every_command_says_so() {
    mkdir "$WORK/empty"
    start_unmounted
    local view command
    for view in without_proc unmounted_proc; do
        # Help and the version need nothing of it, and arguments are understood.
        same "$($view appcontainer --version)" "$(appcontainer --version)" "the version"
        same "$($view appcontainer --help)" "$(appcontainer --help)" "the help"
        same "$($view appcontainer help mount)" "$(appcontainer help mount)" "a command's help"
        same "$($view appcontainer mount --help)" "$(appcontainer mount --help)" "a command's help"
        complains 64 $view appcontainer statsu
        contains "$(cat "$WORK/.err")" "did you mean status?"
        complains 64 $view appcontainer status --jsn "$DEVICE"
        complains 64 $view appcontainer status
        for command in "status $DEVICE" "apps $DEVICE" "boot $DEVICE" "create $WORK/new" "delete $DEVICE" list \
            "mount $DEVICE $APP $MOUNT" "unmount $MOUNT" "shutdown $DEVICE" "check $DEVICE" "verify $BASE/Notes.app" \
            "status $DEVICE --json"; do
            # shellcheck disable=SC2086  # words
            complains 55 $view appcontainer $command
            contains "$(cat "$WORK/.err")" "there is no /proc"
        done
        absent "$WORK/new"
        ln -sf "$(command -v appcontainer)" "$WORK/mount.fuse.appcontainer"
        complains 2 $view "$WORK/mount.fuse.appcontainer" "$DEVICE:$APP" "$MOUNT"
        # A harness gets its answer in the form that it reads.
        same "$(echo "{\"device\": \"$WORK/new\", \"create\": {}}" | $view appcontainer own | json complaint kind)" procMissing own
        same "$(echo "{\"device\": \"$DEVICE\"}" | $view appcontainer own | json complaint kind)" procMissing own
        absent "$WORK/new"
        $view appcontainer --generate-completion-script bash | grep -q '^complete ' || fail "no completions"
    done
    whole
}
