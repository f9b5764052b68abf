#!/usr/bin/python3
"""Writes a small backup as an iPhone and Finder would: other domains, rows in no order, directories without rows, and
nothing of this project's. So reading is tested with what this project did not write.

    make_phone_backup.py BACKUP [--password PASSWORD] [--xml] [--class NUMBER] [--iterations NUMBER]
                         [--attributes DICTIONARY]"""

import argparse
import ast
import hashlib
import os
import plistlib
import sqlite3
import struct

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.keywrap import aes_key_wrap

parser = argparse.ArgumentParser()
parser.add_argument("backup")
parser.add_argument("--password")
parser.add_argument("--xml", action="store_true")
parser.add_argument("--class", dest="number", type=int, default=3)
parser.add_argument("--iterations", type=int, default=5)
parser.add_argument("--attributes", type=ast.literal_eval, default={
    "com.apple.metadata:com_apple_backup_excludeItem": b"anything", "com.example.tag": b"value"})
options = parser.parse_args()

class_keys = {number: os.urandom(32) for number in range(1, 12)}
FORMAT = plistlib.FMT_XML if options.xml else plistlib.FMT_BINARY


def keybag():
    salt, outer_salt = os.urandom(20), os.urandom(20)
    first = hashlib.pbkdf2_hmac("sha256", options.password.encode(), outer_salt, options.iterations, 32)
    key = hashlib.pbkdf2_hmac("sha1", first, salt, 4, 32)
    tags = [("VERS", 3), ("TYPE", 1), ("UUID", os.urandom(16)), ("HMCK", os.urandom(40)), ("WRAP", 0), ("SALT", salt),
            ("ITER", 4), ("DPWT", 0), ("DPIC", options.iterations), ("DPSL", outer_salt)]
    for number in (11, 10, 9, 8, 7, 6, 5, 3, 2, 1, 4):
        tags += [("UUID", os.urandom(16)), ("CLAS", number), ("WRAP", 2), ("KTYP", 0),
                 ("WPKY", aes_key_wrap(key, class_keys[number]))]
    encoded = b""
    for tag, value in tags:
        value = struct.pack(">L", value) if isinstance(value, int) else value
        encoded += tag.encode() + struct.pack(">L", len(value)) + value
    return encoded


def encrypt(content, number):
    key = os.urandom(32)
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    content = encryptor.update(padder.update(content) + padder.finalize()) + encryptor.finalize()
    return content, struct.pack("<L", number) + aes_key_wrap(class_keys[number], key)


def record(path, mode, number, size=0, key=None, target=None, attributes=None):
    root = {"$class": plistlib.UID(2), "Birth": 1600000000, "LastModified": 1600000100, "LastStatusChange": 1600000200,
            "Size": size, "Mode": mode, "UserID": 501, "GroupID": 501, "InodeNumber": 12884901888, "Flags": 0,
            "ProtectionClass": number, "RelativePath": plistlib.UID(3)}
    objects = ["$null", root, {"$classname": "MBFile", "$classes": ["MBFile", "NSObject"]}, path]

    def add(name, value):
        objects.append(value)
        root[name] = plistlib.UID(len(objects) - 1)

    def add_data(name, value):
        add(name, {"$class": plistlib.UID(len(objects) + 1), "NS.data": value})
        objects.append({"$classname": "NSMutableData", "$classes": ["NSMutableData", "NSData", "NSObject"]})

    if target is not None:
        add("Target", target)
    if key is not None:
        add_data("EncryptionKey", key)
    if attributes:
        add_data("ExtendedAttributes", plistlib.dumps(attributes, fmt=plistlib.FMT_BINARY))
    return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(1)},
                           "$objects": objects}, fmt=plistlib.FMT_BINARY)


os.makedirs(options.backup)
plain_database = os.path.join(options.backup, "Manifest.db")
database = sqlite3.connect(plain_database)
database.executescript("""
    CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB);
    CREATE INDEX FilesDomainIdx ON Files(domain);
    CREATE INDEX FilesRelativePathIdx ON Files(relativePath);
    CREATE INDEX FilesFlagsIdx ON Files(flags);
    CREATE TABLE Properties (key TEXT PRIMARY KEY, value BLOB);
""")


def add(domain, path, flags, content=None, number=3, claimed=None, **more):
    identifier = hashlib.sha1(f"{domain}-{path}".encode()).hexdigest()
    mode = {1: 0o100644, 2: 0o40755, 4: 0o120755}.get(flags, 0)
    size, key = len(content or b"") if claimed is None else claimed, None
    # What is empty has no key, and need not be there.
    if content:
        if options.password:
            content, key = encrypt(content, number)
        folder = os.path.join(options.backup, identifier[:2])
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, identifier), "wb") as file:
            file.write(content)
    database.execute("INSERT INTO Files VALUES (?, ?, ?, ?, ?)", (
        identifier, domain, path, flags, record(path, mode, number, size, key, **more)))


APP = "AppDomain-com.example.Phone"
add(APP, "Documents/a/c", 1, b"below a")
add("HomeDomain", "Library/Preferences/com.example.plist", 1, b"<plist/>" * 100, number=4)
add(APP, "Documents/a", 2)
add(APP, "Documents/a.b", 1, b"beside a", number=options.number)
add(APP, "Documents", 2, number=0)
add(APP, "Documents/empty", 1, b"")
add(APP, "Documents/database", 1, b"longer than it was", number=1, claimed=5)
add(APP, "", 2, number=0)
add(APP, "Documents/link", 4, target="/private/var/mobile", number=0)
add(APP, "Documents/tagged", 1, b"x" * 16, attributes=options.attributes)
add(APP, "Documents/strange", 16)
add("AppDomainGroup-group.com.example.phone", "shared", 1, b"group", number=2)
database.commit()
database.close()

manifest = {"Version": "10.0", "IsEncrypted": bool(options.password), "WasPasscodeSet": True,
            "Lockdown": {"ProductVersion": "17.5.1", "DeviceName": "A phone's name & more"},
            "Applications": {"com.example.Phone": {"CFBundleIdentifier": "com.example.Phone",
                                                   "CFBundleShortVersionString": "7.1"}}}
if options.password:
    manifest["BackupKeyBag"] = keybag()
    with open(plain_database, "rb") as file:
        content = file.read()
    content, manifest["ManifestKey"] = encrypt(content, 4)
    with open(plain_database, "wb") as file:
        file.write(content)
for name, values in (("Manifest", manifest), ("Info", {"Target Identifier": "x"}),
                     ("Status", {"SnapshotState": "finished", "IsFullBackup": False, "Version": "3.3"})):
    with open(os.path.join(options.backup, name + ".plist"), "wb") as file:
        plistlib.dump(values, file, fmt=FORMAT)
