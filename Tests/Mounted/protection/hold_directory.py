#!/usr/bin/python3
"""Holds a directory's lock in the kernel: reads it into memory that is not there yet.

    hold_directory.py DIRECTORY FILE OPENED

Maps FILE, makes OPENED, and reads DIRECTORY into the mapping once the file `go` is there."""
import ctypes
import mmap
import os
import sys
import time

SYS_GETDENTS64 = 217
LENGTH = 65536
LIBC = ctypes.CDLL(None, use_errno=True)

directory = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
with open(sys.argv[2], "r+b") as file:
    memory = mmap.mmap(file.fileno(), LENGTH)
place = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
open(sys.argv[3], "x").close()
while not os.path.exists("go"):
    time.sleep(0.02)
if LIBC.syscall(SYS_GETDENTS64, directory, place, ctypes.c_size_t(LENGTH)) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
