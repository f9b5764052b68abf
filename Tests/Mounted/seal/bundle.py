#!/usr/bin/python3
"""The sealed bundle, read and written by other programs.

    bundle.py hashes APP                the hashes of the app's files are in its CodeDirectory and its CodeResources
    bundle.py map_code PROGRAM          maps a program to be run
    bundle.py damaged BUNDLE ORIGINAL   one block of `large` and of `little` is EIO, and all else is as in the original
    bundle.py archives FOLDER           makes archives that an installation refuses, by the Notes.app there"""

import errno
import hashlib
import mmap
import os
import pathlib
import plistlib
import stat
import sys
import zipfile

from kit import check, read


def hashes(path):
    app = pathlib.Path(path)
    directory = (app / "_CodeSignature/CodeDirectory").read_bytes()
    for name in ("Info.plist", "_CodeSignature/CodeResources", "Notes"):
        check(hashlib.sha256((app / name).read_bytes()).digest() in directory, name)
    resources = plistlib.loads((app / "_CodeSignature/CodeResources").read_bytes())
    check(sorted(resources) == ["files", "files2", "rules", "rules2"], sorted(resources))
    text = (app / "Samples/Welcome.txt").read_bytes()
    files, files2 = resources["files"], resources["files2"]
    check(files["Samples/Welcome.txt"] == hashlib.sha1(text).digest(), files)
    check(files2["Samples/Welcome.txt"] == {"hash2": hashlib.sha256(text).digest()}, files2)
    check(files2["FirstNote.txt"] == {"symlink": "Samples/Welcome.txt"}, files2)
    check(files2["en.lproj/Localizable.strings"]["optional"] is True, files2)
    check("Info.plist" not in files2 and "Notes" not in files2, files2)


def map_code(program):
    with open(program, "rb") as file:
        code = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_EXEC)
        check(code[:4] == b"\x7fELF", code[:4])


def bad_blocks(shown, original):
    """The numbers of the blocks that cannot be read; the others have the bytes of the original."""
    bad = []
    content = read(original)
    file = os.open(shown, os.O_RDONLY)
    for number in range((len(content) + 4095) // 4096):
        expected = content[number * 4096:(number + 1) * 4096]
        try:
            got = os.pread(file, 4096, number * 4096)
            check(got == expected, f"{shown}: wrong bytes in block {number}")
        except OSError as error:
            check(error.errno == errno.EIO, error)
            bad.append(number)
    return bad


def damaged(bundle, original):
    for name, wanted in (("/large", [300]), ("/little", [1]), ("/Notes", [])):
        found = bad_blocks(bundle + name, original + name)
        check(found == wanted, name, found)


def archives(folder):
    def archive(name, entries):
        with zipfile.ZipFile(f"{folder}/{name}.ipa", "w") as file:
            for entry, content, mode in entries:
                info = zipfile.ZipInfo(entry)
                info.external_attr = mode << 16
                file.writestr(info, content)

    plist = read(f"{folder}/Notes.app/Info.plist").replace(b"com.example.Notes", b"com.example.Evil")
    good = [("Payload/Evil.app/Info.plist", plist, 0o100644)]
    archive("up", good + [("Payload/Evil.app/../../../../evil", b"x", 0o100644)])
    archive("root", good + [("/tmp/evil", b"x", 0o100644)])
    archive("link", good + [("Payload/Evil.app/out", b"../..", stat.S_IFLNK | 0o777),
                            ("Payload/Evil.app/out/evil", b"x", 0o100644)])
    archive("twice", good + [("Payload/Evil.app/Info.plist", b"x", 0o100644)])
    # A dictionary in the binary form with more keys than bytes can be counted.
    archive("length", [("Payload/Evil.app/Info.plist", b"bplist00" + bytes([0xDF, 0x13, 0x40]) + bytes(7)
                        + bytes([8, 0, 0, 0, 0, 0, 0, 1, 1]) + bytes(7) + b"\x01" + bytes(15) + bytes([18]), 0o100644)])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
