#!/usr/bin/python3
"""Makes a device that is shut down one of the format before: its records carry no authentication codes.

    old_format.py DEVICE"""
import hashlib
import hmac
import json
import os
import sys

DEVICE, = sys.argv[1:]


def path(name):
    return os.path.join(DEVICE, name)


def strip(name):
    with open(path(name)) as file:
        record = json.load(file)
    del record["authentication"]
    if name == "Device.json":
        record["format"] = 1
    with open(path(name), "w") as file:
        json.dump(record, file, indent=2, sort_keys=True)


def old_keybag():
    """Of version 1, as Format.md has it."""
    with open(path("UID.key"), "rb") as file:
        uid = file.read()
    with open(path("Keybag"), "rb") as file:
        bag = bytearray(file.read()[:288])
    bag[8] = 1
    extracted = hmac.digest(bytes(bag[16:32]), uid, "sha256")
    key = hmac.digest(extracted, b"appcontainer keybag 1: authentication\x01", "sha256")
    bag += hmac.digest(key, bytes(bag), "sha256")
    return bytes(bag) + hashlib.sha256(bag).digest()[:24]


for record in ("Device.json", "Apps.json", "Sessions.json"):
    strip(record)
if os.path.exists(path("Identity.pem")):
    with open(path("Identity.pem")) as file:
        lines = file.readlines()
    with open(path("Identity.pem"), "w") as file:
        file.writelines(lines[1:])
keybag = old_keybag()
with open(path("Keybag"), "wb") as file:
    file.write(keybag)
