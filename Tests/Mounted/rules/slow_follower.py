#!/usr/bin/python3
"""Follows the record over the control socket and does not read, while refusals fill it: nothing waits for the follower, and
the next line tells how many events it missed.

    slow_follower.py MOUNT STATUS       STATUS: a file with the device's status; the device is $DEVICE"""

import json
import os
import subprocess
import sys

import kit

place = sys.argv[1] + "/Notes.app/" + "n" * 250
status = json.load(open(sys.argv[2]))["daemon"]
slow = kit.ControlConnection(status["socket"])
slow.request("GET", "/v1/events/follow")
answer = slow.getresponse()
kit.check(answer.status == 200 and answer.getheader("Content-Type") == "application/x-ndjson", answer.getheaders())
first = answer.readline()


def flood():
    for _ in range(1000):
        try:
            os.mkdir(place)
            raise AssertionError("made")
        except PermissionError:
            pass


for _ in range(12):
    kit.in_another_process(flood)
resident = int(next(line for line in open(f"/proc/{status['pid']}/status") if line.startswith("VmRSS")).split()[1])
kit.check(resident < 200_000, resident, "KiB: the daemon has grown")
# Another who follows has them all, now.
with subprocess.Popen(["appcontainer", "events", os.environ["DEVICE"], "--follow"], stdout=subprocess.PIPE) as other:
    for _ in range(12_000):
        while b"n" * 250 not in other.stdout.readline():
            pass
    other.kill()

seen, missed = [json.loads(first)], []
while not missed:
    event = json.loads(answer.readline())
    (missed if event["event"] == "missed" else seen).append(event)
refusals = [event for event in seen if event["event"] == "refused"]
kit.check(missed[0]["missed"] + len(refusals) == 12_000, missed, len(refusals))
kit.check(missed[0]["missed"] > 1000, missed)
# He goes on from here.
subprocess.run(["mkdir", sys.argv[1] + "/last"], stderr=subprocess.DEVNULL)
event = json.loads(answer.readline())
kit.check(event["path"] == "last", event)
