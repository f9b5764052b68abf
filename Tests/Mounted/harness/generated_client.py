#!/usr/bin/python3
"""A client that openapi-python-client has made from the document: a device is unlocked, has an app installed, is locked,
and tells its events.

generated_client.py SOCKET IDENTIFIER APP: with the client's package `device_api` in PYTHONPATH, and its needs."""

import sys

import httpx
from device_api import Client, models
from device_api.api.app import apps, install, mark_running
from device_api.api.device import capacity, events, lock, passcode, status, unlock
from device_api.api.mount import mount, unmount

import kit

APP = "com.example.Notes"


def main():
    socket, identifier, app = sys.argv[1:]
    client = Client("http://device", raise_on_unexpected_status=True).set_httpx_client(
        httpx.Client(base_url="http://device", transport=httpx.HTTPTransport(uds=socket), timeout=60))
    this = {"client": client, "device": identifier}

    found = status.sync(**this)
    kit.check(found.identifier == identifier and found.state == models.DeviceStatusState.UNLOCKED, found)
    kit.check(found.has_passcode is False and found.mounts == [], found)
    installed = install.sync(**this, body=models.InstallRequest(app=app))
    kit.check(isinstance(installed, models.App) and installed.identifier == APP and installed.notices, installed)
    kit.check([each.identifier for each in apps.sync(**this)] == [APP])
    kit.check(mount.sync(**this, body=models.MountRequest(app=APP)).read_only is False)
    report = capacity.sync(**this, body=models.CapacityRequest(capacity=1 << 30, low_water=2.5))
    kit.check(report.capacity == 1 << 30 and report.low_water == 2.5, report)

    # One of several: each action has a type of its own.
    done = passcode.sync_detailed(**this, body=models.SetPasscode(action="set", new="271828"))
    kit.check(done.status_code == 200, done)
    kit.check(lock.sync_detailed(**this, body=models.LockRequest(now=True)).status_code == 200)
    kit.check(status.sync(**this).state == models.DeviceStatusState.LOCKED)

    # A refusal is a value of its own type, with its kind.
    refused = unlock.sync_detailed(**this, body=models.UnlockRequest(passcode="1"))
    kit.check(refused.status_code == 403, refused)
    kit.check(refused.parsed.complaint.kind == models.ComplaintKind.WRONGPASSCODE, refused)
    missing = mark_running.sync_detailed(**this, body=models.MarkRunningRequest(app="com.example.None"))
    kit.check(missing.status_code == 404 and missing.parsed.complaint.kind == models.ComplaintKind.UNKNOWNAPP, missing)
    other = status.sync_detailed(client=client, device="another")
    kit.check(other.status_code == 421, other)

    kit.check(unlock.sync_detailed(**this, body=models.UnlockRequest(passcode="271828")).status_code == 200)
    place = status.sync(**this).mounts[0].mount_point
    kit.check(unmount.sync_detailed(**this, body=models.UnmountRequest(mount_point=place)).status_code == 200)
    told = events.sync(**this)
    names = [each.event.value for each in told]
    kit.check(all(each in names for each in ("installed", "mounted", "locked", "unlocked", "unmounted")), names)
    kit.check(told[0].time.tzinfo is not None, told[0])


main()
