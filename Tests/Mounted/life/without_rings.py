"""Runs a command whose processes have no io_uring: `without_rings.py setup|enter COMMAND…`.

A seccomp(2) filter answers io_uring_setup(2) or io_uring_enter(2) with EPERM, as a container's profile does.
"""

import ctypes
import os
import struct
import sys

CALLS = {"setup": 425, "enter": 426}
EPERM = 1
# linux/filter.h and linux/seccomp.h
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
SET_NO_NEW_PRIVS, SET_SECCOMP, MODE_FILTER = 38, 22, 2


def forbid(call):
    steps = [
        (LOAD_WORD, 0, 0, 0),
        (JUMP_IF_EQUAL, 0, 1, CALLS[call]),
        (RETURN, 0, 0, ERRNO | EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    # Root needs no PR_SET_NO_NEW_PRIVS, with which fusermount3 would mount nothing for a user.
    if os.geteuid() != 0 and libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
    if libc.prctl(SET_SECCOMP, MODE_FILTER, program) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")


forbid(sys.argv[1])
os.execvp(sys.argv[2], sys.argv[2:])
