# Completion by the shells' own machinery: bash, zsh and fish.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

oncecase_shells_complete_apps_mounts_and_closed_lists() {
    local shell
    mkdir "$WORK/bin" "$WORK/scripts" "$WORK/my homes" "$WORK/my homes/one & only"
    ln -s "$(command -v appcontainer)" "$WORK/bin/appcontainer"
    for shell in bash zsh fish; do
        command -v $shell >/dev/null || fail "there is no $shell; these tests need it (scripts/prepare)"
        appcontainer --generate-completion-script $shell >"$WORK/scripts/$shell"
    done
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" "$BASE/Notes.app" --group group.com.example.shared
    make_app com.example.Mail Mail
    appcontainer install "$DEVICE" "$WORK/Mail.app"
    cp -a "$DEVICE" "$WORK/my phone"
    appcontainer mount "$DEVICE" "$APP" "$WORK/my homes/one & only"
    within /usr/bin/python3 "$HERE/completion.py" "$WORK"
    # The device that was only looked at is off still.
    contains "$(appcontainer status "$WORK/my phone")" "Daemon:     none"
    appcontainer unmount "$WORK/my homes/one & only"
}
