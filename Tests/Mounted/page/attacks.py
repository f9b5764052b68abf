#!/usr/bin/python3
"""Attacks on the server of a device's page: by other sites, by other users, by who has no link.

    attacks.py NAME DEVICE APP HOME"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid

import served
from kit import check, eventually
from served import LINES, Served


def link_opens_once(device, app, home):
    with Served(device, admitted=False) as page:
        token = page.link[len(page.origin):]
        head = page.ask("HEAD", token)
        check(head.status == 403 and "Set-Cookie" not in head.headers, "HEAD uses nothing up", head.status)
        first = page.ask("GET", token)
        check(first.status == 200 and b"<!DOCTYPE html>" in first.content, "the link", first.status)
        cookie = first.headers["Set-Cookie"]
        for word in ("HttpOnly", "SameSite=Strict", f"appcontainer-{page.port}="):
            check(word in cookie, word, "is not in", cookie)
        again = page.ask("GET", token)
        check(again.status == 403 and b"used already" in again.content, "a second use", again.status)
        check("Set-Cookie" not in again.headers, "a cookie for a used link")
        for wrong in ("/", "/?token=", "/?token=" + "0" * 64, token[:-1], token + "0", "/?token=" + token[-64:].upper()):
            answer = page.ask("GET", wrong)
            check(answer.status == 403 and b"<script" not in answer.content, "without a token", wrong, answer.status)
        # The browser that has the cookie may open the link again.
        page.cookie = cookie.split(";")[0]
        check(page.ask("GET", token).status == 200, "the same browser")
        check(page.ask("GET", "/").status == 200, "the same browser, later")


def nothing_without_cookie(device, app, home):
    with Served(device) as page:
        paths = ["/v1/status", "/v1/events", "/v1/events/follow", "/page.js", "/worker.js", "/page.css",
                 f"/report?app={app}", "/nothing"]
        for cookie in (None, "", f"appcontainer-{page.port}=", f"appcontainer-{page.port}={'0' * 64}",
                       page.cookie[:-1], page.cookie.replace(str(page.port), "80")):
            for path in paths:
                check(page.ask("GET", path, cookie=cookie).status == 401, path, "with", cookie)
            answer = page.ask("POST", "/v1/lock", {"now": True}, cookie=cookie)
            check(answer.status == 401, "lock with", cookie, answer.status)
            answer = page.ask("POST", f"/deliver?app={app}&name=a&upload=u&offset=0&last", b"x", cookie=cookie)
            check(answer.status == 401, "deliver with", cookie, answer.status)
        check(served.state(device)["state"] == "unlocked", "nothing was locked")


def nothing_with_the_cookie_alone(device, app, home):
    """Another server of this machine is sent the cookie: cookies know no ports."""
    with Served(device) as page:
        check(page.secret not in page.cookie and len(page.secret) == 64, "the secret", page.secret, page.cookie)
        value = page.cookie.split("=")[1]
        for secret in (None, "", value, page.secret[:-1], page.secret + "0", [page.secret] * 2, "0" * 64):
            for path in ("/v1/status", "/v1/events/follow", "/v1/changes/follow", f"/report?app={app}", "/nothing"):
                check(page.ask("GET", path, X_Page_Secret=secret).status == 401, path, "with the secret", secret)
            answer = page.ask("POST", "/v1/lock", {"now": True}, X_Page_Secret=secret)
            check(answer.status == 401, "lock with the secret", secret, answer.status)
            answer = page.ask("POST", f"/deliver?app={app}&name=a&upload=u&offset=0&last", b"x", X_Page_Secret=secret)
            check(answer.status == 401, "deliver with the secret", secret, answer.status)
        shell = page.ask("GET", "/", X_Page_Secret=None)
        check(shell.status == 200 and b"<script src" in shell.content, "a reload", shell.status)
        for fact in (page.secret, device, json.loads(page.ask("GET", "/v1/status").content)["identifier"]):
            check(fact.encode() not in shell.content, "it tells", fact)
        check(served.state(device)["state"] == "unlocked", "nothing was locked")


def no_other_name_or_site(device, app, home):
    with Served(device) as page:
        hosts = ["evil.example", f"evil.example:{page.port}", "127.0.0.1", f"127.0.0.1:{page.port}.evil.example",
                 f"[::1]:{page.port}", f"0.0.0.0:{page.port}", "", [f"127.0.0.1:{page.port}"] * 2]
        for host in hosts:
            answer = page.ask("GET", "/v1/status", Host=host)
            check(answer.status in (400, 403), "Host", host, answer.status)
            answer = page.ask("GET", page.link[len(page.origin):], cookie=None, Host=host)
            check(answer.status in (400, 403), "Host", host, answer.status)
        check(page.ask("GET", "/v1/status", Host=f"localhost:{page.port}").status == 200, "localhost")
        for origin in ("null", "http://evil.example", f"https://127.0.0.1:{page.port}", "http://127.0.0.1:80",
                       f"http://localhost:{page.port}", "", None, [page.origin] * 2):
            answer = page.ask("POST", "/v1/lock", {"now": True}, Origin=origin)
            check(answer.status == 403, "Origin", origin, answer.status)
        for site in ("cross-site", "same-site"):
            for method, path in (("GET", "/v1/status"), ("POST", "/v1/lock"), ("GET", "/")):
                check(page.ask(method, path, Sec_Fetch_Site=site).status == 403, site, method, path)
        check(served.state(device)["state"] == "unlocked", "nothing was locked")


def only_connections_of_127_0_0_1(device, app, home):
    """Another user's process may connect from any address of 127.0.0.0/8, whose ports are others."""
    with Served(device) as page:
        # The same port at 127.0.0.1 is this user's, with a connection to the server.
        own = socket.create_connection(("127.0.0.1", page.port), source_address=("127.0.0.1", 0))
        port = own.getsockname()[1]
        other = socket.create_connection(("127.0.0.1", page.port), source_address=("127.0.0.2", port))
        for connection, wanted in ((other, b"HTTP/1.1 403"), (own, b"HTTP/1.1 200")):
            connection.sendall(f"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
                               f"Cookie: {page.cookie}\r\n\r\n".encode())
            check(connection.recv(12) == wanted, connection.getsockname(), wanted)
            connection.close()


def a_client_may_close_its_half(device, app, home):
    with Served(device) as page:
        request = f"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nCookie: {page.cookie}\r\n\r\n".encode()
        os.kill(page.process.pid, signal.SIGSTOP)
        client = socket.create_connection(("127.0.0.1", page.port))
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        os.kill(page.process.pid, signal.SIGCONT)
        check(client.recv(12) == b"HTTP/1.1 200", "it is answered")
        client.close()


def begins_again_on_its_port(device, app, home):
    with Served(device) as page:
        # The server closes first, and its half of the connection stays for a minute.
        check(page.ask("GET", "/page.js").status == 200, "an answer")
    with Served(device, "--port", str(page.port)) as again:
        check(again.port == page.port and again.ask("GET", "/page.js").status == 200, "the same port")


def answers_guard_the_page(device, app, home):
    with Served(device) as page:
        answers = [(path, page.ask("GET", path)) for path in (
            "/", page.link[len(page.origin):], "/page.js", "/v1/status", "/nothing", f"/report?app={app}", "/report",
            "/v1/status?" + "x" * 40000)]
        answers += [("no cookie", page.ask("GET", path, cookie=None)) for path in ("/", "/page.js", "/v1/status")]
        answers += [("another name", page.ask("GET", "/", Host="evil.example")), ("PUT", page.ask("PUT", "/")),
                    ("no call", page.ask("POST", "/v1/nothing", {})), ("HEAD", page.ask("HEAD", "/v1/status"))]
        for path, answer in answers:
            policy = answer.headers["Content-Security-Policy"]
            check("default-src 'none'" in policy and "unsafe" not in policy, path, policy)
            check("frame-ancestors 'none'" in policy, path, policy)
            check(answer.headers["X-Content-Type-Options"] == "nosniff", path)
            check(answer.headers["Cache-Control"] == "no-store", path)
            for name in ("Cross-Origin-Resource-Policy", "Cross-Origin-Opener-Policy", "Referrer-Policy"):
                check(answer.headers[name] == "same-origin", path, name)
            check(answer.headers["X-Frame-Options"] == "DENY", path)
            check("Access-Control-Allow-Origin" not in answer.headers, path)


def only_what_the_page_needs(device, app, home):
    with Served(device) as page:
        for path in ("install", "uninstall", "reset", "run", "mount", "unmount", "restore", "passcode", "shutdown",
                     "backup-password", "deliver", "../v1/shutdown", "status/../shutdown", "", "%73hutdown"):
            status, answer = page.api(path, {"app": app})
            check(status == 404 and answer["complaint"]["kind"] == "notFound", path, status)
        check(page.api("lock")[0] == 405, "GET of a call")
        check(page.api("status", {})[0] == 405, "POST of a query")
        check(page.ask("PUT", "/v1/lock").status == 405 and page.ask("DELETE", "/").status == 405, "other methods")
        check(served.state(device)["state"] == "unlocked", "it is on, and nothing was locked")


def read_only_changes_nothing(device, app, home):
    before = served.state(device)
    with Served(device, "--read-only") as page:
        calls = [
            ("lock", {"now": True}), ("restart", {}), ("unlock", {"passcode": "1234"}), ("purge", {"level": "critical"}),
            ("purge", {"dryRun": False}), ("exclude", {"app": app, "path": "Documents"}),
            ("include", {"app": app, "path": "Documents"}),
            ("protect", {"app": app, "path": "Documents", "protection": "NSFileProtectionNone"}),
            ("suspend", {"app": app}), ("resume", {"app": app}), ("terminate", {"app": app}), ("clock", {"advance": 60}),
            ("clock", {"real": True}), ("conditions", {"power": False}), ("capacity", {"capacity": 1 << 30}),
            ("schedule", {"ends": True}), ("backup", {"output": home + "/../backup.tar"}), ("check", {"repair": True}),
        ]
        for path, body in calls:
            status, answer = page.api(path, body)
            check(status == 403 and "--read-only" in answer["complaint"]["message"], path, body, status, answer)
        # A parser that takes the last of two keys, and one that takes the first.
        for text in (b'{"dryRun": true, "dryRun": false}', b'{"dryRun": false, "dryRun": true}'):
            page.ask("POST", "/v1/purge", text)
        status, _ = page.deliver(app, "a.txt", b"text")
        check(status == 403, "deliver", status)
        for method in ("GET", "HEAD"):
            check(page.ask(method, f"/report?app={app}").status == 403, "a report")
        for path, body in (("status", None), ("files", {"app": app}), ("inspect", {"app": app, "path": "Documents"}),
                           ("purge", {"dryRun": True}), ("clock", {}), ("conditions", {}), ("capacity", {})):
            check(page.api(path, body)[0] == 200, path)
    after = served.state(device)
    for volatile in ("available", "availableForImportantUsage", "availableForOpportunisticUsage"):
        before.pop(volatile), after.pop(volatile)
    check(before == after, "the device has changed", before, after)


def requests_are_bounded(device, app, home):
    with Served(device) as page:
        answer = page.ask("POST", "/v1/files", b"x" * (9 << 20))
        check(answer.status == 413, "a large body", answer.status)
        answer = page.ask("GET", "/v1/status?" + "x" * 40000)
        check(answer.status == 400, "a long head", answer.status)
        raw = socket.create_connection(("127.0.0.1", page.port))
        raw.sendall(b"nonsense\r\n\r\n")
        check(raw.recv(64).startswith(b"HTTP/1.1 400"), "nonsense")
        silent = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(400)]
        check(page.api("status")[0] == 200, "beside silent clients")
        for one in silent:
            one.close()


def streams_leave_nothing(device, app, home):
    with Served(device) as page:
        def descriptors():
            return sum("socket:" in os.readlink(f"/proc/{page.process.pid}/fd/{number}")
                       for number in os.listdir(f"/proc/{page.process.pid}/fd"))

        def come_back():
            """Only the port is left."""
            try:
                return descriptors() == 1
            except FileNotFoundError:
                return False
        check(page.api("status")[0] == 200, "the status")
        eventually(come_back, "descriptors at the beginning")
        streams = [page.ask("GET", f"/v1/{name}/follow", accept=LINES) for name in ("events", "changes") * 20]
        check(all(one.status == 200 for one in streams) and descriptors() == 81, "streams")
        for stream in streams:
            stream.close()
            stream.connection.close()
        for name in ("events", "changes"):
            head = page.ask("HEAD", f"/v1/{name}/follow", accept=LINES)
            check(head.status == 200 and head.read() == b"", "HEAD of a stream", head.status)
            head.connection.close()
        eventually(come_back, "descriptors")


def a_slow_request_gives_way(device, app, home):
    """Requests that never end hold up nobody, nor does a client that reads no answer."""
    with Served(device) as page:
        whole = f"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nCookie: {page.cookie}\r\n"
        slow = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(300)]
        for number, one in enumerate(slow):
            with contextlib.suppress(ConnectionError):
                one.sendall((whole + "X: y\r\n" * (number % 50)).encode())
        deaf = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(50)]
        for one in deaf:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall((whole + "\r\n").encode())
        check(page.api("status")[0] == 200, "beside slow ones")
        # The first have given way to later ones, and were told so.
        check(slow[0].recv(12) == b"HTTP/1.1 408", "the oldest")
        for one in slow + deaf:
            one.close()


def no_request_has_two_meanings(device, app, home):
    with Served(device) as page:
        def status(head, body=b""):
            with socket.create_connection(("127.0.0.1", page.port)) as raw:
                own = f"Host: 127.0.0.1:{page.port}\r\nCookie: {page.cookie}\r\nX-Page-Secret: {page.secret}\r\n"
                raw.sendall(head.replace("\r\n", f"\r\n{own}Origin: {page.origin}\r\n", 1).encode() + b"\r\n" + body)
                raw.shutdown(socket.SHUT_WR)
                answers = b""
                while more := raw.recv(65536):
                    answers += more
            check(answers.count(b"HTTP/1.1 ") == 1, "answers", answers)
            return int(answers.split()[1])
        lock = b"POST /v1/lock HTTP/1.1\r\n\r\n"
        check(status("GET /v1/status HTTP/1.1\r\n") == 200, "a request")
        for head, body in (
                ("POST /v1/files HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"{}"),
                ("POST /v1/files HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n", b"{} "),
                ("POST /v1/files HTTP/1.1\r\nContent-Length: -1\r\n", b"{}"),
                ("POST /v1/files HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n", b"{}"),
                ("GET http://127.0.0.1/v1/status HTTP/1.1\r\n", b""), ("GET * HTTP/1.1\r\n", b""),
                ("CONNECT 127.0.0.1:80 HTTP/1.1\r\n", b""), ("GET /v1/status HTTP/2.0\r\n", b"")):
            check(status(head, body) in (400, 405), head)
        # Bytes behind a request are none.
        check(status("GET /v1/status HTTP/1.1\r\n", lock) == 200, "one more behind it")
        check(status("GET /v1/status HTTP/1.1\r\nContent-Length: 4\r\n", b"{}{}" + lock) in (200, 400), "a body of GET")
        for path in ("//v1/lock", "/v1//lock", "/v1/lock/", "/v1/./lock", "/x/../v1/lock", "/v1%2Flock", "/V1/lock",
                     "/v1/lock%00", "/v1/lock;x", "/v1\\lock"):
            check(status(f"POST {path} HTTP/1.1\r\nContent-Length: 12\r\n", b'{"now":true}') in (400, 404), path)
        check(served.state(device)["state"] == "unlocked", "nothing was locked")


def deliveries_are_files_of_their_own(device, app, home):
    content = bytes(range(256)) * 20000
    before = served.temporary_directories()
    with Served(device) as page:
        status, paths = page.deliver(app, "große datei.bin", content)
        check(status == 200 and paths == ["Documents/Inbox/große datei.bin"], status, paths)
        check(open(f"{home}/{paths[0]}", "rb").read() == content, "the content")
        for name in ("", ".", "..", "a/b", "../a", "a\0b", "x" * 300):
            status, answer = page.deliver(app, name, b"text")
            check(status == 400, "the name", name, status, answer)
        check(page.deliver(app, "nobody.txt", b"text", upload="x" * 65)[0] == 400, "a long word for an upload")
        check(page.deliver("com.example.missing", "a.txt", b"text")[0] == 404, "an app that is not there")
        query = f"/deliver?app={app}&name=b.txt&upload=two&offset="
        check(page.ask("POST", query + "5", b"text").status == 400, "a part without its first")
        check(page.ask("POST", query + "0", b"text").status == 200, "the first part")
        check(page.ask("POST", query + "0", b"text").status == 400, "the first part again")
        check(page.ask("POST", query + "9&last", b"text").status == 400, "a part too far")
        check(page.ask("POST", query + "4&last", b"more").status == 200, "the last part")
        check(open(f"{home}/Documents/Inbox/b.txt").read() == "textmore", "the parts")
        # One that is never finished goes with the server.
        check(page.ask("POST", query.replace("two", "three") + "0", b"text").status == 200, "a first part")
    check(served.temporary_directories() == before, "what is left", served.temporary_directories() - before)
    # A killed server removes nothing: the kernel does.
    with Served(device) as page:
        check(page.ask("POST", query.replace("two", "four") + "0", b"text").status == 200, "a first part")
        page.process.kill()
        page.process.wait()
        page.process.returncode = 0
    check(served.temporary_directories() == before, "what is left", served.temporary_directories() - before)
    # A name that it had given stays, and the next one removes it.
    temporary = os.environ.get("TMPDIR", "/tmp")
    abandoned = f"{temporary}/appcontainer-page-{uuid.uuid4()}"
    os.makedirs(abandoned + "/one")
    os.symlink(device, abandoned + "/one/link")
    with Served(device):
        check(served.temporary_directories() == before, "what is left", served.temporary_directories() - before)
    check(served.state(device)["state"] == "unlocked", "no link is followed")


def reports_are_asked_for_as_http_says(device, app, home):
    with Served(device) as page:
        whole, head = (page.ask(method, f"/report?app={app}") for method in ("GET", "HEAD"))
        check(whole.status == head.status == 200, "statuses", whole.status, head.status)
        check(whole.content.startswith(b"<!DOCTYPE html>") and head.content == b"", "contents")
        for name in ("Content-Type", "Content-Disposition"):
            check(whole.headers[name] == head.headers[name], name, whole.headers[name], head.headers[name])
        check(f'filename="{app}.html"' in head.headers["Content-Disposition"], head.headers["Content-Disposition"])
        for query, wanted in (("?app=com.example.missing", 404), ("?app=a%20b", 400), ("?app=", 400), ("?app=../x", 400),
                              ("", 400), ("?app=%FF", 400), ("?app=" + "x" * 5000, 400)):
            answer = page.ask("GET", "/report" + query)
            check(answer.status == wanted, query[:40], answer.status, answer.content)
            message = json.loads(answer.content)["complaint"]["message"]
            check(0 < len(message) < 6000 and "\n" not in message, message)
            check(page.ask("HEAD", "/report" + query).status == wanted, "HEAD", query[:40])
        check(page.ask("POST", f"/report?app={app}", b"").status in (404, 405), "POST")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
