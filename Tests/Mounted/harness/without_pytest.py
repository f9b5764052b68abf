#!/usr/bin/python3
"""The Python package where there is no pytest.

    without_pytest.py own APP           owns a device with the app, and writes to its home
    without_pytest.py boot DEVICE       boots the device, and none that is not there"""

import sys

from pytest_appcontainer import DeviceError, OwnedDevice, boot as booted


def own(app):
    with OwnedDevice({"create": {}, "install": [{"app": app}]}) as owned:
        with owned.device.mounted("com.example.Notes") as home:
            (home / "Documents" / "note").write_text("note")
    assert "pytest" not in sys.modules


def boot(path):
    device = booted(path)
    assert device.status().device == path and device.socket == booted(path).socket
    try:
        booted("/no/such/device")
    except DeviceError as error:
        assert error.kind == "deviceMissing" and "/no/such/device" in str(error), error
    else:
        raise SystemExit("a device that is not there was booted")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
