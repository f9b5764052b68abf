"""`appcontainer ui` as a program that a test starts, and a browser's requests to it by hand."""

import http.client
import json
import os
import re
import subprocess
import urllib.parse

from kit import check

LINES = "application/x-ndjson"


class Served:
    """One run of the command. Ends with the `with` block."""

    def __init__(self, device, *options, admitted=True):
        self.command = ["appcontainer", "ui", device, "--no-browser", *options]
        self.admitted = admitted

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.link = self.process.stdout.readline().strip()
        check(self.link.startswith("http://127.0.0.1:"), "the first line", self.link, self.process.poll())
        self.port = urllib.parse.urlsplit(self.link).port
        self.origin = f"http://127.0.0.1:{self.port}"
        self.cookie = self.secret = None
        if self.admitted:
            self.admit()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        check(self.process.wait(30) == 0, "it ends with", self.process.returncode, self.process.stderr.read())

    def admit(self):
        """Opens the link, as a browser does first."""
        answer = self.ask("GET", self.link[len(self.origin):], cookie=None)
        check(answer.status == 200, "the link is answered with", answer.status)
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        self.secret = json.loads(re.search(rb'id="data">(.*?)</script>', answer.content)[1])["secret"]

    def ask(self, method, path, body=None, cookie=..., accept="application/json", **headers):
        """One request, with what a browser sends for its own page unless the test says otherwise."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
        cookie = self.cookie if cookie is ... else cookie
        own = {"Accept": accept}
        if cookie:
            own["Cookie"] = cookie
        if self.secret:
            own["X-Page-Secret"] = self.secret
        if method == "POST":
            own["Origin"] = self.origin
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if data is not None:
            own["Content-Length"] = str(len(data))
        own.update({name.replace("_", "-"): value for name, value in headers.items()})
        for name, value in own.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    connection.putheader(name, one)
        connection.endheaders(data)
        answer = connection.getresponse()
        answer.content = answer.read() if accept != LINES else b""
        answer.connection = connection
        return answer

    def api(self, path, body=None):
        answer = self.ask("GET" if body is None else "POST", "/v1/" + path, body)
        return answer.status, json.loads(answer.content)

    def deliver(self, app, name, content, part=1 << 20, upload="one"):
        offset = 0
        while True:
            piece = content[offset:offset + part]
            is_last = offset + len(piece) == len(content)
            query = {"app": app, "name": name, "upload": upload, "offset": offset, **({"last": ""} if is_last else {})}
            answer = self.ask("POST", "/deliver?" + urllib.parse.urlencode(query), piece)
            if answer.status != 200 or is_last:
                return answer.status, json.loads(answer.content)
            offset += len(piece)


def state(device):
    told = subprocess.run(
        ["appcontainer", "status", device, "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(told)


def temporary_directories():
    return {name for name in os.listdir(os.environ.get("TMPDIR", "/tmp")) if name.startswith("appcontainer-page-")}
