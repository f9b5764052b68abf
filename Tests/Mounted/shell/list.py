#!/usr/bin/python3
"""Lays things beside a device's control socket that are no device, and looks at what `appcontainer list` makes of them.

    list.py RUNTIME-DIRECTORY DEVICE SILENT      with so many processes' sockets that never answer"""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time

from kit import check

directory, device, silent = sys.argv[1], sys.argv[2], int(sys.argv[3])
STATUS = {
    "apps": 7, "daemon": {"pid": 1, "socket": "/"}, "device": "/etc", "eraseAfterTen": False, "graceRemaining": None,
    "hasBackupPassword": False, "hasPasscode": False, "identifier": "00000000-0000-0000-0000-000000000000",
    "mounts": [], "readable": [], "running": [], "state": "unlocked", "suspended": [], "waiting": [],
}
listeners = []


def name(number):
    return os.path.join(directory, f"{number:016x}.sock")


def listening(number):
    made = socket.socket(socket.AF_UNIX)
    made.bind(name(number))
    made.listen(8)
    listeners.append(made)
    return made


def answering(number, *pieces):
    """Sends the pieces to each client, the last one again and again where there are several."""
    made = listening(number)

    def serve():
        while True:
            client = made.accept()[0]
            try:
                client.recv(4096)
                client.sendall(pieces[0])
                while len(pieces) > 1:
                    client.sendall(pieces[1])
            except OSError:
                pass
            client.close()

    threading.Thread(target=serve, daemon=True).start()


def response(body):
    return b"HTTP/1.1 200 OK\r\nServer: appcontainer/0.1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def listed():
    """The list of this directory, by the names of the sockets: other cases have devices elsewhere; and the time."""
    begin = time.monotonic()
    done = subprocess.run(["appcontainer", "list", "--json"], stdout=subprocess.PIPE, check=True)
    here = [found for found in json.loads(done.stdout) if os.path.dirname(found["socket"]) == directory]
    return {os.path.basename(found["socket"]): found for found in here}, time.monotonic() - begin


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    alone, _ = listed()
    check(len(alone) == 1, alone)
    (own, found), = alone.items()
    check(found["device"] == device and found["state"] == "unlocked" and found["mounts"][0]["app"], found)

    stale = socket.socket(socket.AF_UNIX)
    stale.bind(name(1))
    stale.close()
    os.symlink(own, name(2))
    os.mkfifo(name(3))
    open(name(4), "w").close()
    os.mkdir(name(5))
    open(os.path.join(directory, "words"), "w").close()
    # Its name is that of no socket.
    other = socket.socket(socket.AF_UNIX)
    other.bind(os.path.join(directory, "other.sock"))
    other.listen(1)
    answering(16, b"SSH-2.0-OpenSSH_9.2\r\n")
    # Of a device that has another socket.
    answering(17, response(json.dumps(STATUS).encode()))
    answering(18, response(b"[" * 100_000))
    answering(19, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b" " * 65536 + b"\r\n")
    answering(20, b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n")
    answering(21, b"X" * 65536, b"X" * 65536)
    answering(22, response(json.dumps({**STATUS, "device": "a\nb"}).encode()))
    for number in range(1000, 1000 + silent):
        listening(number)

    found, took = listed()
    check(found[own]["state"] == "unlocked" and found[own]["device"] == device, found.get(own))
    rest = {key: value for key, value in found.items() if key != own}
    check(all(value["state"] == "notAnswering" for value in rest.values()), rest)
    check(all(value["pid"] == os.getpid() for value in rest.values()), rest)
    check(all(value["device"] is None and value["apps"] == 0 for value in rest.values()), rest)
    numbers = sorted(int(key[:16], 16) for key in rest)
    check(numbers == [*range(16, 23), *range(1000, 1000 + silent)], numbers[:20], len(numbers))
    check(took < 30, "it took", took)
    lines = subprocess.run(["appcontainer", "list"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    check(len(lines) > len(found), len(lines))
    for number in range(1, 5):
        os.unlink(name(number))
    os.rmdir(name(5))
    for number in [*range(16, 23), *range(1000, 1000 + silent)]:
        os.unlink(name(number))
    print(f"{len(found)} sockets in {took:.1f} s")


main()
