#!/usr/bin/python3
"""The passcode of a device, in its record and over its socket.

    passcode.py pass_time RECORD SECONDS    lets the wait after wrong passcodes be over by so many seconds more
    passcode.py post SOCKET ORDER           posts the order; prints the status, and writes the body to `answer`"""

import json
import sys

from kit import ControlConnection


def pass_time(path, seconds):
    with open(path) as file:
        record = json.load(file)
    record["nanoseconds"] -= int(seconds) * 1_000_000_000
    with open(path, "w") as file:
        json.dump(record, file)


def post(socket, order):
    connection = ControlConnection(socket)
    connection.request("POST", "/v1/passcode", order)
    answer = connection.getresponse()
    print(answer.status)
    with open("answer", "wb") as file:
        file.write(answer.read())


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
