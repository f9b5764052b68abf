#!/usr/bin/python3
"""Changes one file of a backup, and makes everything in the backup that vouches for it anew.

    forge.py tar BACKUP FORGED PATH CHANGE…
    forge.py finder BACKUP PATH CHANGE…

PATH begins with the domain. A CHANGE is `content=FILE`, `cut=BYTES` at the end, `flip=OFFSET`, `mode=OCTAL`,
`owner=NUMBER`, or `keybag=FILE`, which becomes the keybag under the backup password. Without any the backup stays as it
is. A Finder backup is changed in place."""

import base64
import hashlib
import io
import json
import os
import plistlib
import sqlite3
import sys
import tarfile

from kit import check, read

KINDS = {
    tarfile.REGTYPE: "f", tarfile.GNUTYPE_SPARSE: "f", tarfile.DIRTYPE: "d", tarfile.SYMTYPE: "l", tarfile.LNKTYPE: "h",
    tarfile.FIFOTYPE: "p"}
MANIFEST = ".appcontainer/Manifest"
DESCRIPTION = ".appcontainer/Backup.json"


def changed(content, changes):
    for change in changes:
        what, value = change.split("=", 1)
        if what == "content":
            content = read(value)
        elif what == "cut":
            content = content[: -int(value)]
        elif what == "flip":
            place = int(value)
            content = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    return content


def number(changes, what, base, present):
    return next((int(change.split("=")[1], base) for change in changes if change.startswith(what + "=")), present)


def keybag(changes):
    return next((read(change.split("=", 1)[1]) for change in changes if change.startswith("keybag=")), None)


def metadata(member, kind, attributes):
    """The digest of a manifest's line, as Format.md has it."""
    seconds, _, fraction = str(member.pax_headers.get("mtime", member.mtime)).partition(".")
    values = [member.name, f"{member.mode & 0o7777:o}", str(member.uid), str(member.gid), seconds]
    values += [str(int(fraction.ljust(9, "0")) if fraction else 0)]
    if kind == "f":
        pieces = [str(1), str(0), str(member.size)] if member.size else [str(0)]
        values += ["file", str(member.size)] + pieces
    else:
        values += [{"d": "directory", "l": "symbolic link", "h": "hard link", "p": "fifo"}[kind]]
        values += [member.linkname] if kind in "lh" else []
    for name in sorted(attributes):
        values += [name, attributes[name]]
    text = "".join(f"{len(value.encode())}:{value}," for value in values)
    return hashlib.sha256(text.encode()).hexdigest()


def forge_tar(source, target, path, changes):
    lines = []
    found = False
    with tarfile.open(source) as old, tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as new:
        for member in old:
            if member.name == MANIFEST:
                manifest = member
                continue
            content = old.extractfile(member).read() if member.isreg() else b""
            if member.name == path:
                found = True
                content = changed(content, changes)
                member.mode = number(changes, "mode", 8, member.mode)
                member.uid = member.gid = number(changes, "owner", 10, member.uid)
            if member.name == DESCRIPTION and keybag(changes) is not None:
                description = json.loads(content)
                description["keybag"] = base64.b64encode(keybag(changes)).decode()
                content = json.dumps(description).encode()
            member.size = len(content)
            prefix = "SCHILY.xattr."
            attributes = {
                name[len(prefix) :]: value for name, value in member.pax_headers.items() if name.startswith(prefix)}
            kind = KINDS[member.type]
            digest = hashlib.sha256(content).hexdigest() if kind == "f" else "-"
            lines.append(f"+ {kind} {metadata(member, kind, attributes)} {digest} {member.name}\n")
            member.pax_headers = {
                name: value for name, value in member.pax_headers.items() if name == "mtime" or name.startswith(prefix)}
            new.addfile(member, io.BytesIO(content) if member.isreg() else None)
        text = "".join(lines)
        text += f"end {len(lines):016d} {len(text.encode()):016d} "
        text += hashlib.sha256(text.encode()).hexdigest() + "\n"
        manifest.size = len(text.encode())
        new.addfile(manifest, io.BytesIO(text.encode()))
        end = new.fileobj.tell()
    # Python fills the archive up to a record; a backup has two blocks of zeros at its end.
    with open(target, "r+b") as file:
        file.truncate(end + 1024)
    check(found, path, "is not in the backup")


def forge_finder(backup, path, changes):
    domain, name = path.split("/", 1)
    place = os.path.join(backup, "Manifest.db")
    database = sqlite3.connect(place)
    rows = database.execute(
        "select fileID, file from Files where domain = ? and relativePath = ?", (domain, name)).fetchall()
    check(len(rows) == 1, path, "is not in the backup once")
    identifier, record = rows[0]
    stored = os.path.join(backup, identifier[:2], identifier)
    content = changed(read(stored), changes)
    with open(stored, "wb") as file:
        file.write(content)
    archive = plistlib.loads(record)
    root = archive["$objects"][archive["$top"]["root"].data]
    addition = plistlib.loads(root["appcontainer"])
    addition["Digest"] = hashlib.sha256(content).digest()
    root["appcontainer"] = plistlib.dumps(addition, fmt=plistlib.FMT_BINARY)
    root["Mode"] = root["Mode"] & ~0o7777 | number(changes, "mode", 8, root["Mode"] & 0o7777)
    root["UserID"] = root["GroupID"] = number(changes, "owner", 10, root["UserID"])
    root["Size"] = len(content)
    database.execute(
        "update Files set file = ? where fileID = ?", (plistlib.dumps(archive, fmt=plistlib.FMT_BINARY), identifier))
    database.commit()
    database.close()
    for list_name, key, digested in (
        ("Manifest.plist", "DatabaseDigest", "Manifest.db"), ("Status.plist", "ManifestDigest", "Manifest.plist")):
        file_name = os.path.join(backup, list_name)
        values = plistlib.loads(read(file_name))
        if list_name == "Manifest.plist" and keybag(changes) is not None:
            values["appcontainer"]["PasswordKeybag"] = keybag(changes)
        values["appcontainer"][key] = hashlib.sha256(read(os.path.join(backup, digested))).digest()
        with open(file_name, "wb") as file:
            file.write(plistlib.dumps(values, fmt=plistlib.FMT_BINARY))


if sys.argv[1] == "tar":
    forge_tar(*sys.argv[2:5], sys.argv[5:])
else:
    forge_finder(*sys.argv[2:4], sys.argv[4:])
