# The Python package: installed as a user installs it, its types, its own tests, and what is left when it is killed.
# shellcheck shell=bash disable=SC2164,SC2154

# A place to install into that has pytest, and nothing of the network.
python_place() {
    cp -R "$BASE/checkout" "$WORK/checkout"
    package=$WORK/checkout/Sources/pytest-appcontainer
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

case_the_python_package_passes_its_tests() {
    python_place
    cd "$package"
    "$WORK/venv/bin/python" -m pytest -q -p no:cacheprovider --durations=5
    same "$(find "$TMPDIR" -maxdepth 1 -name 'appcontainer-*')" "" "devices that are left"
}

case_the_python_package_needs_no_pytest_but_for_its_fixture() {
    python_place
    rm "$WORK"/venv/lib/python3*/site-packages/tools.pth
    "$WORK/venv/bin/python" - "$BASE/Notes.app" <<'PYTHON'
import sys
from pytest_appcontainer import OwnedDevice
with OwnedDevice({"create": {}, "install": [{"app": sys.argv[1]}]}) as owned:
    with owned.device.mounted("com.example.Notes") as home:
        (home / "Documents" / "note").write_text("note")
assert "pytest" not in sys.modules
PYTHON
    start_unmounted
    "$WORK/venv/bin/python" - "$DEVICE" <<'PYTHON'
import sys
from pytest_appcontainer import DeviceError, boot
device = boot(sys.argv[1])
assert device.status().device == sys.argv[1] and device.socket == boot(sys.argv[1]).socket
try:
    boot("/no/such/device")
except DeviceError as error:
    assert "/no/such/device" in str(error), error
else:
    raise SystemExit("a device that is not there was booted")
PYTHON
}

# Types are the same whoever looks at them.
rootcase_the_python_package_is_typed() {
    cp -R "$BASE/checkout" "$WORK/checkout"
    cd "$WORK/checkout/Sources/pytest-appcontainer"
    "$PYTHON_TOOLS/bin/mypy" --strict --cache-dir "$WORK/cache" --python-version 3.9
}
