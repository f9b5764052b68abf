#!/usr/bin/python3
"""The volume plugin protocol, spoken as an engine speaks it.

    plugin.py FUNCTION,FUNCTION… [ARGUMENT…]

The environment has SOCKET, STATE, TEMPLATES and SECRETS."""

import http.client
import json
import os
import random
import select
import signal
import subprocess
import sys
import threading

from kit import ControlConnection, check

SOCKET, STATE, SECRETS = (os.environ[name] for name in ("SOCKET", "STATE", "SECRETS"))
APP, OTHER = "com.example.Notes", "com.example.Other"
PHONE = {"template": "phone", "app": APP, "passcode-secret": "code"}


class Refused(Exception):
    pass


class Plugin(ControlConnection):
    pass


def ask(request, **values):
    """The answer of the plugin. The protocol's own error is an exception with its line."""
    connection = Plugin(SOCKET)
    connection.request("POST", "/" + request, json.dumps(values), {"Content-Type": "application/vnd.docker.plugins.v1.2+json"})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    check(set(body) >= {"Err"}, request, body)
    if answer.status != 200:
        check(answer.status == 500 and body["Err"] and "\n" not in body["Err"], request, answer.status, body)
        raise Refused(body["Err"])
    check(body.pop("Err") == "", request, body)
    return body


def volume(request, name, **values):
    return ask("VolumeDriver." + request, Name=name, **values)


def create(name, **options):
    return volume("Create", name, Opts={key.replace("_", "-"): value for key, value in options.items()})


def refused(words, body, *arguments, **values):
    try:
        body(*arguments, **values)
    except Refused as error:
        check(words in str(error), "said:", error, "expected:", words)
    else:
        check(False, "it was taken:", arguments, values, words)


def begin(name, use):
    return volume("Mount", name, ID=use)["Mountpoint"]


def text(path):
    with open(path) as file:
        return file.read()


def control(at, request, /, **values):
    connection = ControlConnection(at)
    connection.request("POST" if values else "GET", "/v1/" + request, json.dumps(values) if values else None)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


# MARK: Calls of an engine


def activates():
    check(ask("Plugin.Activate") == {"Implements": ["VolumeDriver"]}, "activation")
    check(ask("VolumeDriver.Capabilities") == {"Capabilities": {"Scope": "local"}}, "capabilities")
    check(ask("VolumeDriver.List") == {"Volumes": []}, "volumes")


def makes_uses_and_removes():
    for template in "phone", "packed":
        create("one", **{**PHONE, "template": template, "capacity": "1G"})
        check(volume("Get", "one")["Volume"]["Mountpoint"] == "", "not in use yet")
        check(volume("Path", "one") == {"Mountpoint": ""}, "no path yet")
        place = begin("one", "a")
        check(place == STATE + "/mounts/one", place)
        check(text(place + "/Documents/first") == "from the template\n", "content")
        with open(place + "/Documents/new", "w") as file:
            file.write("written")
        check(begin("one", "b") == place, "a second use")
        check(volume("Path", "one") == {"Mountpoint": place}, "the path")
        found, = ask("VolumeDriver.List")["Volumes"]
        check((found["Name"], found["Mountpoint"]) == ("one", place), found)
        check(volume("Get", "one")["Volume"]["Status"]["app"] == APP, volume("Get", "one"))
        statistics = os.statvfs(place)
        check(statistics.f_blocks * statistics.f_frsize == 1 << 30, "capacity", statistics)
        volume("Unmount", "one", ID="a")
        check(text(place + "/Documents/new") == "written", "one use is left")
        volume("Unmount", "one", ID="b")
        check(not os.path.exists(place), "hidden after the last use")
        place = begin("one", "c")
        check(text(place + "/Documents/new") == "written", "kept")
        volume("Unmount", "one", ID="c")
        volume("Remove", "one")
        check(ask("VolumeDriver.List") == {"Volumes": []}, "removed")
    check(len(os.listdir(STATE + "/templates")) == 1, "imported once")


def shares_a_device():
    create("notes", **PHONE)
    create("other", beside="notes", app=OTHER)
    refused("shows the app", create, "same", beside="other", app=APP)
    create("read", **PHONE, read_only="true")
    here, there, read = begin("notes", "1"), begin("other", "2"), begin("read", "3")
    with open(here + "/Groups/group.com.example.shared/note", "w") as file:
        file.write("shared")
    check(text(there + "/Groups/group.com.example.shared/note") == "shared", "the group")
    try:
        open(read + "/Documents/x", "w")
        check(False, "written to a read-only volume")
    except OSError as error:
        check(error.errno == 30, error)
    refused("is on the device of", volume, "Remove", "notes")
    # The device is needed as long as one of its volumes is in use.
    volume("Unmount", "notes", ID="1")
    check(text(there + "/Groups/group.com.example.shared/note") == "shared", "the other goes on")
    volume("Unmount", "other", ID="2")
    volume("Unmount", "read", ID="3")
    refused("is on the device of", volume, "Remove", "notes")
    for name in "read", "other", "notes":
        volume("Remove", name)


def handles_a_device():
    create("notes", **PHONE)
    create("control", control_of="notes", uid="0")
    create("another", **PHONE)
    place, sockets = begin("notes", "1"), begin("control", "2")
    check(os.listdir(sockets) == ["control.sock"], os.listdir(sockets))
    sock = sockets + "/control.sock"
    check(control(sock, "status")[1]["state"] == "unlocked", "the state")
    check(control(sock, "lock", now=True)[0] == 200, "locked")
    try:
        text(place + "/Documents/first")
        check(False, "read while it is locked")
    except OSError as error:
        check(error.errno == 1, error)
    check(control(sock, "unlock", passcode="271828")[0] == 200, "unlocked")
    check(text(place + "/Documents/first") == "from the template\n", "read again")
    for request, values in (("install", {"path": "/usr"}), ("backup", {"output": "/tmp/x"}), ("shutdown", {"x": 1}),
                            ("mount", {"app": APP}), ("deliver", {"app": APP, "files": ["/etc/passwd"]}),
                            ("run", {"app": APP}), ("open-control-socket", {"socket": "/tmp/x", "user": 0})):
        status, body = control(sock, request, **values)
        check((status, body["complaint"]["kind"]) == (403, "notAllowed"), request, status, body)
    # Days that pass would write backups to the host.
    check(control(sock, "clock", advance=60)[0] == 200, "the clock")
    backups = os.path.dirname(SECRETS) + "/backups"
    os.mkdir(backups)
    subprocess.run(["appcontainer", "schedule", STATE + "/devices/notes", "--backup", backups], check=True, capture_output=True)
    check(control(sock, "clock", advance=90000)[0] == 403, "the clock, with scheduled backups")
    check(os.listdir(backups) == [], "backups")
    # The superuser of a container without a user namespace writes nothing beside it.
    try:
        open(sockets + "/more", "w")
        check(False, "written beside the socket")
    except OSError as error:
        check(error.errno == 30, error)
    # Nor does it at a further use, for which nothing changes.
    filesystem = os.stat(sockets).st_dev
    begin("control", "3")
    check(os.stat(sockets).st_dev == filesystem and os.statvfs(sockets).f_flag & os.ST_RDONLY, "another filesystem")
    volume("Unmount", "control", ID="3")
    # After the end of the device's process it is a new one.
    told = subprocess.run(["appcontainer", "status", STATE + "/devices/notes", "--json"], check=True, capture_output=True)
    process = os.pidfd_open(json.loads(told.stdout)["daemon"]["pid"])
    signal.pidfd_send_signal(process, signal.SIGKILL)
    # Until it has ended it may take a connection.
    select.select([process], [], [])
    os.close(process)
    begin("control", "3")
    check(control(sock, "unlock", passcode="271828")[0] == 200 and os.statvfs(sockets).f_flag & os.ST_RDONLY, "a new socket")
    check(text(begin("notes", "3") + "/Documents/first") == "from the template\n", "read again")
    for name in "control", "notes":
        volume("Unmount", name, ID="3")
    volume("Unmount", "control", ID="2")
    check(not os.path.exists(sockets), "the socket is gone")
    volume("Unmount", "notes", ID="1")
    for name in "control", "notes", "another":
        volume("Remove", name)


def is_asked_twice_and_in_any_order():
    for _ in range(2):
        volume("Remove", "one")
    refused("there is no volume", volume, "Get", "one")
    refused("there is no volume", volume, "Mount", "one", ID="a")
    refused("there is no volume", volume, "Unmount", "one", ID="a")
    for _ in range(2):
        create("one", **PHONE)
    refused("with other options", create, "one", template="phone", app=OTHER)
    for _ in range(2):
        volume("Unmount", "one", ID="never")
    for _ in range(2):
        begin("one", "a")
    begin("one", "b")
    for _ in range(3):
        volume("Unmount", "one", ID="a")
    place = volume("Path", "one")["Mountpoint"]
    check(os.path.exists(place + "/Documents"), "an end that is told again ends nobody else's use")
    # As Podman does: the end has another identifier.
    volume("Unmount", "one", ID="unknown")
    check(not os.path.exists(place), "ended")
    for _ in range(2):
        volume("Remove", "one")
    # Many at once.
    threads = [threading.Thread(target=create, args=(f"many-{number}",), kwargs=PHONE) for number in range(8) for _ in "12"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(len(ask("VolumeDriver.List")["Volumes"]) == 8, ask("VolumeDriver.List"))
    for number in range(8):
        volume("Remove", f"many-{number}")


def tells_mistakes():
    for words, options in (
            ("one of the options template", {}), ("one of the options template", {"template": "phone", "beside": "x"}),
            ("there is no option color", {"template": "phone", "color": "red"}),
            ("there is no template none", {"template": "none"}), ("no name of a file", {"template": "../phone"}),
            ("is no template", {"template": "broken"}), ("not installed", {"template": "phone", "app": "com.example.None"}),
            ("name the app", {"template": "phone"}), ("no bundle identifier", {"template": "phone", "app": "a b"}),
            ("there is no secret", {"template": "phone", "app": APP, "passcode-secret": "none"}),
            ("no name of a file", {"template": "phone", "app": APP, "passcode-secret": "../secrets/code"}),
            ("is no capacity", {"template": "phone", "app": APP, "capacity": "much"}),
            ("a capacity is from", {"template": "phone", "app": APP, "capacity": "1"}),
            ("neither true nor false", {"template": "phone", "app": APP, "running": "perhaps"}),
            ("no user's number", {"template": "phone", "app": APP, "uid": "root"}),
            ("there is no volume", {"beside": "none"}), ("there is no volume", {"control-of": "none", "uid": "1"}),
            ("needs the option uid", {"control-of": "none"}), ("does not go with", {"beside": "none", "capacity": "1G"})):
        refused(words, volume, "Create", "bad", Opts=options)
    for name in "", ".", "..", "a/b", "-a", "a b", "x" * 129, "\x1b[31m", "\u00e4":
        refused("", volume, "Create", name, Opts=PHONE)
        refused("", volume, "Mount", name, ID="1")
    refused("no request", ask, "VolumeDriver.Explode")
    for body in b"", b"[", b"[1]", b'{"Name": 1}', b"\xff" * 100:
        connection = Plugin(SOCKET)
        connection.request("POST", "/VolumeDriver.Create", body)
        answer = connection.getresponse()
        check(answer.status == 500 and json.loads(answer.read())["Err"], body)
    check(ask("VolumeDriver.List") == {"Volumes": []}, "nothing was made")


# MARK: Volumes that outlive the plugin


def makes_some():
    for name in "first", "second":
        create(name, **PHONE)
        with open(begin(name, "1") + "/Documents/mine", "w") as file:
            file.write(name)


def some_are_used():
    for name in "first", "second":
        place = f"{STATE}/mounts/{name}/Documents/"
        check(text(place + "mine") == name, name)
        with open(place + "more", "a") as file:
            file.write("x")


def some_are_known():
    check([one["Name"] for one in ask("VolumeDriver.List")["Volumes"]] == ["first", "second"], "known")
    some_are_used()
    for name in "first", "second":
        check(begin(name, "2") == f"{STATE}/mounts/{name}", "used again")
        volume("Unmount", name, ID="2")
        create(name, **PHONE)
    some_are_used()


def some_end():
    for name in "first", "second":
        volume("Unmount", name, ID="1")
        volume("Remove", name)


def a_damaged_volume_is_told():
    refused("is damaged", volume, "Get", "first")
    refused("is damaged", create, "first", **PHONE)


def an_end_is_missed():
    create("third", **PHONE)
    begin("third", "1")


def the_next_end_is_the_last():
    begin("third", "2")
    volume("Unmount", "third", ID="2")
    check(volume("Path", "third") == {"Mountpoint": ""}, "ended")
    # As long as a container sees it, an identifier that is unknown ends no use.
    place = begin("third", "3")
    container = subprocess.Popen(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", 'mount --bind "$0" /mnt && echo up && exec cat', place],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check(container.stdout.readline() == b"up\n", "the container is up")
    volume("Unmount", "third", ID="unknown")
    check(volume("Path", "third") == {"Mountpoint": place}, "not ended")
    refused("is in use", volume, "Remove", "third")
    container.communicate()
    # A container that watches the host sees all of its mounts, and has no volume.
    watcher = subprocess.Popen(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", "mount --rbind / /mnt && echo up && exec cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check(watcher.stdout.readline() == b"up\n", "the watcher is up")
    volume("Unmount", "third", ID="unknown-too")
    check(volume("Path", "third") == {"Mountpoint": ""}, "ended")
    watcher.communicate()
    volume("Remove", "third")


# MARK: A host that lacks something


def a_mount_is_refused(words):
    create("one", **PHONE)
    for _ in range(2):
        refused(words, begin, "one", "a")
    check(volume("Path", "one") == {"Mountpoint": ""}, "no use of it began")
    # The secret is asked for at each use.
    os.rename(SECRETS + "/code", SECRETS + "/away")
    refused("there is no secret", begin, "one", "a")
    os.rename(SECRETS + "/away", SECRETS + "/code")


def the_same_mount_works():
    check(text(begin("one", "a") + "/Documents/first") == "from the template\n", "content")
    volume("Unmount", "one", ID="a")
    volume("Remove", "one")


def a_volume_is_refused(template, words):
    for _ in range(2):
        refused(words, create, "large", **{**PHONE, "template": template})
    check(ask("VolumeDriver.List") == {"Volumes": []}, "nothing was made")


def the_same_volume_is_made(template):
    create("large", **{**PHONE, "template": template})
    check(os.path.getsize(begin("large", "a") + "/Documents/large") == 24 << 20, "content")
    volume("Unmount", "large", ID="a")
    volume("Remove", "large")


# MARK: Kills


def storms(seed):
    """Engines that ask for everything at once, until the plugin is killed."""
    def one(number):
        source = random.Random(f"{seed} {number}")
        while True:
            name = f"storm-{source.randrange(3)}"
            try:
                source.choice((
                    lambda: create(name, **PHONE), lambda: begin(name, str(number)),
                    lambda: volume("Unmount", name, ID=str(number)), lambda: volume("Remove", name)))()
            except Refused:
                continue
            except (OSError, http.client.HTTPException):
                return
    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ends_all():
    for one in ask("VolumeDriver.List")["Volumes"]:
        name = one["Name"]
        with open(f"{STATE}/volumes/{name}.json") as file:
            for use in json.load(file)["uses"]:
                volume("Unmount", name, ID=use)
        place = begin(name, "last")
        check(text(place + "/Documents/first") == "from the template\n", "whole after all")
        volume("Unmount", name, ID="last")
        found = subprocess.run(["appcontainer", "check", f"{STATE}/devices/{name}"], capture_output=True, text=True)
        check(found.stdout == "whole\n", found)
        volume("Remove", name)


if __name__ == "__main__":
    for function in sys.argv[1].split(","):
        globals()[function](*sys.argv[2:])
