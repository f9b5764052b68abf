#!/usr/bin/python3
"""Names, numbers and repetitions at the limit of what a device's process is given.

    limits.py names FOLDER              makes files and directories with names of control characters
    limits.py shown FILE…               the files, what commands have printed, have none of these characters as they are
    limits.py wait HOME DEVICE COUNT    COUNT clients of each kind wait, and others go on
    limits.py refuse HOME PID COUNT     four processes are refused COUNT calls each; the device's process stays small
    limits.py links FOLDER COUNT        COUNT hard links of one file
    limits.py repeat HOME DEVICE COUNT  the same work COUNT times, after which the device's process is as small"""

import contextlib
import fcntl
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading

from kit import MIB, check, eventually, in_another_process

# A name that forges a line of its own, one that clears the terminal, one with a C1 control, one that turns the
# direction of writing, one that is no UTF-8, and the longest.
NAMES = [b"new\nforged: line", b"clear\x1b[2J\x1b[31m", b"tab\tdel\x7f\r", "c1\x9b31m".encode(), "turn\u202eed".encode(),
         b"\xff\xfe\xc3", b"n" * 255, b"\x01" * 255, b" blanks ", b"-n"]
# Control characters, of C1 too, and marks that turn the direction of writing.
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def names(folder):
    for number, name in enumerate(NAMES):
        directory = os.fsencode(folder) + b"/" + name
        os.mkdir(directory)
        with open(directory + b"/" + name, "wb") as file:
            file.write(b"content" * 1000)
        os.symlink(name, directory + b"/" + str(number).encode())
    check(set(os.listdir(os.fsencode(folder))) >= set(NAMES), "names that were not listed as they are")


def shown(*paths):
    complaints = []
    for path in paths:
        with open(path, "rb") as file:
            text = file.read().decode()
        for found in [*CONTROLS.finditer(text), *re.finditer(r"^\s*forged|\t", text, re.M)]:
            words = text[max(found.start() - 60, 0):found.end() + 60]
            complaints.append(f"{os.path.basename(path)} ({text.splitlines()[-1]}): {words!r}")
    check(not complaints, "\n".join(complaints))


# MARK: Waiting

def talk(path, data):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.settimeout(120)
    client.sendall(data)
    return client


def request(command, values=None):
    method, body = ("GET", "") if values is None else ("POST", json.dumps(values))
    return f"{method} /v1/{command} HTTP/1.1\r\nHost: d\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def threads(count, body):
    def run():
        try:
            body()
        except OSError as problem:
            print("a thread ended:", problem, file=sys.stderr)
    for _ in range(count):
        threading.Thread(target=run, daemon=True).start()


def go_on(home, path):
    """Others' work while clients wait: files, a refusal, answers of the control socket."""
    for number in range(50):
        name = f"{home}/Documents/other-{number}"
        with open(name, "w") as file:
            file.write("other")
        os.rename(name, name + "-moved")
        check(open(name + "-moved").read() == "other", "content beside those that wait")
        os.unlink(name + "-moved")
    with talk(path, request("status")) as client:
        check(client.recv(20).startswith(b"HTTP/1.1 200"), "status beside those that wait")


def wait(home, device, count):
    count = int(count)
    status = json.loads(subprocess.run(["appcontainer", "status", device, "--json"], capture_output=True, check=True).stdout)
    path = status["daemon"]["socket"]
    documents = home + "/Documents"
    # Clients that say nothing, say half, or listen and do not read.
    held = [talk(path, data) for data in (b"", b"POST /v1/lo", request("events/follow")) for _ in range(count)]
    go_on(home, path)
    # Calls that wait for another process: locks of three kinds, and both ends of a fifo.
    os.mkfifo(documents + "/fifo")
    keeper = os.open(documents + "/locked", os.O_RDWR | os.O_CREAT)
    fcntl.flock(keeper, fcntl.LOCK_EX)
    fcntl.fcntl(keeper, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))

    def opened():
        return os.open(documents + "/locked", os.O_RDWR)
    threads(count, lambda: fcntl.flock(opened(), fcntl.LOCK_EX))
    threads(count, lambda: fcntl.fcntl(opened(), 38, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)))
    threads(count, lambda: os.open(documents + "/fifo", os.O_RDONLY))
    in_another_process(lambda: go_on(home, path))
    # Requests that the device's process answers later: each waits for the lock at the end of its grace.
    later = [talk(path, request("lock", {"now": False, "wait": True})) for _ in range(count)]
    in_another_process(lambda: go_on(home, path))
    subprocess.run(["appcontainer", "unlock", device, "--passcode-file", os.environ["CODE"]], check=True)
    for client in later:
        check(client.recv(16).startswith(b"HTTP/1.1 "), "a request that waited has no answer")
    for client in held + later:
        client.close()
    go_on(home, path)
    # Threads that wait still end with this process.
    os._exit(0)


# MARK: Numbers

def counts(process):
    """Resident memory in bytes, descriptors, calls that write. Those that read are many: a worker reads until there is a
    request."""
    with open(f"/proc/{process}/status") as file:
        memory = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1024
    with open(f"/proc/{process}/io") as file:
        calls = dict(line.split(": ") for line in file.read().splitlines())
    # Directories of containers are kept open, 512 of them at the most, when the kernel has forgotten them too.
    opened = []
    for name in os.listdir(f"/proc/{process}/fd"):
        # It may be closed by now.
        with contextlib.suppress(FileNotFoundError):
            opened.append(os.readlink(f"/proc/{process}/fd/{name}"))
    kept = sum("/Containers/" in path for path in opened)
    check(kept < 512 + 32, "directories are open:", kept)
    return memory, len(opened) - kept, int(calls["syscw"])


def refused(home, number, count):
    # Each by three rules, and names as long as they may be.
    name = f"{number}" + "n" * 200
    calls = [lambda: os.mkdir(f"{home}/{name}"), lambda: os.mkdir(f"{home}/Notes.app/{name}"),
             lambda: os.rmdir(f"{home}/Library/Caches")]
    for turn in range(count):
        try:
            calls[turn % 3]()
        except PermissionError:
            continue
        raise AssertionError("a call was not refused")


def refuse(home, process, count):
    count = int(count)
    refused(home, 0, 1500)
    memory, files, calls = counts(process)
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            refused(home, number, count)
            os._exit(0)
        children.append(child)
    for child in children:
        check(os.waitpid(child, 0)[1] == 0, "a process that is refused failed")
    grown, more, made = (after - before for after, before in zip(counts(process), (memory, files, calls)))
    print(f"{4 * count} refusals: {made} writes, {grown // 1024} KiB and {more} descriptors more")
    # An answer, that of a lookup before, and its part of the record.
    check(made < 5 * 4 * count, "writes of the device's process:", made)
    check(grown < 32 * MIB and more < 8, "the device's process has grown by", grown, "bytes and", more, "descriptors")


def links(folder, count):
    count = int(count)
    os.mkdir(folder)
    with open(folder + "/file", "w") as file:
        file.write("content")
    os.chdir(folder)
    for number in range(1, count):
        os.link("file", f"{number}")
    check(os.stat("file").st_nlink == count, "links", os.stat("file").st_nlink)
    with open(f"{count - 1}", "a") as last:
        last.write(" more")
    check(open(f"{count // 2}").read() == "content more", "content by another name")
    listed = 0
    with os.scandir(".") as entries:
        for _ in entries:
            listed += 1
    check(listed == count, "listed", listed)


def unlinks(folder, count):
    os.chdir(folder)
    count = int(count)
    check(os.stat("file").st_nlink == count, "links after a start", os.stat("file").st_nlink)
    for number in range(1, count):
        os.unlink(f"{number}")
    check(os.stat("file").st_nlink == 1, "links that are left", os.stat("file").st_nlink)
    check(open("file").read() == "content more", "content")


def turn(home, device):
    """One of each: entries of all kinds, refusals, requests, a lock, a mount."""
    folder = home + "/Documents/turn"
    os.mkdir(folder)
    for number in range(200):
        with open(f"{folder}/{number}", "w") as file:
            file.write("x" * 10000)
    for number in range(0, 200, 2):
        os.link(f"{folder}/{number}", f"{folder}/hard-{number}")
        os.setxattr(f"{folder}/{number}", "user.note", b"x" * 100)
        os.rename(f"{folder}/{number}", f"{folder}/moved-{number}")
    refused(home, 0, 300)

    def program(*words):
        subprocess.run(["appcontainer", *words], check=True, stdout=subprocess.DEVNULL)
    program("inspect", folder, f"{folder}/1")
    program("audit", device, "com.example.Notes")
    program("backup", device, "--list")
    program("lock", device, "--now")
    program("unlock", device, "--passcode-file", os.environ["CODE"])
    subprocess.run(["rm", "-r", folder], check=True)
    program("unmount", home)
    program("mount", device, "com.example.Notes", home)


def repeat(home, device, count):
    count = int(count)
    with open(device + "/daemon.json") as file:
        process = json.load(file)["pid"]
    for _ in range(count):
        turn(home, device)
    memory, files, _ = counts(process)
    for _ in range(count):
        turn(home, device)

    grown = []

    def is_as_small():
        grown[:] = (after - before for after, before in zip(counts(process)[:2], (memory, files)))
        return grown[0] < 4 * MIB and grown[1] <= 4

    # Descriptors of removed files are closed a moment later.
    eventually(is_as_small, "bytes and descriptors by which the device's process has grown:", grown)
    print(f"{count} turns: {grown[0] // 1024} KiB and {grown[1]} descriptors more")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
