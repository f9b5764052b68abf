# The disk that holds a device loses its power, over and over, while several writers are at work.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

rootcase_fsynced_content_is_there_after_a_power_cut() {
    DEVICE=$HOSTS/disk/${WORK##*/}-device
    start
    within /usr/bin/python3 "$HERE/power.py" "$DEVICE" "$APP" "$MOUNT" \
        "$HOSTS/xfs/disk.image" "$HOSTS/xfs/${WORK##*/}-cut.image" "$(rounds power_cuts)" "$RANDOM" 9>&-
    whole
    stop
}
