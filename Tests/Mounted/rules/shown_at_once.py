#!/usr/bin/python3
"""Changes that a request makes behind the kernel's back, as a mount shows them right after the reply.

    shown_at_once.py SOCKET APP HOME FILE ROUNDS
"""

import json
import os
import sys

from kit import ControlConnection, check

SOCKET, APP, HOME, FILE, ROUNDS = sys.argv[1:5] + [int(sys.argv[5])]


class Device:
    """One connection for all requests, so that nothing but the reply lies between a change and the look at it."""

    def __init__(self):
        self.connection = ControlConnection(SOCKET)

    def ask(self, command, **values):
        self.connection.request("POST", "/v1/" + command, json.dumps(values))
        answer = self.connection.getresponse()
        body = answer.read()
        check(answer.status == 200, command, answer.status, body)


def names(directory):
    return sorted(os.listdir(os.path.join(HOME, directory)))


def links(directory):
    return os.stat(os.path.join(HOME, directory)).st_nlink


def deliveries(device):
    before = links("Documents")
    check(not os.path.exists(os.path.join(HOME, "Documents/Inbox")), "an Inbox")
    device.ask("deliver", app=APP, files=[FILE])
    check(links("Documents") == before + 1, "Documents with its Inbox has", links("Documents"), "links, before", before)
    root, extension = os.path.splitext(os.path.basename(FILE))
    for number in range(1, ROUNDS):
        name = f"{root}-{number}{extension}"
        known = names("Documents/Inbox")
        check(not os.path.exists(os.path.join(HOME, "Documents/Inbox", name)), name, "is there before")
        device.ask("deliver", app=APP, files=[FILE])
        check(os.path.exists(os.path.join(HOME, "Documents/Inbox", name)), name, "is not there")
        check(names("Documents/Inbox") == sorted([*known, name]), "the list lacks", name)


def entitlements(device):
    for number in range(ROUNDS):
        group = f"group.com.example.{number}"
        known = names("Groups") if number else []
        check(not os.path.exists(os.path.join(HOME, "Groups", group)), group, "is there before")
        device.ask("entitle", app=APP, groups=[group])
        check(os.path.exists(os.path.join(HOME, "Groups", group)), group, "is not there")
        check(names("Groups") == sorted([*known, group]), "the list lacks", group)


deliveries(Device())
entitlements(Device())
