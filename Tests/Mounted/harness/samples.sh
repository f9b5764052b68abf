# The tests of a package that uses this one, as `swift test` runs them: Tests/Samples.
# shellcheck shell=bash disable=SC2164,SC2317

# samples NAME…: runs the tests whose names contain one of these. The runner has built them.
samples() {
    local name status=0
    local -a filters=() place=()
    for name in "$@"; do filters+=(--filter "$name"); done
    mkdir -m 700 "$WORK/tmp"
    # A runtime directory of its own: daemons of other turns, which are killed, leave their files in the common one.
    RUNTIME=$(mktemp -d /tmp/samples.XXXXXX)
    undo() { rm -rf --one-file-system "$RUNTIME"; }
    mkdir -m 700 "$RUNTIME/appcontainer"
    if [ "$(id -u)" = 0 ]; then
        [ -d /run/appcontainer ] || mkdir -m 700 /run/appcontainer
        # shellcheck disable=SC2016  # the inner shell expands it
        place=(unshare --mount --propagation slave bash -c '
            mount --bind "$1" /run/appcontainer
            shift
            "$@" || exit
            ! grep -F "$WORK/" /proc/self/mountinfo' - "$RUNTIME/appcontainer")
    fi
    cd "$BASE/samples"
    APPCONTAINER=$BASE/appcontainer TMPDIR=$WORK/tmp XDG_RUNTIME_DIR=$RUNTIME timeout 240 \
        "${place[@]}" ./tests --testing-library swift-testing "${filters[@]}" >"$WORK/output" 2>&1 || status=$?
    [ $status = 0 ] || fail "exit status $status: $(grep -E '^. .*(recorded|failed)|/mountinfo|^[0-9]+ ' "$WORK/output" | head -n 20)"
    grep -q '^. Test run .* passed after' "$WORK/output" || fail "no word of passing: $(tail -n 3 "$WORK/output")"
    same "$(ls -A "$WORK/tmp")" "" "what is left in the temporary directory"
    if grep -F "$WORK/" /proc/self/mountinfo; then fail "a mount is left"; fi
    same "$(ls -A "$RUNTIME/appcontainer")" "" "what is left in the runtime directory"
}

case_the_samples_pass_and_leave_nothing() { samples SampleTests; }

case_the_tutorial_does_what_it_says() { samples TutorialTests; }

# All of them in parallel, as far as the library lets them.
oncecase_two_hundred_tests_have_a_device_each() {
    samples ReachTests
    grep -qE 'with 200 test cases passed' "$WORK/output"
}
