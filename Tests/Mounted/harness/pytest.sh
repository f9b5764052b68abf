# The Python package: installed as a user installs it, its types, its own tests, and what is left when it is killed.
# shellcheck shell=bash disable=SC2164,SC2016,SC2154

# A place to install into that has pytest, and nothing of the network.
python_place() {
    cp -R "$BASE/checkout" "$WORK/checkout"
    package=$WORK/checkout/Sources/Client/pytest-appcontainer
    /usr/bin/python3 -m venv --without-pip "$WORK/venv"
    # The tools' own packages are seen from there.
    echo "$PYTHON_TOOLS"/lib/python3*/site-packages >"$(echo "$WORK"/venv/lib/python3*/site-packages)/tools.pth"
    "$PYTHON_TOOLS/bin/python" -m pip --python "$WORK/venv/bin/python" install -q --disable-pip-version-check \
        --no-build-isolation --no-deps "$package"
    export APPCONTAINER=$BASE/appcontainer TMPDIR=$WORK/tmp PYTHONDONTWRITEBYTECODE=1
    mkdir "$TMPDIR"
    # Tests are run on what was installed, and not on what lies beside them.
    rm -r "$package/pytest_appcontainer"
}

oncecase_the_python_package_passes_its_tests() {
    python_place
    cd "$package"
    "$WORK/venv/bin/python" -m pytest -q -p no:cacheprovider --durations=5
    same "$(find "$TMPDIR" -maxdepth 1 -name 'appcontainer-*')" "" "devices that are left"
}

oncecase_the_python_package_needs_no_pytest_but_for_its_fixture() {
    python_place
    rm "$WORK"/venv/lib/python3*/site-packages/tools.pth
    "$WORK/venv/bin/python" "$HERE/without_pytest.py" own "$BASE/Notes.app"
    start_unmounted
    "$WORK/venv/bin/python" "$HERE/without_pytest.py" boot "$DEVICE"
}

# The library says in one line what the machine lacks.
rootoncecase_a_test_in_python_is_told_what_the_machine_lacks() {
    python_place
    mkdir tests dev
    cp -R "$BASE/Notes.app" tests/
    printf '[pytest]\nappcontainer_app = Notes.app\n' >tests/pytest.ini
    echo 'def test_it(app_container): pass' >tests/test_it.py
    local -a pytest=("$WORK/venv/bin/python" -m pytest -q -p no:cacheprovider tests)
    unshare -m bash -ec '
        mount -t tmpfs none dev
        for node in null:3 zero:5 random:8 urandom:9; do mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"; done
        mount --move dev /dev
        ! "$@"' - "${pytest[@]}" >out </dev/null
    same "$(grep -c '^app_container: .*/dev/fuse' out)" 1 "$(cat out)"
    mkdir -p /run/appcontainer
    unshare -m bash -ec '
        mount -t tmpfs -o mode=700 none /run/appcontainer
        ! setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@"
        find /run/appcontainer -mindepth 1 -printf "left: %p\n"' - "${pytest[@]}" >out </dev/null
    same "$(grep -c '^app_container: this process may not mount' out)" 1 "$(cat out)"
    same "$(grep '^left:' out; ls -A "$TMPDIR")" "" "what is left"
}

# A filesystem that is full fails a test before it begins, in one line, and another beside it takes what pytest asks for.
rootoncecase_a_test_in_python_is_told_that_there_is_no_space() {
    python_place
    mkdir tests full
    cp -R "$BASE/Notes.app" tests/
    printf '[pytest]\nappcontainer_app = Notes.app\nappcontainer_directory = ../full\n' >tests/pytest.ini
    echo 'def test_it(app_container): pass' >tests/test_it.py
    local -a pytest=("$WORK/venv/bin/python" -m pytest -q -p no:cacheprovider tests)
    unshare -m bash -ec '
        mount -t tmpfs -o size=64k none full
        head -c 65536 /dev/zero >full/filling || :
        ! "$@"
        echo "left: $(ls full)"
        # pytest looks for another place by itself.
        TMPDIR=$PWD/full "$@" -o appcontainer_directory=
        TMPDIR=$PWD/none "$@" -o appcontainer_directory=' - "${pytest[@]}" >out 2>&1 </dev/null || fail "$(cat out)"
    same "$(grep -c '^app_container: .* the host filesystem is full; ' out)" 1 "$(cat out)"
    same "$(grep '^left:' out)" "left: filling" "what is left"
    same "$(grep -c '^1 passed' out)" 2 "$(cat out)"
}

# Types are the same whoever looks at them.
rootoncecase_the_python_package_is_typed() {
    cp -R "$BASE/checkout" "$WORK/checkout"
    cd "$WORK/checkout/Sources/Client/pytest-appcontainer"
    "$PYTHON_TOOLS/bin/mypy" --strict --cache-dir "$WORK/cache" --python-version 3.9
}

rootcase_the_python_package_has_all_that_the_control_api_has() {
    PYTHONPATH=$PYTHONPATH:$BASE/checkout/Sources/Client/pytest-appcontainer /usr/bin/python3 -B \
        "$HERE/python_package.py" "$BASE/openapi.yaml"
}
