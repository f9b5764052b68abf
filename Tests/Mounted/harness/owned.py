#!/usr/bin/python3
"""A process that owns a device, a command that is tested on one, and the reports of such commands.

    owned.py hold FOLDER APP        owns a copy of the template in the folder, and a file in the home of the app that is
                                    mounted there; writes `PID HOME` to `ready` in the folder, and goes on
    owned.py refuse                 is refused names of all kinds, and one of them often; the home is $APPCONTAINER_HOME
    owned.py report FILE            checks the report of a command that ended well, and was refused two directories
    owned.py refuse_report FILE     checks the report of `refuse`"""

import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

from kit import ControlConnection


def hold(folder, app):
    own = subprocess.Popen(
        ["appcontainer", "own"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    own.stdin.write(json.dumps({"device": folder + "/copy", "clone": folder + "/template"}).encode() + b"\n")
    own.stdin.flush()
    report = json.loads(own.stdout.readline())
    connection = ControlConnection(report["socket"])
    connection.request(
        "POST", "/v1/mount", json.dumps({"app": app, "running": True}), {"Content-Type": "application/json"})
    home = json.loads(connection.getresponse().read())["mountPoint"]
    kept = open(home + "/Documents/kept", "w")
    kept.write("x")
    with open(folder + "/ready.new", "w") as ready:
        print(own.pid, home, file=ready)
    os.rename(folder + "/ready.new", folder + "/ready")
    time.sleep(1000)


def refuse():
    os.chdir(os.environ["APPCONTAINER_HOME"])
    for name in [b"<&\"'>", b"\x01\t\n", b"\xff", "übung".encode()] + 5000 * [b"often"]:
        try:
            os.mkdir(name)
            raise SystemExit("not refused")
        except PermissionError:
            pass


def report(path):
    suite = xml.parse(path).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2"), suite.attrib
    cases = [(case.get("classname"), case.get("name")) for case in suite.iter("testcase")]
    assert cases[0][0] == "command" and suite.find("testcase").find("failure") is None, cases
    assert cases[1:] == [("refused.topLevel", "mkdir <new>"), ("refused.sealedBundle", "mkdir Notes.app/x")], cases
    assert all("EPERM" in failure.get("message") for failure in suite.iter("failure"))


def refuse_report(path):
    root = xml.parse(path).getroot()
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert root.get("tests") == str(len(cases)) and root.get("failures") == str(len(cases) - 1), root.attrib
    assert {"mkdir <&\"'>", "mkdir often", "mkdir übung"} <= set(cases), list(cases)
    often = int(re.search(r", (\d+) times", cases["mkdir often"].find("failure").get("message"))[1])
    omitted = int(re.match(r"\d+", root.find("testsuite/system-out").text)[0])
    assert often + omitted == 5000 and omitted > 0, (often, omitted)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
