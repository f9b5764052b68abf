"""Chromium without a window, driven over a pipe by its own protocol: loads pages, hears complaints, and measures."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import tempfile
import threading


class Browser:
    """One Chromium with one page. Ends with the `with` block."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="appcontainer-site-", ignore_cleanup_errors=True)
        to_read, self.to_write = os.pipe()
        self.to_read, to_write = os.pipe()

        def descriptors():
            # Chromium reads its orders from 3 and answers on 4. Copies first: either may be the other's number.
            one, other = os.dup(to_read), os.dup(to_write)
            os.dup2(one, 3)
            os.dup2(other, 4)

        self.process = subprocess.Popen(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                f"--user-data-dir={self.folder.name}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            preexec_fn=descriptors,
            close_fds=False,
            # Its helpers are of its group, and end with it.
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder.name},
        )
        os.close(to_read)
        os.close(to_write)
        self.numbers, self.rest, self.session = itertools.count(1), b"", None
        self.complaints, self.requests, self.loaded = [], [], False
        # A browser that hangs would have the test hang.
        self.watch = threading.Timer(300, self.kill)
        self.watch.start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.watch.cancel()
        self.kill()
        self.process.wait()
        os.close(self.to_write)
        os.close(self.to_read)
        self.folder.cleanup()

    def kill(self):
        """Ends Chromium and its helpers, which would go on writing to its profile."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.to_read, 1 << 16)
            if not more:
                raise RuntimeError("Chromium has ended, or does not start")
            self.rest += more
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def call(self, method, **parameters):
        number = next(self.numbers)
        order = {"id": number, "method": method, "params": parameters}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.to_write, json.dumps(order).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.notice(message)

    def notice(self, message):
        method, about = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(one.get("value", one.get("description"))) for one in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")

    # MARK: Pages

    def dress(self, width, dark, height=900):
        """The width of the window, and the colours that the reader's system asks for."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )

    def scripts(self, allowed):
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, address):
        """Loads a page, and returns its complaints until then."""
        self.complaints, self.loaded = [], False
        answer = self.call("Page.navigate", url=address)
        if answer.get("errorText"):
            return [f"it does not load: {answer['errorText']}"]
        # Another place of the same page loads nothing.
        while "loaderId" in answer and not self.loaded:
            self.notice(self.message())
        return self.complaints

    def reload(self):
        """Loads the page anew. A script that did so would leave nobody knowing which of the two answers next."""
        self.loaded = False
        self.call("Page.reload")
        while not self.loaded:
            self.notice(self.message())

    def value(self, expression):
        """The value of an expression of JavaScript on the page; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def picture(self):
        """A PNG of the window, as base64."""
        return self.call("Page.captureScreenshot", format="png")["data"]
