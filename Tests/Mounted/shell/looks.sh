# The looks of what commands print: on a terminal, and nowhere else.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

case_colour_is_on_terminals_alone() {
    start
    ! mkdir "$MOUNT/refused" 2>/dev/null || fail "mkdir was not refused"
    within /usr/bin/python3 "$HERE/looks.py" "$DEVICE"
}
