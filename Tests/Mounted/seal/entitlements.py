#!/usr/bin/python3
"""Entitlements, profiles and signatures, written without the program under test.

    entitlements.py list FILE TEAM IDENTIFIER [GROUP [CLASS]]     a property list for seal --entitlements
    entitlements.py nest FILE LEVELS                              one more value in such a list, of so many levels with it
    entitlements.py disagree APP IDENTITY                         another DER than the property list, signed again
    entitlements.py reseal APP IDENTITY NAME                      a seal around the extension NAME as it is signed now
    entitlements.py profile FILE IDENTITY TEAM IDENTIFIER DAYS [GROUP]
"""

import datetime
import hashlib
import os
import plistlib
import subprocess
import sys

RESOURCES_SLOT = 3
DER_SLOT = 7


def values(team, identifier, group=None, protection=None):
    found = {"application-identifier": f"{team}.{identifier}", "com.apple.developer.team-identifier": team}
    if group:
        found["com.apple.security.application-groups"] = [group]
    if protection:
        found["com.apple.developer.default-data-protection"] = protection
    return found


def write_list(file, *rest):
    with open(file, "wb") as output:
        plistlib.dump(values(*rest), output)


def nest(file, levels):
    found = plistlib.loads(read(file))
    value = "deep"
    # The list itself is a level, and so is the text.
    for _ in range(int(levels) - 2):
        value = [value]
    write(plistlib.dumps(found | {"com.example.deep": value}), file)


def sign(content, identity, *options):
    return subprocess.run(
        ["openssl", "cms", "-sign", "-binary", "-outform", "DER", "-signer", identity, *options],
        input=content, stdout=subprocess.PIPE, check=True).stdout


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def write(content, *path):
    with open(os.path.join(*path), "wb") as file:
        file.write(content)


def write_signed(place, identity, slot, content):
    """The code directory with another hash in a special slot, signed."""
    directory = bytearray(read(place, "CodeDirectory"))
    hashes, size = int.from_bytes(directory[16:20], "big"), directory[36]
    start = hashes - slot * size
    directory[start:start + size] = hashlib.sha256(content).digest()
    write(directory, place, "CodeDirectory")
    write(sign(bytes(directory), identity), place, "CodeSignature")


def reseal(app, identity, name):
    place, inner = os.path.join(app, "_CodeSignature"), f"PlugIns/{name}.appex"
    resources = plistlib.loads(read(place, "CodeResources"))
    code = read(app, inner, "_CodeSignature", "CodeDirectory")
    resources["files2"][inner]["cdhash"] = hashlib.sha256(code).digest()[:20]
    content = plistlib.dumps(resources)
    write(content, place, "CodeResources")
    write_signed(place, identity, RESOURCES_SLOT, content)


def disagree(app, identity):
    place = os.path.join(app, "_CodeSignature")
    # Version 1 and an empty dictionary, in a blob.
    der = bytes([0x70, 5, 2, 1, 1, 0xB0, 0])
    blob = bytes.fromhex("fade7172") + (len(der) + 8).to_bytes(4, "big") + der
    write(blob, place, "CodeEntitlementDER")
    write_signed(place, identity, DER_SLOT, blob)


def profile(file, identity, team, identifier, days, group=None):
    end = datetime.datetime.now() + datetime.timedelta(days=int(days))
    content = {
        "Name": "Notes", "UUID": "0F0E", "TeamIdentifier": [team], "ExpirationDate": end.replace(microsecond=0),
        "Entitlements": values(team, identifier, group)}
    write(sign(plistlib.dumps(content), identity, "-nodetach"), file)


{"list": write_list, "disagree": disagree, "reseal": reseal, "profile": profile, "nest": nest}[sys.argv[1]](*sys.argv[2:])
