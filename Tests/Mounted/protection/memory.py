#!/usr/bin/python3
"""Looks through the memory of a device's process for secrets of class A.

    memory.py DEVICE PID PASSCODE BACKING-FILE PLAINTEXT

Derives the key of class A and the file's own key, as Format.md has it, from the passcode and the device directory.
Prints which of class-key, file-key and plaintext are in the memory of the process, one a line."""
import hashlib
import hmac
import re
import subprocess
import sys

DEVICE, PID, PASSCODE, FILE, PLAINTEXT = sys.argv[1], int(sys.argv[2]), *(text.encode() for text in sys.argv[3:6])


def hkdf(key, salt, label):
    return hmac.digest(hmac.digest(salt, key, "sha256"), label + b"\x01", "sha256")


def unwrap(key, wrapped):
    """RFC 3394, by OpenSSL's command."""
    command = ["openssl", "enc", "-d", "-id-aes256-wrap", "-K", key.hex(), "-iv", "A6" * 8]
    return subprocess.run(command, input=wrapped, capture_output=True, check=True).stdout


def class_key():
    bag = open(f"{DEVICE}/Keybag", "rb").read()
    uid = open(f"{DEVICE}/UID.key", "rb").read()
    identifier, salt = bag[16:32], bag[48:80]
    level, block, lanes = (int.from_bytes(bag[at:at + 4], "little") for at in (80, 84, 88))
    slow = hashlib.scrypt(PASSCODE, salt=salt, n=1 << level, r=block, p=lanes, maxmem=1 << 30, dklen=32)
    wrapping = hmac.digest(hkdf(uid, identifier, b"appcontainer keybag 1: passcode"), slow, "sha256")
    return unwrap(wrapping, bag[96:136])


def memory():
    """Every range that can be read, one after the other."""
    with open(f"/proc/{PID}/mem", "rb", buffering=0) as memory:
        for line in open(f"/proc/{PID}/maps"):
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
            if not found or "[v" in line:
                continue
            start, end = (int(text, 16) for text in found.groups())
            overlap = b""
            for at in range(start, end, 1 << 24):
                memory.seek(at)
                try:
                    piece = memory.read(min(1 << 24, end - at))
                except OSError:
                    break
                yield overlap + piece
                overlap = piece[-256:]


def main():
    header = open(FILE, "rb").read(4096)
    if header[54] != 1:
        sys.exit(f"{FILE.decode()} is not of class A")
    key = class_key()
    wanted = {"class-key": key, "file-key": unwrap(key, header[81:121]), "plaintext": PLAINTEXT}
    found = {name for piece in memory() for name, secret in wanted.items() if secret in piece}
    print("\n".join(sorted(found)))


main()
