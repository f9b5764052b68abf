#!/usr/bin/python3
"""Keys and variables that a confined command must not find.

    secrets.py with_key COMMAND…    runs the command with a session keyring that holds a key
    secrets.py look HOME            checks the environment, the keyrings and the user namespace of this process"""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
ADD_KEY, KEYCTL = (217, 219) if os.uname().machine == "aarch64" else (248, 250)
GET_ID, JOIN, READ, SEARCH = 0, 1, 11, 10
SESSION, USER, USER_SESSION = -3, -4, -5
NAME = b"appcontainer-test-secret"


def keyctl(*arguments):
    return libc.syscall(KEYCTL, *arguments)


def with_key(*command):
    assert keyctl(JOIN, None) > 0, os.strerror(ctypes.get_errno())
    for ring in (SESSION, USER):
        assert libc.syscall(ADD_KEY, b"user", NAME, b"hunter2", 7, ring) > 0, os.strerror(ctypes.get_errno())
    status = os.spawnvp(os.P_WAIT, command[0], command)
    # The user's keyring is everybody's who has the same user.
    keyctl(9, keyctl(SEARCH, USER, b"user", NAME, 0), USER)
    sys.exit(status)


def look(home):
    given = {"GIVEN": "a=b", "WANTED": "asked", "TZ": "UTC", "LC_TIME": "C", "HOME": home, "CFFIXED_USER_HOME": home}
    for name, value in given.items():
        assert os.environ.get(name) == value, (name, os.environ.get(name))
    allowed = set(given) | {"PATH", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "USER", "LOGNAME", "PWD", "TMPDIR"}
    extra = [name for name in os.environ if name not in allowed and not name.startswith(("LC_", "XDG_", "APPCONTAINER_"))]
    assert not extra, extra
    # Nor in that of its parents in the namespace of processes.
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            assert b"hunter2" not in open(f"/proc/{entry}/environ", "rb").read(), entry
    for ring in (SESSION, USER, USER_SESSION):
        assert keyctl(SEARCH, ring, b"user", NAME, 0) < 0, f"the key is in the keyring {ring}"
    maps = [[int(number) for number in line.split()] for line in open("/proc/self/uid_map")]
    assert sum(count for _, _, count in maps) <= 2, maps


if __name__ == "__main__":
    {"with_key": with_key, "look": look}[sys.argv[1]](*sys.argv[2:])
