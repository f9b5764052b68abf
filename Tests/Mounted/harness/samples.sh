# The tests of a package that uses this one, as `swift test` runs them: Tests/Samples.
# shellcheck shell=bash disable=SC2164,SC2012

# samples NAME…: runs the tests whose names contain one of these. The runner has built them.
samples() {
    local name status=0 runtime
    local -a filters=()
    for name in "$@"; do filters+=(--filter "$name"); done
    mkdir -m 700 "$WORK/tmp"
    runtime=$(if [ "$(id -u)" = 0 ]; then echo /run/appcontainer; else echo "/tmp/appcontainer-$(id -u)"; fi)
    # The process of a device makes it as well.
    [ -d "$runtime" ] || mkdir -m 700 "$runtime"
    ls "$runtime" | sort >"$WORK/before"
    cd "$BASE/samples"
    APPCONTAINER=$BASE/appcontainer TMPDIR=$WORK/tmp timeout 240 \
        ./tests --testing-library swift-testing "${filters[@]}" >"$WORK/output" 2>&1 || status=$?
    [ $status = 0 ] || fail "exit status $status: $(grep -E '^. .*(recorded|failed)' "$WORK/output" | head -n 20)"
    contains "$(tail -n 1 "$WORK/output")" "passed after"
    same "$(ls -A "$WORK/tmp")" "" "what is left in the temporary directory"
    if grep -F "$WORK/" /proc/self/mountinfo; then fail "a mount is left"; fi
    # Beside those of other devices, which their processes listen on.
    ls "$runtime" | sort | comm -13 "$WORK/before" - | while read -r name; do
        grep -qF "$runtime/${name%%.sock*}.sock" /proc/net/unix || fail "$runtime/$name is left"
    done
}

case_the_samples_pass_and_leave_nothing() { samples SampleTests; }

case_the_tutorial_does_what_it_says() { samples TutorialTests; }

# All of them in parallel, as far as the library lets them.
oncecase_two_hundred_tests_have_a_device_each() {
    samples ReachTests
    grep -qE 'with 200 test cases passed' "$WORK/output"
}
