# The tests of a package that uses this one, as `swift test` runs them: Tests/Samples.
# shellcheck shell=bash disable=SC2164,SC2317

# A runtime directory of its own: daemons of other turns, which are killed, leave their files in the common one.
# in_runtime COMMAND…: root's is at a fixed place, so he gets a mount namespace with it there.
in_runtime() {
    if [ "$(id -u)" != 0 ]; then
        XDG_RUNTIME_DIR=$RUNTIME "$@"
        return
    fi
    [ -d /run/appcontainer ] || mkdir -m 700 /run/appcontainer
    # shellcheck disable=SC2016  # the inner shell expands it
    unshare --mount --propagation slave bash -c '
        mount --bind "$1" /run/appcontainer
        shift
        "$@" || exit
        ! grep -F "$WORK/" /proc/self/mountinfo' - "$RUNTIME/appcontainer" "$@"
}

undo() {
    local device
    for device in "$WORK"/tmp/*/Device.json "$WORK"/tmp/*/*/Device.json; do
        [ ! -e "$device" ] || in_runtime timeout 20 appcontainer shutdown "${device%/*}" || :
    done
    rm -rf --one-file-system "$RUNTIME"
}

# samples NAME…: runs the tests whose names contain one of these. The runner has built them.
samples() {
    local name status=0
    local -a filters=()
    for name in "$@"; do filters+=(--filter "$name"); done
    mkdir -m 700 "$WORK/tmp"
    RUNTIME=$(mktemp -d /tmp/samples.XXXXXX)
    mkdir -m 700 "$RUNTIME/appcontainer"
    cd "$BASE/samples"
    APPCONTAINER=$BASE/appcontainer TMPDIR=$WORK/tmp in_runtime timeout 240 \
        ./tests --testing-library swift-testing "${filters[@]}" >"$WORK/output" 2>&1 || status=$?
    [ $status = 0 ] || fail "exit status $status: $(grep -E '^. .*(recorded|failed)|/mountinfo|^[0-9]+ ' "$WORK/output" | head -n 20)"
    grep -q '^. Test run .* passed after' "$WORK/output" || fail "no word of passing: $(tail -n 3 "$WORK/output")"
    same "$(ls -A "$WORK/tmp")" "" "what is left in the temporary directory"
    if grep -F "$WORK/" /proc/self/mountinfo; then fail "a mount is left"; fi
    same "$(find "$RUNTIME/appcontainer" -mindepth 1 -printf "%P %T+ ")" "" "what is left in the runtime directory"
}

case_the_samples_pass_and_leave_nothing() { samples SampleTests; }

case_the_tutorial_does_what_it_says() { samples TutorialTests; }

# All of them in parallel, as far as the library lets them.
oncecase_two_hundred_tests_have_a_device_each() {
    samples ReachTests
    grep -qE 'with 200 test cases passed' "$WORK/output"
}
