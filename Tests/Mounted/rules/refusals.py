#!/usr/bin/python3
"""Compares refused calls with the events that they left: one for each, in the order of the calls.

    refusals.py APP TABLE EVENTS        TABLE: `call # path operation rule` a line; EVENTS: lines of the record"""

import datetime
import json
import sys

app, table, record = sys.argv[1:]
rows = [line.rstrip("\n").split(" # ") for line in open(table)]
seen = [json.loads(line) for line in open(record)]
bad = []
for row, event in zip(rows, seen):
    call, (path, operation, rule) = row[0], row[1].rsplit(" ", 2)
    path = "" if path == "/" else path
    got = (event.get("path"), event["operation"], event["rule"])
    if got != (path, operation, rule):
        bad.append(f"{call}: {got}")
if len(rows) != len(seen):
    bad.append(f"{len(seen)} events of {len(rows)} calls: " + "\n".join(map(str, seen)))
for event in seen:
    if (event["app"], event["process"], event["errno"]) != (app, "python3", "EPERM"):
        bad.append(str(event))
    datetime.datetime.strptime(event["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
    if set(event) - {"time", "event", "app", "path", "operation", "pid", "process", "rule", "errno"}:
        bad.append(f"further keys: {event}")
if len({event["pid"] for event in seen}) != 1:
    bad.append("more than one process")
sys.exit("\n".join(bad) or 0)
