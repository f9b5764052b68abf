"""A window on a device's page, handled as a reader does: by pointer and keys, at what is to be seen."""

import json
import os
import subprocess
import time

import browser
from kit import check

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Home": 36, "ArrowRight": 39, "ArrowDown": 40, "/": 191, "c": 67}

# The place of an element that is shown, can be used, is not covered, and has come to rest. A function finds it: it may
# be drawn anew meanwhile.
PLACE = """(find => {
    const middle = found => {
        const { left, top, width, height } = found.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
    };
    const found = find();
    if (!found || found.disabled || found.ariaDisabled === "true") return null;
    found.scrollIntoView({ block: "nearest" });
    const before = middle(found);
    return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
        const place = middle(found);
        const hit = document.elementFromPoint(...place);
        const isReady = String(place) === String(before) && find() === found && found.contains(hit);
        done(isReady ? place : null);
    })));
})(() => %s)"""

# Whether the next click came to the element that was meant.
HEAR = """(find => {
    window.clicked = false;
    const hear = event => window.clicked = !!find()?.contains(event.target);
    addEventListener("click", hear, { capture: true, once: true });
})(() => %s)"""

DROP = """((name, text) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], name));
    const about = { dataTransfer: carried, bubbles: true, cancelable: true };
    byID("tree").dispatchEvent(new DragEvent("drop", about));
})(%s, %s)"""


def element(selector):
    return f"document.querySelector({json.dumps(selector)})"


def action(name):
    return element(f'[data-action="{name}"]')


def button(text, within="document"):
    return (f"[...({within}).querySelectorAll('button')].find(one => one.textContent === {json.dumps(text)}"
            " && one.checkVisibility())")


def row(path, of="#tree"):
    """The row of a path, by the path that its label tells."""
    return (f"[...document.querySelectorAll({json.dumps(of + ' .row:not([hidden])')})].find("
            f"one => one.querySelector('.label')?.title === {json.dumps(path)})")


class Window(browser.Browser):
    def __enter__(self):
        super().__enter__()
        self.dress(1280, False, 860)
        return self

    def visit(self, served):
        """Opens the link that the command printed, and waits for the files."""
        check(self.open(served.link) == [], "complaints of the page", self.complaints)
        self.wait("page.isComplete === true && page.status !== null && !!document.querySelector('#tree .row')")
        return self

    def wait(self, expression, *seen):
        """Until an expression of JavaScript is true. Returns its value."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            found = self.value(expression)
            if found:
                return found
            time.sleep(0.02)
        text = self.value("document.querySelector('dialog')?.textContent ?? byID('outcome').textContent")
        check(False, "did not come true:", expression, *seen, "said:", text, self.complaints)

    def tab(self, place):
        """Opens another tab of the page, as a reader who duplicates one. Returns its session."""
        own, self.session = self.session, None
        pages = lambda: {one["targetId"] for one in self.call("Target.getTargets")["targetInfos"]
                         if one["type"] == "page"}
        before = pages()
        self.session = own
        self.call("Runtime.evaluate", expression=f"void window.open({json.dumps(place)})", userGesture=True)
        # Of the browser itself: what is attached by a page ends with that.
        self.session = None
        while pages() == before:
            time.sleep(0.02)
        target, = pages() - before
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.wait("typeof page === 'object' && !!page.bar")
        found, self.session = self.session, own
        return found

    # MARK: Pointer and keys

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def point(self, found):
        place = self.wait(PLACE % found)
        self.mouse("mouseMoved", *place)
        return place

    def click(self, found, seconds=0):
        """One click, which takes so many seconds: an element that is drawn anew meanwhile would not hear it. Again only
        where the element has moved away from the pointer."""
        for _ in range(5):
            place = self.point(found)
            self.value(HEAR % found)
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, *place, button="left", clickCount=1)
                time.sleep(seconds if kind == "mousePressed" else 0)
            if self.value("window.clicked"):
                return
            if self.value(PLACE % found) == place:
                break
        check(False, "the click came to nothing, or to another element:", found)

    def key(self, name):
        code = {"key": name, "code": name, "windowsVirtualKeyCode": KEYS[name]}
        text = {"text": {"Enter": "\r"}.get(name, name)} if name in ("Enter", "/", "c") else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def write(self, found, text):
        """Writes into a field, in the place of what is there."""
        self.wait(f"(found => !!found && (found.focus(), found.select(), document.activeElement === found))({found})")
        self.call("Input.insertText", text=text)

    def pick(self, found, value):
        """Chooses one of the values of a list."""
        self.wait(f"""(found => {{
            if (!found || ![...found.options].some(one => one.value === {json.dumps(value)})) return false;
            found.value = {json.dumps(value)};
            found.dispatchEvent(new Event("input", {{ bubbles: true }}));
            found.dispatchEvent(new Event("change", {{ bubbles: true }}));
            return true;
        }})({found})""")

    def hand(self, found, *paths):
        """Gives files to a field of files."""
        held = self.call("Runtime.evaluate", expression=found)["result"]["objectId"]
        self.call("DOM.setFileInputFiles", files=list(paths), objectId=held)

    def drop(self, name, text):
        """Drops a file on the list of files."""
        self.value(DROP % (json.dumps(name), json.dumps(text)))

    # MARK: The page

    def choose(self, path):
        """Chooses a file by its row, and waits for its page."""
        self.value(f"page.tree.reveal({json.dumps(path)})")
        self.click(f"[...document.querySelectorAll('#tree .row:not([hidden])')].find("
                   f"one => page.tree.view.rowAt(one.place)?.path === {json.dumps(path)})?.querySelector('.label')")
        self.wait(f"page.chosenPath === {json.dumps(path)} && page.panel.inspected === page.app + {json.dumps('/' + path)}")

    def panel(self):
        return self.value("byID('panel').innerText")

    def rows(self):
        """The paths of the rows that are drawn, from above."""
        return self.value("page.tree.view.rows.map(row => row.path)")

    def outcome(self, words):
        self.wait(f"byID('outcome').textContent.includes({json.dumps(words)})")

    def command(self, found=None):
        """The command line that the page shows for an action that is pointed at, or in the dialog that is open."""
        if found is None:
            return self.value("document.querySelector('dialog .command-line code').textContent")
        # One that is pointed at already tells it anew.
        self.mouse("mouseMoved", 1, 1)
        self.value("page.bar.show('')")
        self.point(found)
        return self.wait("byID('command').textContent")

    def is_closed(self):
        self.wait("!document.querySelector('dialog')")

    def is_content(self, *expected):
        """Nothing was complained of, but requests that a test had refused."""
        left = [one for one in self.complaints if "Failed to load resource" not in one]
        check(left == [], "the page complained:", left)


def run(line, directory=None):
    """Runs a line that the page shows, as who pastes it into a shell."""
    done = subprocess.run(
        ["bash", "-c", line], cwd=directory, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    check(done.returncode == 0, line, "ended with", done.returncode, done.stderr)
    return done.stdout


def told(*words):
    """The answer of a command, as JSON."""
    done = subprocess.run(["appcontainer", *words, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def outcome_of(call, *arguments):
    """The name of the error of a system call, or `ok`."""
    try:
        call(*arguments)
        return "ok"
    except OSError as problem:
        return os.strerror(problem.errno)
