#!/usr/bin/python3
"""Sends a device whatever its control API's document allows and forbids, by schemathesis, and looks for what it does not.

fuzzed_api.py DOCUMENT APP SECONDS SEED [OPTION-OF-SCHEMATHESIS…]: in an empty directory, with `appcontainer` in PATH, and
schemathesis in PYTHON_TOOLS. The requests name paths and processes by chance: only for a namespace of its own."""

import collections
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading

import kit

STREAMS = ("/v1/run", "/v1/events/follow", "/v1/changes/follow")
LINES = "application/x-ndjson"
# The phone of the moment, whatever its identifier is.
PHONE = "00000000-0000-4000-8000-000000000000"


def appcontainer(*arguments):
    return subprocess.run(["appcontainer", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


class Phone:
    """A device that is on, with an app. Another takes its place when requests have left it in no state for the next."""

    def __init__(self, app):
        self.count = 0
        appcontainer("create", "template", "--kdf-cost", "1", "--lock-grace", "0")
        appcontainer("install", "template", app)
        appcontainer("shutdown", "template")
        self.renew()

    def renew(self):
        if self.count:
            subprocess.run(["appcontainer", "shutdown", self.name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            shutil.rmtree(self.name, ignore_errors=True)
        self.count += 1
        self.name = f"phone-{self.count}"
        appcontainer("clone", "template", self.name)
        self.boot()

    def boot(self):
        self.socket = appcontainer("boot", self.name).strip()
        self.identifier = self.status()["identifier"]

    def ask(self, method, path, body=None, headers={}):
        """The answer; of one that goes on what there is until its result, or for a moment."""
        connection = kit.ControlConnection(self.socket)
        try:
            connection.request(method, path, body, headers)
            connection.sock.settimeout(30)
            sock = connection.sock
            answer = connection.getresponse()
            if path.split("?")[0] not in STREAMS or method != "GET" and method != "POST" or answer.status != 200:
                return answer, answer.read()
            lines = []
            # A run answers when its app is mounted; events come at once, or never.
            sock.settimeout(0.1 if "follow" in path else 30)
            try:
                for line in iter(answer.readline, b""):
                    lines.append(line)
                    if b'{"result":' in line or b'{"complaint":' in line:
                        break
            except TimeoutError:
                pass
            return answer, b"".join(lines)
        finally:
            connection.close()

    def status(self):
        return json.loads(self.ask("GET", "/v1/status")[1])

    def is_as_new(self):
        try:
            status = self.status()
        except OSError:
            return False
        return status["state"] == "unlocked" and not status["hasPasscode"] and not status["hasBackupPassword"] \
            and status["apps"] == 1 and not status["mounts"] and not status["suspended"]


class Forwarder(http.server.BaseHTTPRequestHandler):
    """From a port of this machine to the control socket of the phone of the moment, which it names in a header."""

    protocol_version = "HTTP/1.1"
    phone = None
    operation = None
    faults = []
    answered = collections.Counter()

    def forward(self):
        path = self.path.split("?")[0]
        if path != Forwarder.operation:
            Forwarder.operation = path
            if not self.phone.is_as_new():
                self.phone.renew()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
        headers = {key: value for key, value in self.headers.items()
                   if key.lower() not in ("host", "connection", "content-length")}
        named = headers.get("Device") == PHONE
        if path in STREAMS:
            headers["Accept"] = LINES
        for attempt in range(3):
            try:
                # Another phone may have taken its place since the request was made.
                if named:
                    headers["Device"] = self.phone.identifier
                answer, content = self.phone.ask(self.command, self.path, body, headers)
                break
            except (ConnectionError, http.client.HTTPException, FileNotFoundError) as problem:
                # A shutdown, or an erased device; anything else is a device that broke.
                if attempt == 2:
                    Forwarder.faults.append(f"{self.command} {self.path}: {problem!r}")
                    answer = None
                    break
                self.phone.renew()
        if answer is None:
            self.send_error(502)
            return
        Forwarder.answered[answer.status] += 1
        self.send_response_only(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(key, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.forward
        raise AttributeError(name)

    def log_message(self, *_):
        pass


def write_settings(app, process):
    """Values that mean something on the phone are taken often enough, so that requests come beyond the first check."""
    os.mkdir("place")
    os.mkdir("mountpoint")
    with open("letter.txt", "w") as letter:
        letter.write("Dear John,\n")
    here, above = os.getcwd(), os.path.dirname(os.path.abspath(__file__))
    values = {
        "apps": ["com.example.Notes"], "bundles": [app, f"{here}/letter.txt", f"{here}/place"],
        "groups": ["group.com.example.shared", "iCloud.com.example"], "passcodes": ["1", "2"],
        "places": [f"{here}/{name}" for name in ("place", "mountpoint", "letter.txt", "none", "none/none", "place/new")],
        "paths": ["Documents", "Library/Caches", "tmp/none", "Notes.app/Info.plist", "Groups", ""],
        "processes": [process], "numbers": [1, 2],
    }
    keys = {
        "app": "apps", "groups[*]": "groups", "iCloud[*]": "groups", "passcode": "passcodes", "old": "passcodes",
        "new": "passcodes", "output": "places", "input": "places", "since": "places", "mountPoint": "places",
        "backup": "places", "files[*]": "places", "path": "paths", "pid": "processes", "lease": "numbers",
        "task": "numbers",
    }
    with open("schemathesis.toml", "w") as settings:
        def line(key, value):
            settings.write(f"{key} = {json.dumps(value)}\n")

        line("hooks", os.path.join(above, "api_checks.py"))
        # A check of ours says for which of them 400 is right.
        settings.write("[checks.positive_data_acceptance]\n")
        line("expected-statuses", ["2xx", "400", "403", "404", "409", "415", "5xx"])
        settings.write("[checks.negative_data_rejection]\n")
        line("expected-statuses", ["400", "403", "404", "405", "409", "413", "415", "421"])
        settings.write("[checks.not_a_server_error]\n")
        line("expected-statuses", ["2xx", "4xx", "503", "507"])
        for name, entries in values.items():
            settings.write(f"[dictionaries.{name}]\n")
            line("values", entries)
        settings.write("[parameters]\n")
        line('"header.Device"', PHONE)
        for key, name in keys.items():
            settings.write(f'"body.{key}" = {{dictionary = "{name}", probability = 0.8}}\n')
        settings.write('[[operations]]\ninclude-operation-id = "install"\n'
                       'parameters = {"body.app" = {dictionary = "bundles", probability = 0.8}}\n')


def main():
    document, app, seconds, seed = sys.argv[1:5]
    Forwarder.phone = Phone(app)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forwarder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    process = subprocess.Popen(["sleep", "infinity"])
    write_settings(app, process.pid)
    tools = os.environ["API_TOOLS"]
    ended = subprocess.run(
        [f"{tools}/bin/schemathesis", "run", document, "--url", f"http://127.0.0.1:{server.server_address[1]}",
         "--seed", seed, "--max-time", seconds, "--phases", "examples,coverage,fuzzing", "--request-timeout", "30",
         "--continue-on-failure", "--no-color", "--generation-database", "none", "--warnings", "off", *sys.argv[5:]],
        env={**os.environ, "API_DOCUMENT": document}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(ended.stdout)
    print(f"{Forwarder.phone.count} devices, requests by status: {dict(sorted(Forwarder.answered.items()))}")
    kit.check(not Forwarder.faults, "the device did not answer:", Forwarder.faults)
    if ended.returncode != 0:
        # Once more at the end, of which a log shows the last lines only.
        found = re.split(r"=+ (?:FAILURES|ERRORS) =+", ended.stdout)[-1].split("= SUMMARY =")[0]
        raise SystemExit("\n".join(line[:300] for line in found.splitlines() if line.strip())[:2500])
    appcontainer("shutdown", Forwarder.phone.name)


main()
