#!/usr/bin/python3
"""Takes the keybag under the backup password out of a tar, and writes variants of it.

    keybag.py BACKUP DIRECTORY

DIRECTORY gets `whole` and, each with a checksum that agrees except in `cut` and `flipped`: `costly`, `exchanged` (one
class key in another's place), `foreign` (another identifier) and `newer`. The keys in `whole` are
computed here too, from Format.md, with the password of $PASSWORD: lines of hexadecimal digits in `keys`."""

import base64
import hashlib
import hmac
import json
import os
import struct
import subprocess
import sys
import tarfile

from kit import check

backup, directory = sys.argv[1:3]
with tarfile.open(backup) as archive:
    whole = base64.b64decode(json.load(archive.extractfile(".appcontainer/Backup.json"))["keybag"])
check(len(whole) == 288, len(whole), "bytes of keybag")


def checked(content):
    return content + hashlib.sha256(content).digest()[:24]


def store(name, content):
    with open(os.path.join(directory, name), "wb") as file:
        file.write(content)


body = whole[:264]
check(checked(body) == whole, "the checksum of the keybag")
store("whole", whole)
store("cut", whole[:-1])
store("flipped", whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
store("costly", checked(body[:12] + struct.pack("<III", 20, 8, 1) + body[24:]))
store("newer", checked(body[:8] + struct.pack("<I", 2) + body[12:]))
store("exchanged", checked(body[:72] + body[112:152] + body[112:]))
store("foreign", checked(body[:24] + bytes(16) + body[40:]))

magic, version, level, block, lanes = struct.unpack("<8sIIII", whole[:24])
check((magic, version, lanes) == (b"ACPWDBAG", 1, 1), magic, version, lanes)
identifier, salt = whole[24:40], whole[40:72]
slow = hashlib.scrypt(
    os.environ["PASSWORD"].encode(), salt=salt, n=1 << level, r=block, p=lanes, maxmem=1 << 30, dklen=32)


def derived(label):
    label = b"appcontainer backup 1: " + label
    return hmac.digest(hmac.digest(identifier, slow, "sha256"), label + b"\x01", "sha256")


def unwrap(wrapped):
    """RFC 3394, by OpenSSL's command."""
    command = ["openssl", "enc", "-d", "-id-aes256-wrap", "-K", derived(b"class keys").hex(), "-iv", "A6" * 8]
    return subprocess.run(command, input=wrapped, capture_output=True, check=True).stdout


check(hmac.digest(derived(b"keybag"), whole[:232], "sha256") == whole[232:264], "the code of the keybag")
keys = [unwrap(whole[place : place + 40]).hex() for place in (72, 112, 152, 192)]
check(len(set(keys)) == 4 and all(len(key) == 64 for key in keys), keys)
store("keys", ("\n".join(keys) + "\n").encode())
