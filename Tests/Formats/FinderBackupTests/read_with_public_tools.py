#!/usr/bin/python3
"""Reads a Finder backup with two tools that nobody of this project has written, and prints what they find.

    read_with_public_tools.py BACKUP [PASSWORD]

One line for each thing: the tool, what it is, its domain and path, and the SHA-256 of its content or where it leads."""

import hashlib
import sys

import iphone_backup_decrypt
import pyiosbackup


def line(*words):
    # Names may have line ends.
    print("\t".join(word.encode("unicode_escape").decode() for word in words))


def with_pyiosbackup(path, password):
    backup = pyiosbackup.Backup.from_path(path, password)
    for entry in backup.iter_entries():
        if entry.is_dir():
            line("pyiosbackup", "directory", entry.domain, entry.relative_path, "")
        elif entry.is_file():
            content = entry.read_bytes()
            if len(content) != entry.size:
                sys.exit(f"{entry.relative_path} has {len(content)} bytes and says {entry.size}")
            line("pyiosbackup", "file", entry.domain, entry.relative_path, hashlib.sha256(content).hexdigest())
    stats = backup.stats()
    line("pyiosbackup", "backup", ",".join(stats["installed_apps"]), str(stats["ios_version"]), stats["target_identifier"])


def with_iphone_backup_decrypt(path, password):
    backup = iphone_backup_decrypt.EncryptedBackup(backup_directory=path, passphrase=password)
    if not backup.test_decryption():
        sys.exit("iphone_backup_decrypt cannot decrypt it")
    with backup.manifest_db_cursor() as cursor:
        rows = cursor.execute("SELECT domain, relativePath FROM Files WHERE flags = 1").fetchall()
    for domain, name in rows:
        content = backup.extract_file_as_bytes(name, domain_like=domain)
        line("iphone_backup_decrypt", "file", domain, name, hashlib.sha256(content).hexdigest())
    for _, domain, name, _ in backup.get_folders():
        line("iphone_backup_decrypt", "directory", domain, name, "")
    for _, domain, name, record in backup.get_symlinks():
        line("iphone_backup_decrypt", "link", domain, name, record.target)


path, password = sys.argv[1], (sys.argv[2:] or [""])[0]
with_pyiosbackup(path, password)
if password:
    with_iphone_backup_decrypt(path, password)
