#!/usr/bin/python3
"""Writes to many files over and over, until a call fails.

    write_until_refused.py FOLDER WRITTEN       WRITTEN: a file that is there once all have been written"""

import os
import sys

folder, written = sys.argv[1:]
files = [os.open(f"{folder}/f{number}", os.O_RDWR | os.O_CREAT) for number in range(300)]
try:
    while True:
        for file in files:
            os.pwrite(file, b"x" * 20000, 0)
        os.fsync(files[-1])
        open(written, "w").close()
except OSError:
    pass
