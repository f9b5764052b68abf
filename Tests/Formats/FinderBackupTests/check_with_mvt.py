#!/usr/bin/python3
"""Checks a Finder backup with mvt-ios, an encrypted one after mvt-ios has decrypted it, and prints what it found.

    check_with_mvt.py BACKUP [PASSWORD COPY]

The copy is left where it is. Ends with a failure where mvt-ios complains of anything."""

import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.path.dirname(sys.executable), "mvt-ios")


def run(home, *words, **more):
    # It asks the network for newer versions, and keeps its settings in the home.
    environment = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, COLUMNS="400", **more)
    result = subprocess.run(
        [PROGRAM, "--disable-update-check", "--disable-indicator-update-check", *words], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # A module that finds no file of a real phone, such as its messages, says so as information.
    if result.returncode != 0 or re.search(r"^\s*(ERROR|CRITICAL|FATAL)\s|Traceback", result.stdout, re.M):
        sys.exit(f"mvt-ios {' '.join(words)} ends with {result.returncode}:\n{result.stdout}")


backup, password, copy = (sys.argv[1:] + ["", ""])[:3]
with tempfile.TemporaryDirectory() as home:
    if password:
        run(home, "decrypt-backup", "--destination", copy, backup, MVT_IOS_BACKUP_PASSWORD=password)
        backup = copy
    results = os.path.join(home, "results")
    run(home, "check-backup", "--output", results, backup)
    with open(os.path.join(results, "backup_info.json")) as file:
        information = json.load(file)
    with open(os.path.join(results, "manifest.json")) as file:
        entries = json.load(file)

print("\t".join(str(information[key]) for key in ("Device Name", "Unique Identifier", "Product Version")))
print("missing in Info.plist:", [key for key, value in information.items() if value is None])
for entry in entries:
    # An entry whose record it cannot read has no time.
    print("\t".join([str(entry["flags"]), entry["domain"], json.dumps(entry["relative_path"]), entry["modified"][:10]]))
