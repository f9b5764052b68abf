#!/usr/bin/python3
"""The detector sees each kind of touch, by whatever name, and tells it from what it has to overlook.

    self_check.py PLACE"""

import os
import subprocess
import sys

from kit import check
from world import ALLOWED, World

# A shell's line that touches a canary, and words of the line that tells of it; none where there is none to tell.
TOUCHES = [
    ("cat {place}/roots/secret", "roots/secret was read"),
    ("ln -s {place}/roots/secret {place}/work/link; cat {place}/work/link", "roots/secret was read"),
    ("ln {place}/others/file {place}/work/hard; : >>{place}/work/hard", "others/file was "),
    ("ls {place}/roots/closed", "roots/closed was read, opened"),
    ("echo x >>{place}/roots/secret", "roots/secret was changed"),
    ("chmod 640 {place}/roots/secret", "roots/secret was attributes changed"),
    ("touch -d 2001-01-01 {place}/his/file", "his/file was attributes changed"),
    ("setfattr -n user.note -v x {place}/roots/closed", "roots/closed was attributes changed"),
    ("mkdir {place}/roots/public/new", "roots/public was entry made"),
    ("mv {place}/his/folder/entry {place}/his/folder/moved", "his/folder was moved from, moved to"),
    ("rm {place}/roots/closed/secret", "roots/closed was entry removed"),
    ("head -c 10 {place}/roots/zero >/dev/null", "roots/zero was read, opened"),
    ("echo x >>{place}/roots/shared", "roots/shared was changed"),
    ("stat {place}/roots/secret", ""),
    ("cat {place}/roots/shared >/dev/null; ls {place}/owned", ""),
]


def main(place):
    world = World(place)
    world.begin()
    for line, told in TOUCHES:
        subprocess.run(["sh", "-c", line.format(place=place)], check=True, stdout=subprocess.DEVNULL)
        seen = world.touches.seen()
        check(any(told in entry for entry in seen) if told else not seen, line, seen)
    world.openings.seen(ALLOWED)
    subprocess.run(["cat", "/etc/hostname", os.environ["BASE"] + "/tree.list"], check=True, stdout=subprocess.DEVNULL)
    seen = "\n".join(world.openings.seen(ALLOWED))
    check("/etc/hostname was opened" in seen and "tree.list was opened" in seen, seen)
    # The owner's own processes may do so.
    world.as_owner(lambda: os.listdir(world.at("his/folder")))
    check(not world.touches.seen(), "the owner's own look was told")
    after = world.snapshot()
    changed = {path.removeprefix(place + "/") for path in set(after) | set(world.before)
               if after.get(path) != world.before.get(path)}
    check({"roots/secret", "roots/shared", "roots/closed", "roots/public/new", "his/file", "his/folder/moved"} <= changed, changed)


if __name__ == "__main__":
    main(*sys.argv[1:])
