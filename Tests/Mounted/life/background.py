#!/usr/bin/python3
"""A test that runs an app of another device by a library: its process is a child of this one, and announced.

background.py SOCKET APP INNER OUTER: the app counts into INNER, this process into OUTER."""

import json
import subprocess
import sys
import time

from running import Lease, ask

COUNT = 'n=0; while :; do n=$((n + 1)); echo $n >"$0"; sleep 0.01; done'


def main(socket, app, inner, outer):
    lease = Lease(socket, app)
    program = subprocess.Popen(["sh", "-c", "read line; " + COUNT, inner], stdin=subprocess.PIPE)
    answer = ask(socket, "POST", "run-process", {"lease": lease.result["lease"], "pid": program.pid})
    if answer[0] != 200:
        raise SystemExit(json.dumps(answer))
    program.stdin.write(b"go\n")
    program.stdin.flush()
    step = 0
    while True:
        step += 1
        with open(outer, "w") as file:
            file.write(f"{step}\n")
        time.sleep(0.01)


if __name__ == "__main__":
    main(*sys.argv[1:])
