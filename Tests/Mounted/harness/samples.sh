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

# tests ARGUMENT…: runs the test program, which the runner has built. Its output is in $WORK/output.
tests() {
    mkdir -m 700 "$WORK/tmp"
    RUNTIME=$(mktemp -d /tmp/samples.XXXXXX)
    mkdir -m 700 "$RUNTIME/appcontainer"
    cd "$BASE/samples"
    APPCONTAINER=$BASE/appcontainer TMPDIR=$WORK/tmp in_runtime timeout 240 ./tests "$@" >"$WORK/output" 2>&1
}

# samples NAME…: runs the tests of Swift Testing whose names contain one of these.
samples() {
    local name status=0
    local -a filters=()
    for name in "$@"; do filters+=(--filter "$name"); done
    tests --testing-library swift-testing "${filters[@]}" || status=$?
    [ $status = 0 ] || fail "exit status $status: $(grep -E '^. .*(recorded|failed)|/mountinfo|^[0-9]+ ' "$WORK/output" | head -n 20)"
    grep -q '^. Test run .* passed after' "$WORK/output" || fail "no word of passing: $(tail -n 3 "$WORK/output")"
    nothing_is_left
}

nothing_is_left() {
    same "$(ls -A "$WORK/tmp")" "" "what is left in the temporary directory"
    if grep -F "$WORK/" /proc/self/mountinfo; then fail "a mount is left"; fi
    same "$(find "$RUNTIME/appcontainer" -mindepth 1 -printf "%P %T+ ")" "" "what is left in the runtime directory"
}

case_the_samples_pass_and_leave_nothing() { samples SampleTests; }

case_a_test_case_of_xctest_uses_container_foundation() {
    local status=0
    tests SampleTests.DraftCase || status=$?
    [ $status = 0 ] || fail "exit status $status: $(grep -E 'error:|/mountinfo' "$WORK/output" | head -n 20)"
    grep -q 'Executed 3 tests, with 0 failures' "$WORK/output" || fail "no three tests: $(tail -n 3 "$WORK/output")"
    nothing_is_left
}

case_the_tutorial_does_what_it_says() { samples TutorialTests; }

# All of them in parallel, as far as the library lets them.
oncecase_two_hundred_tests_have_a_device_each() {
    samples ReachTests
    grep -qE 'with 200 test cases passed' "$WORK/output"
}
