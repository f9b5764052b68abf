#!/usr/bin/python3
"""Templates against tar and zstd, which a user would take for a device's directory: durable, there and back."""

import os
import pathlib
import shutil

from benches.common import BEFORE, MIB, OURS, drop_caches, elapsed, run
from benches.ratios import Ratios
from benches.rows import make_tree
from benches.space import Phone

TOOL = "tar, zstd -1"
SIZE = 512 * MIB
# Without the digest and the checks of ours.
PACK = 'tar --xattrs --xattrs-include="user.*" -cf - -C "$1" . | zstd -q -1 -o "$2" && sync "$2"'
UNPACK = 'mkdir "$2" && zstd -q -d -c "$1" | tar --xattrs --xattrs-include="user.*" -xf - -C "$2" && sync -f "$2"'


class Work:
    """A device whose directory is packed and unpacked."""

    def __init__(self, work, binaries, fill):
        self.work, self.binaries = work, binaries
        self.phone = Phone(work / "phone", binaries[OURS])
        fill(self.phone.home / "Documents")
        run(self.phone.binary, "unmount", self.phone.home)
        run(self.phone.binary, "shutdown", self.phone.device)
        for way in [TOOL, *binaries]:
            self.export(way)
            shutil.move(work / "packed", work / f"packed-{self.file(way)}")

    @staticmethod
    def file(way):
        return "tool" if way == TOOL else way

    def end(self):
        self.phone.remove()

    def export(self, way):
        packed = self.work / "packed"
        packed.unlink(missing_ok=True)
        if way == TOOL:
            return elapsed("sh", "-c", PACK, "sh", self.phone.device, packed)
        return elapsed(self.binaries[way], "export", self.phone.device, packed)

    def import_(self, way, cold=False):
        packed, made = self.work / f"packed-{self.file(way)}", self.work / "made"
        if cold:
            drop_caches()
            run(self.phone.binary, "--version")
        try:
            if way == TOOL:
                return elapsed("sh", "-c", UNPACK, "sh", packed, made)
            return elapsed(self.binaries[way], "import", packed, made)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def measure(options, work, binary):
    binaries = {OURS: binary, **({BEFORE: pathlib.Path(options.before).resolve()} if options.before else {})}
    table = Ratios("templates beside tar and zstd of the same directory", [TOOL, *binaries], options)
    tar, files, _ = make_tree(work, 2_000 if options.quick else 8_151)
    size = SIZE // 16 if options.quick else SIZE
    for name, fill in (
            (f"{files} files", lambda place: run("tar", "-xf", tar, "-C", place)),
            (f"1 file of {size // MIB} MiB", lambda place: (place / "large").write_bytes(os.urandom(size)))):
        place = work / name.replace(" ", "-")
        place.mkdir()
        subject = Work(place, binaries, fill)
        try:
            table.measure(f"export of {name}", None, subject.export)
            table.measure(f"import of {name}", None, subject.import_)
            if os.geteuid() == 0:
                table.measure(f"import of {name}, cold", None, lambda way: subject.import_(way, True))
        finally:
            subject.end()
            shutil.rmtree(place)
    return {"rounds": options.rounds, "rows": table.rows}, table.bad
