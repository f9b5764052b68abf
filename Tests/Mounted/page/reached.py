#!/usr/bin/python3
"""The server of a device's page when its device is off, gone, another one or served by another user, and at its end.

    reached.py NAME DEVICE APP HOME"""

import json
import os
import socket
import subprocess
import sys
import time

from kit import check, eventually
from served import LINES, Served


def streams_end_with_the_device(device, app, home):
    with Served(device) as page:
        changes = page.ask("GET", "/v1/changes/follow", accept=LINES)
        with open(f"{home}/Documents/changed", "w") as file:
            file.write("text")
        wanted = {"app": app, "path": "Documents"}
        # It waits for lines until its time is over; the file itself is a change of its own.
        while not wanted.items() <= json.loads(changes.readline()).items():
            pass
        events = page.ask("GET", "/v1/events/follow", accept=LINES)
        check(json.loads(events.readline())["event"], "an event")
        subprocess.run(["appcontainer", "unmount", home], check=True)
        subprocess.run(["appcontainer", "shutdown", device], check=True, capture_output=True)
        eventually(lambda: not changes.readline(), "the changes end")
        while events.readline():
            pass
        status, answer = page.api("status")
        check(status == 503 and answer["complaint"]["kind"] == "daemonUnreachable", status, answer)
        check("appcontainer boot" in answer["complaint"]["message"], answer)
        check(page.ask("GET", "/").status == 200, "the page itself is there")
        subprocess.run(["appcontainer", "boot", device], check=True, capture_output=True)
        eventually(lambda: page.api("status")[0] == 200, "the device is found again")


def tells_that_its_device_is_another(device, app, home):
    with Served(device) as page:
        identifier = page.api("status")[1]["identifier"]
        subprocess.run(["appcontainer", "unmount", home], check=True)
        subprocess.run(["appcontainer", "shutdown", device], check=True, capture_output=True)
        os.rename(device, device + ".old")
        status, answer = page.api("status")
        check(status == 409 and answer["complaint"]["kind"] == "deviceMissing", "it is gone", status, answer)
        subprocess.run(["appcontainer", "create", device], check=True, capture_output=True)
        for _ in range(2):
            for path, body in (("status", None), ("lock", {"now": True}), ("apps", None)):
                status, answer = page.api(path, body)
                check(status == 409 and answer["complaint"]["kind"] == "otherDevice", path, status, answer)
                check("another device" in answer["complaint"]["message"], answer)
            subprocess.run(["appcontainer", "boot", device], check=True, capture_output=True)
        subprocess.run(["appcontainer", "shutdown", device], check=True, capture_output=True)
        os.rename(device, device + ".other")
        os.rename(device + ".old", device)
        subprocess.run(["appcontainer", "boot", device], check=True, capture_output=True)
        check(page.api("status")[1]["identifier"] == identifier, "it is back")


def ends_with_its_command(device, app, home):
    with Served(device) as page:
        events = page.ask("GET", "/v1/events/follow", accept=LINES)
        check(events.status == 200, "following")
        began = time.monotonic()
    check(time.monotonic() - began < 5, "it took long to end")
    refused = socket.socket()
    check(refused.connect_ex(("127.0.0.1", page.port)) != 0, "the port is free")


def tells_who_serves_its_device(device, app, home):
    """Another user turns the device on when it is told to by a file."""
    with Served(device) as page:
        message = lambda: page.api("status")[1]["complaint"]["message"]
        check("the device is off" in message(), message())
        with open(home + ".ready", "w"):
            pass
        eventually(lambda: "is served by process" in message(), "it tells who serves the device")
        status, answer = page.api("status")
        check(status == 503 and answer["complaint"]["kind"] == "inUse", status, answer)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
