#!/usr/bin/python3
"""Compares what other tools found in a backup with the home that it was made of: each found every file, with its content.

    compare_tools.py LIST TOOLS HOME DOMAIN EXCLUDED

LIST: `tool, kind, domain, path, digest` a line, with tabs between, of so many TOOLS. EXCLUDED, a path in HOME, is not in
the backup."""

import hashlib
import os
import sys

from kit import check

found_list, tools, home, domain, excluded = sys.argv[1:]
wanted = {}
for top in ("Documents", "Library/Application Support"):
    for place, _, names in os.walk(os.path.join(home, top)):
        for name in names:
            path = os.path.join(place, name)
            inside = os.path.relpath(path, home)
            if os.path.isfile(path) and not os.path.islink(path) and inside != excluded:
                with open(path, "rb") as file:
                    # The list has names without line ends.
                    wanted[inside.encode("unicode_escape").decode()] = hashlib.sha256(file.read()).hexdigest()

found = {}
with open(found_list, encoding="utf-8") as lines:
    for line in lines:
        tool, kind, place, path, digest = line.rstrip("\n").split("\t")
        if kind == "file" and place == domain:
            check(path not in found.setdefault(tool, {}), tool, "found twice:", path)
            found[tool][path] = digest
check(len(found) == int(tools), "tools that found a file of", domain, *found)
for tool, files in found.items():
    for path in wanted.keys() | files.keys():
        check(files.get(path) == wanted.get(path), tool, path, files.get(path), wanted.get(path))
    print(tool, "found", len(files), "files")
