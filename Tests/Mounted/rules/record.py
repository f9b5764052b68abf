#!/usr/bin/python3
"""Refusals in numbers, followers of the record, and the words of `explain`.

    record.py refuse COUNT PATH [PROCESSES]
                                    one process, or each of so many, is refused so many directories at the path
    record.py refuse_others MOUNT   a flood of one refusal, and between it those by another rule and of other processes
    record.py refuse_deep DIRECTORY DEPTH COUNT
                                    nests so many directories with long names, and is refused so often in the last
    record.py check_deep APP DEPTH COUNT
                                    reads events, and checks those of refuse_deep
    record.py map_over FILE         says `open`, waits for the pipe `go`, and maps the file for ever
    record.py interrupt DEVICE      interrupts a follower
    record.py silent SOCKET         follows, says `silent`, and neither reads nor ends
    record.py explained FILE        checks what `explain` said of three refusals"""

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time

from kit import ControlConnection, check


def is_refused(call, path):
    try:
        call(path)
    except PermissionError:
        return
    sys.exit(f"{path} was not refused")


def refuse(count, path, processes="1"):
    children = []
    for _ in range(int(processes)):
        child = os.fork()
        if child == 0:
            for _ in range(int(count)):
                try:
                    os.mkdir(path)
                    os._exit(1)
                except PermissionError:
                    pass
            os._exit(0)
        children.append(child)
    sys.exit(any(os.waitpid(child, 0)[1] for child in children))


def refuse_others(home):
    for _ in range(3000):
        is_refused(os.mkdir, home + "/flood")
    for _ in range(20):
        is_refused(os.rmdir, home + "/tmp")
        subprocess.run(["mkdir", home + "/other"], stderr=subprocess.DEVNULL)


LONG = "n" * 250


def refuse_deep(directory, depth, count):
    os.chdir(directory)
    for _ in range(int(depth)):
        os.mkdir(LONG)
        os.chdir(LONG)
    for _ in range(int(count)):
        is_refused(lambda path: os.setxattr(path, "user.appcontainer.backup", b"no"), ".")


def check_deep(app, depth, count):
    lines = [line for line in sys.stdin.buffer if b'"pathCut"' in line]
    check(len(lines) == int(count), len(lines))
    for line in lines:
        event = json.loads(line)
        check(len(line) < 8192, len(line))
        check(event["app"] == app and event["rule"] == "computedAttribute", event)
        # It tells the last names, and how much of the path is missing before them.
        names = event["path"].split("/")
        check(names[0] == "…" and set(names[1:]) == {LONG}, names)
        whole = len("Documents") + int(depth) * (1 + len(LONG))
        check(event["pathCut"] + len("/".join(names[1:])) == whole, event["pathCut"], whole)


def map_over(path):
    file = os.open(path, os.O_RDONLY)
    print("open", flush=True)
    os.close(1)
    open("go").read()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    while True:
        # MAP_SHARED | MAP_POPULATE: where the kernel gives up by itself, it is asked again.
        libc.munmap(libc.mmap(None, 8192, 1, 0x8001, file, ctypes.c_long(0)), 8192)


def interrupt(device):
    follower = subprocess.Popen(
        ["appcontainer", "events", device, "--follow"], stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    first = follower.stdout.readline()
    check(b"installed" in first, first)
    follower.send_signal(signal.SIGINT)
    status = follower.wait(60)
    check(status == -signal.SIGINT, status)


def silent(socket):
    connection = ControlConnection(socket)
    connection.request("GET", "/v1/events/follow")
    connection.getresponse()
    print("silent", flush=True)
    os.close(1)
    time.sleep(600)


def explained(path):
    with open(path) as file:
        texts = file.read().split("\n\n")
    for text, words in zip(texts, [
        (r"mkdir \(\d+\) called mkdir on new of com.example.Notes: EPERM", "3 times, the last at 20", "Rule topLevel: "),
        (r"rmdir \(\d+\) called rmdir on tmp of com.example.Notes: EPERM", "once, at 20", "Rule standardDirectory: "),
        (r"chmod \(\d+\) called chmod on Documents/Inbox/mail.txt of com.example.Notes: EPERM", "once, at 20",
         "Rule inbox: .* moved out .*Instead: move the file out of the Inbox first"),
    ]):
        check(re.search(".*?".join(words), text, re.DOTALL), words, text)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
