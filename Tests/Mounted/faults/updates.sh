# The process of a device is killed, or the power of its disk is cut, while an app is updated or installed.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

# Two versions with some two hundred files.
two_versions() {
    for version in one two; do
        mkdir -p "$WORK/$version"
        cp -R "$BASE/Notes.app" "$WORK/$version/Notes.app"
        chmod -R u+w "$WORK/$version"
        echo "$version" >"$WORK/$version/Notes.app/version"
        for number in $(seq 200); do echo "$version $number" >"$WORK/$version/Notes.app/Samples/$number"; done
    done
}
oncecase_killed_while_it_updates_the_old_app_or_the_new_one_stands() {
    two_versions
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" one/Notes.app
    within /usr/bin/python3 "$HERE/updates.py" kill "$DEVICE" "$MOUNT" "$(rounds kills_in_updates)" "$RANDOM" one/Notes.app two/Notes.app 9>&-
}
oncecase_killed_while_it_installs_the_app_is_there_or_it_is_not() {
    two_versions
    appcontainer create "$DEVICE"
    within /usr/bin/python3 "$HERE/updates.py" kill_install "$DEVICE" "$(rounds kills_in_updates)" "$RANDOM" one/Notes.app 9>&-
}
rootoncecase_a_power_cut_in_an_update_leaves_the_old_app_or_the_new_one() {
    DEVICE=$HOSTS/disk/${WORK##*/}-device
    two_versions
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" one/Notes.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    within /usr/bin/python3 "$HERE/updates.py" power "$DEVICE" "$MOUNT" "$HOSTS/xfs/disk.image" \
        "$HOSTS/xfs/${WORK##*/}-cut.image" "$(rounds power_cuts_in_updates)" "$RANDOM" one/Notes.app two/Notes.app 9>&-
    whole
    stop
}
