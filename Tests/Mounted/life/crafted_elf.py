#!/usr/bin/python3
"""ELF files whose numbers lie.

    crafted_elf.py kinds            prints their names
    crafted_elf.py make KIND PATH   writes one
    crafted_elf.py make_long PATH   writes one that is as it should be, and would take long to read as a whole"""

import os
import struct
import sys

LARGEST = (1 << 64) - 1


def header(offset=64, size=56, count=2):
    return struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0x1000, offset, 0, 0, 64, size, count, 64, 0, 0)


def segment(kind, offset, address, size):
    return struct.pack("<IIQQQQQQ", kind, 5, offset, address, address, size, size, 4096)


def dynamic(*entries):
    return b"".join(struct.pack("<QQ", *entry) for entry in entries)


def whole(load, entries, table=None):
    """A file with one loaded and one dynamic segment."""
    place = 64 + 2 * 56
    content = dynamic(*entries, (0, 0))
    return header() + segment(1, *load) + (table or segment(2, place, 0, len(content))) + content + b"/x\0" * 40


# DT_STRTAB is 5, DT_STRSZ 10, DT_RUNPATH 29.
KINDS = {
    "sum_of_offsets": whole((LARGEST - 1, 0, LARGEST), [(5, LARGEST - 1), (10, 64), (29, 0)]),
    "sum_of_names": whole((1, 0, LARGEST), [(5, 1 << 62), (10, LARGEST), (29, LARGEST - 1)]),
    "far_names": whole((0, 0, LARGEST), [(5, LARGEST >> 1), (10, LARGEST), (29, 1)]),
    "far_segments": header(offset=LARGEST - 100),
    "many_segments": header(count=65535),
    "no_segments": header(count=0),
    "odd_segments": header(size=55),
    "far_dynamic": whole((0, 0, 64), [], segment(2, LARGEST - 8, 0, 1 << 19)),
    "large_dynamic": whole((0, 0, 64), [], segment(2, 0, 0, LARGEST)),
    "no_strings": whole((0, 0, 64), [(5, 1 << 40), (10, 64), (29, 0)]),
    "short": header()[:63] + b"\x00",
}


def make(kind, path):
    write(KINDS[kind], path)


def make_long(path):
    """Tens of thousands of search paths, each a mebibyte long."""
    write(whole((0, 0, 1 << 22), [(5, 1 << 20), (10, 1 << 20)] + [(29, 0)] * 50000).ljust(1 << 20) + b"/x:" * (1 << 19), path)


def write(content, path):
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o755)


if __name__ == "__main__":
    if sys.argv[1] == "kinds":
        print(*KINDS)
    else:
        {"make": make, "make_long": make_long}[sys.argv[1]](*sys.argv[2:])
