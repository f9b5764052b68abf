# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# Apps in the background and suspended: how cases bring them there, and what they look at.

GROUP=group.com.example.notes

# A device with the app in a group, mounted.
grouped() { start --group "$GROUP"; }
app_state() { appcontainer apps "$DEVICE" --json | json 0 state; }
suspended() { [ "$(app_state)" = suspended ]; }
in_background() { [ "$(app_state)" = background ]; }
in_foreground() { [ "$(app_state)" = foreground ]; }
# A program that counts its steps into a file, in `runner`.
stepping() {
    appcontainer run "$DEVICE" "$APP" -- \
        sh -c 'n=0; while :; do n=$((n + 1)); echo $n >Documents/steps; sleep 0.01; done' &
    runner=$!
    eventually test -s "$DOCUMENTS/steps"
}
# Whether a file keeps its length and content for a while.
stands_still() {
    local before
    before=$(stat -c %s "$1"; cat "$1")
    sleep 0.4
    same "$(stat -c %s "$1"; cat "$1")" "$before" "$1, of an app that is suspended"
}
moves() {
    local before
    before=$(cat "$1")
    sleep 0.05
    [ "$(cat "$1")" != "$before" ]
}
# The names of events, with their states and reasons, in one line.
lifecycle() {
    appcontainer events "$DEVICE" | json_lines event state reason |
        grep -E '^(entered|expiring|suspended|resumed|terminated)' | sed 's/ null//g' | paste -sd, -
}
# Whether a control group freezes: where root may make one.
by_freezer() { [ "$(id -u)" = 0 ] && grep -q ' - cgroup2 ' /proc/self/mountinfo; }
# begin-background-task or end-background-task, with a body.
task() { curl -sS --unix-socket "$(control_socket)" "http://device/v1/$1-background-task" --json "$2"; }
