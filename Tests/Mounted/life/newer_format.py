#!/usr/bin/python3
"""Gives the record of a device a format that is newer than those of today.

    newer_format.py RECORD"""

import json
import re
import sys

path, = sys.argv[1:]
with open(path) as file:
    record = json.load(file)
keys = [key for key, value in record.items() if isinstance(value, int) and re.search("format|version", key, re.I)]
assert len(keys) == 1, record
record[keys[0]] += 100
with open(path, "w") as file:
    json.dump(record, file)
