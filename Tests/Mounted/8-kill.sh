# The daemon is killed, over and over, while several writers are at work.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_killed_again_and_again_no_block_is_torn_and_nothing_safe_is_lost() {
    start
    if [ "$(id -u)" = 0 ]; then kills=120; else kills=40; fi
    # Another seed at each run: a failure names its own.
    timeout 280 /usr/bin/python3 "$BASE/cases/kill.py" "$DEVICE" "$APP" "$MOUNT" "${KILLS:-$kills}" "$RANDOM" 9>&-
    whole
    stop
    same "$(grep -c "$DEVICE" /proc/self/mountinfo)" 0 "mounts that stay"
    # At rest every file is whole too, and nothing of the kills is left to be cleared.
    same "$(appcontainer check "$DEVICE")" whole "check after the shutdown"
}
