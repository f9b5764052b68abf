#!/usr/bin/python3
"""Reads a Finder backup with four tools that nobody of this project has written, and prints what they find.

    read_with_public_tools.py BACKUP [PASSWORD]

One line for each thing: the tool, what it is, its domain and path, and the SHA-256 of its content or where it leads."""

import hashlib
import os
import subprocess
import sys
import tempfile

import iOSbackup
import iphone_backup_decrypt
import pyiosbackup


def line(*words):
    # Names may have line ends.
    print("\t".join(word.encode("unicode_escape").decode() for word in words))


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


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


def with_ios_backup_manager(path, password):
    """Runs in a process of its own, which finds an older iphone_backup_decrypt first: it calls that one's methods."""
    import backup_access
    if not backup_access.classify_input_path(path)["ok"]:
        sys.exit("ios-backup-manager takes it for no backup")
    backup = backup_access.BackupAccess(path, password or None)
    with backup_access.sqlite3.connect(backup.manifest_db_path) as database:
        rows = database.execute("SELECT fileID, domain, relativePath, file FROM Files WHERE flags = 1").fetchall()
    for identifier, domain, name, record in rows:
        # The identifier is the digest that a tool makes of the name; one that is not UTF-8 has another.
        found = backup.get_file_path_by_id(identifier, record)
        line("ios-backup-manager", "file", domain, name, digest_of(found))
    backup.cleanup_temp_dir()


def with_ios_backup(path, password):
    root, name = os.path.split(path)
    device = iOSbackup.iOSbackup.getDeviceBasicInfo(udid=name, backuproot=root)
    line("iOSbackup", "backup", device["name"], device["ios"], str(device["encrypted"]))
    backup = iOSbackup.iOSbackup(udid=name, cleartextpassword=password or None, backuproot=root)
    with tempfile.TemporaryDirectory() as folder:
        for entry in backup.getBackupFilesList():
            if entry["flags"] != 1:
                continue
            entry["manifest"] = entry["file"]
            backup.getFileDecryptedCopy(manifestEntry=entry, targetName="copy", targetFolder=folder)
            copy = os.path.join(folder, "copy")
            # It takes an empty file without a key for a directory.
            if os.path.isdir(copy):
                os.rmdir(copy)
                open(copy, "w").close()
            line("iOSbackup", "file", entry["domain"], entry["relativePath"], digest_of(copy))
            os.remove(copy)


path, password = sys.argv[1], (sys.argv[2:] or [""])[0]
if sys.argv[3:] == ["ios-backup-manager"]:
    with_ios_backup_manager(path, password)
    sys.exit()
with_pyiosbackup(path, password)
with_ios_backup(path, password)
sys.stdout.flush()
subprocess.run([sys.executable, __file__, path, password, "ios-backup-manager"], check=True,
               env=dict(os.environ, PYTHONPATH=os.path.join(sys.prefix, "older")))
if password:
    with_iphone_backup_decrypt(path, password)
