#!/usr/bin/python3
"""Holds a file of 1 MiB by a mapping alone, whose content stays as it is.

    hold_mapped.py FILE READY OVER      opens the pipe READY once it does, and goes on until OVER is opened"""

import mmap
import sys

path, ready, over = sys.argv[1:]
with open(path, "rb") as file:
    mapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
first = mapping[0]
open(ready, "w").close()
open(over).close()
assert mapping[0] == first and len(mapping[:]) == 1 << 20
