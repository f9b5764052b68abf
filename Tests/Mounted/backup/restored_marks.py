#!/usr/bin/python3
"""Restores both names of one mark, one after the other: each can be made although it is there with the other.

    restored_marks.py PATH NAME NAME"""

import errno
import os
import sys

path, names = sys.argv[1], sys.argv[2:]
for name in names:
    try:
        os.setxattr(path, name, b"false", os.XATTR_REPLACE)
        raise SystemExit("replaced what was not there: " + name)
    except OSError as error:
        assert error.errno == errno.ENODATA, error
for flags in (os.XATTR_CREATE, os.XATTR_REPLACE):
    for name in names:
        os.setxattr(path, name, b"false", flags)
