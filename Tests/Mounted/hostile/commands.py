#!/usr/bin/python3
"""Every command of root's on a device whose owner exchanges its entries.

    commands.py PLACE ROUNDS [SEED]

A row of the table is tried ROUNDS times, each with another entry and another thing in its place, before the command or
all the time during it."""

import os
import random
import re
import shlex
import signal
import subprocess
import sys

from kit import check
from owner import ENTRIES, KINDS, Owner, entry_of
from world import APP, World

# COMMAND ARGUMENTS | what comes before it | template. Of each command that `--help` names there is a row or more.
TABLE = """
create {owned}/new
create {owned}/new --passcode-file {code} --kdf-cost 1
clone {device} {owned}/copy
clone {device} {work}/copy
export {device} {owned}/new.template
export {device} {owned}/new-layout --oci
export {device} {work}/new.template
import {owned}/template {owned}/copy
import {owned}/template {work}/copy
erase {device}
delete {device}
boot {device}
own < {{"device": "{owned}/copy", "clone": "{device}", "keep": true}}
list --json | boot {device}
status {device} --json
status {device} | boot {device}
lock {device} --now | mount {device} {app} {home} --passcode-file {code} | protected
unlock {device} --passcode-file {code} | boot {device} | protected
restart {device} | mount {device} {app} {home}
passcode {device} set --new-file {code}
passcode {device} remove --old-file {code} | | protected
backup-password {device} set --new-file {code}
backup-password {device} change --old-file {code} --new-file {code} | mount {device} {app} {home} --passcode-file {code} | protected
backup-password {device} remove --old-file {code} | mount {device} {app} {home} --passcode-file {code} | protected
capacity {device} 1G
clock {device} advance 4d | mount {device} {app} {home}
clock {device} advance 2d | schedule {device} --backup {owned}
conditions {device} power off wifi on
schedule {device} --backup {owned}
schedule {device} --off | boot {device}
shutdown {device} | mount {device} {app} {home}
purge {device} --level critical
purge {device} --level critical | boot {device}
backup {device} {owned}/new.tar
backup {device} {owned}/new-backup --format finder
backup {device} {work}/new.tar | mount {device} {app} {home}
backup {device} {owned}/new.tar | boot {device} | protected
backup {device} --list
backup {device} --list --excluded | mount {device} {app} {home}
backup {device} --list --excluded --relative --app {app}
restore {device} {owned}/backup.tar
restore {device} {owned}/backup.tar | boot {device}
check {device}
check {device} --repair
events {device}
events {device} | boot {device}
explain {device}
volumes serve --socket {work}/plugin.sock --templates {owned} --state {work}/state
volumes serve --socket {owned}/new.sock --templates {owned} --state {owned}/new-state --secrets {owned}
ui {device} --no-browser
ui {device} --no-browser | boot {device}
top {device} --once
top {device} --json | boot {device}
test {device} --junit {owned}/new.xml -- true
install {device} {owned}/New.app
install {device} {owned}/New.app | mount {device} {app} {home}
uninstall {device} {app}
apps {device}
entitle {device} {app} --group group.com.example.other
reset {device} {app}
deliver {device} {app} {owned}/mail.txt {owned}/New.app
deliver {device} {app} {owned}/mail.txt | mount {device} {app} {home}
path {device} {app} data --backing
audit {device} {app}
audit {device} {app} | mount {device} {app} {home}
report {device} {app} {owned}/new.html
report {device} {app} {work}/new.html
run {device} {app} -- true
run {device} {app} --verify-all -- ls -lR
launch {device} {app}
terminate {device} {app} | launch {device} {app} --no-exec
suspend {device} {app} | launch {device} {app} --no-exec
resume {device} {app}
mount {device} {app} {home} --allow-other
mount {device} {app} {owned}/home
unmount {home} | mount {device} {app} {home}
unmount {owned}/home | mount {device} {app} {owned}/home
inspect {home}/Documents/d/file {home}/Notes.app/Info.plist | mount {device} {app} {home}
protect complete --recursive {home}/Documents/d | mount {device} {app} {home}
exclude {home}/Documents/d/file | mount {device} {app} {home}
include {home}/Documents/d/file | mount {device} {app} {home}
identity {owned}/new.pem
seal {owned}/New.app --identity {work}/identity.pem | identity {work}/identity.pem
verify {owned}/New.app
"""
# The exit codes that appcontainer(1) has; 1 is something unexpected that its line tells.
CODES = {*range(65), 125, 126, 127}


def rows(world):
    places = {"device": world.device, "owned": world.at("owned"), "work": world.at("work"), "home": world.home,
              "app": APP, "code": world.code}
    for line in TABLE.strip().splitlines():
        command, before, template = ([part.strip() for part in line.split("|")] + ["", ""])[:3]
        command, _, stdin = (part.strip() for part in command.format(**places).partition("<"))
        yield shlex.split(command), stdin, [shlex.split(before.format(**places))] if before else [], template or "plain"


def names_in_help():
    told = subprocess.run(["appcontainer", "--help"], capture_output=True, check=True, text=True).stdout
    sections = told[told.index("SUBCOMMANDS"):]
    return set(re.findall(r"^  ([a-z-]+) ", sections, re.M))


def targets(world, words):
    """Entries that a command is tried with: those of the device, and what the owner has of its other arguments."""
    own = []
    for word in words:
        if word.startswith(world.at("owned/")) and not word.startswith(world.device):
            own += [word, word + "/?"] if "/new" in word or "/copy" in word or word.endswith("New.app") else [word]
            own += [f"{word}/{name}" for name in ("Notes", "Info.plist", "_CodeSignature") if word.endswith("New.app")]
    return own


def choice(world, chance, row, number, words):
    """An entry and what takes its place; whether the command names it; whether all the time. The first round is for the
    worst: the device's directory leads to a device of root's own. So is a part of the second: to what is no device."""
    own = targets(world, words)
    named = number > 0 and bool(own) and (number % 2 == 0 or words[0] in ("create", "identity", "verify"))
    kind = chance.choice(list(KINDS)) if number else "a link to a device of root's"
    entry = world.device
    if number == 1 and row % 4 == 0:
        named, kind = False, "a link to a closed directory"
    elif named:
        entry = chance.choice(own)
    elif number:
        entry = entry_of(world, chance.choice(ENTRIES))
    # A device's path is named too, and may lead to what is no device.
    return entry, kind, named or entry == world.device, bool((row + number) % 2) or not os.path.lexists(entry)


def main(place, rounds, seed=None):
    seed = int(seed or random.randrange(1 << 32))
    print(f"seed {seed}: {rounds} rounds of each command", flush=True)
    chance = random.Random(seed)
    world = World(place)
    table = list(rows(world))
    tried = {words[0] for words, *_ in table}
    check(tried == names_in_help(), "commands without a row, or rows without a command:", tried ^ names_in_help())
    for number in range(int(rounds)):
        for row, (words, stdin, before, template) in enumerate(table):
            world.begin(template)
            for line in before:
                world.run(line)
            entry, kind, named, during = choice(world, chance, row, number, words)
            told = f"{' '.join(words)} [{kind} for {os.path.relpath(entry, world.place)}{', during' if during else ''}]"
            owner = Owner(world, entry, kind, during)
            try:
                code = world.run(words, stdin)
            finally:
                owner.stop()
            is_ended = words[0] in ("ui", "volumes") and code == 128 + signal.SIGTERM
            if code not in CODES and not is_ended and not (code < 0 and world.complaints):
                world.complaints.append(f"exit code {code}: {world.output[-600:]}")
            if "VERBOSE" in os.environ:
                print(code, told, world.output[-200:].strip(), flush=True)
            world.finish(told, named)
    world.done()


if __name__ == "__main__":
    main(*sys.argv[1:])
