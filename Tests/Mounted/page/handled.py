#!/usr/bin/python3
"""Every control of a device's page in a browser, and what it did: by calls at the mount, and by other commands.

    handled.py NAME DEVICE APP HOME"""

import json
import os
import subprocess
import sys
import tarfile

from kit import check, eventually, read
from served import Served
from window import Window, action, button, element, outcome_of, run, told

PASSCODE = "271828"
DIALOG = "document.querySelector('dialog')"
SUBMIT = element("dialog [type=submit]")
COMPLETE, NONE = "NSFileProtectionComplete", "NSFileProtectionNone"


def written(path, content=b"text"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


def unlock(window, passcode=PASSCODE):
    window.click(action("Unlock…"))
    window.write(element("dialog input[type=password]"), passcode)
    window.key("Enter")


class Handled(Window):
    """The page of a device, opened by the command's link."""

    def __init__(self, device, *options):
        self.served = Served(device, *options, admitted=False)
        self.device = device

    def __enter__(self):
        self.served.__enter__()
        super().__enter__()
        return self.visit(self.served)

    def __exit__(self, kind, *rest):
        super().__exit__(kind, *rest)
        self.served.__exit__()
        if kind is None:
            self.is_content()

    def state(self):
        return told("status", self.device)["state"]


# MARK: The device


def device_locks(device, app, home):
    secret = written(f"{home}/Documents/secret", b"word")
    run(f"appcontainer protect complete {home}/Documents/secret")
    lock_of = "document.querySelector('#tree .row:not([hidden]) .closed-mark')"
    with Handled(device) as page:
        check(page.command(action("Lock")) == f"appcontainer lock {device}", "the command line of a lock")
        page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        page.click(element("#command-copy"))
        page.wait("byID('command-copy').textContent === 'Copied'")
        copied = page.value("navigator.clipboard.readText()")
        check(copied == f"appcontainer lock {device}", "what was copied", copied)
        page.click(action("Lock"))
        eventually(lambda: page.state() == "locking", "the lock is announced")
        page.wait("!byID('grace').hidden && byID('grace-words').textContent.startsWith('locks in ')")
        # The button is off, and in its place: a second key or click is not one on the next button.
        page.wait(f"{action('Lock')}.ariaDisabled === 'true' && document.activeElement === {action('Lock')}")
        page.key("Enter")
        unlock(page)
        eventually(lambda: page.state() == "unlocked", "the lock is taken back")
        page.is_closed()
        page.wait("byID('grace').hidden && byID('state').textContent === 'Unlocked'")
        check(read(secret) == b"word", "the file was never closed")

        page.choose("Documents/secret")
        page.click(action("Lock now"))
        eventually(lambda: page.state() == "locked", "the lock")
        check(outcome_of(read, secret) == "Operation not permitted", "the file is closed", outcome_of(read, secret))
        page.wait("byID('state').textContent === 'Locked'")
        page.wait("byID('panel-body').textContent.includes('cannot be read now')")
        page.wait(f"!!{lock_of}")

        unlock(page, "wrong")
        page.wait(f"!{DIALOG}.querySelector('[role=alert]').hidden")
        check(told("status", device)["passcodeAttempts"] == 1 and page.state() == "locked", "a wrong passcode")
        page.write(element("dialog input[type=password]"), PASSCODE)
        page.click(SUBMIT)
        eventually(lambda: page.state() == "unlocked", "the right one")
        check(read(secret) == b"word", "the file is open again")
        page.wait(f"!{lock_of}")

        # The line that was shown does the same, without the page.
        run(page.command(action("Lock now")))
        check(page.state() == "locked" and outcome_of(read, secret) == "Operation not permitted", "by the line")
        page.wait("byID('state').textContent === 'Locked'")
        unlock(page)
        eventually(lambda: page.state() == "unlocked", "an unlock by the page after it")
        page.is_closed()


def ahead(device):
    """The seconds that the device's clock is ahead of the host's."""
    return round(told("clock", device)["ahead"])


def device_restarts_and_its_clock_goes_ahead(device, app, home):
    file = written(f"{home}/Documents/file")
    with Handled(device) as page:
        page.click(action("Restart…"))
        check(page.command() == f"appcontainer restart {device}", "the command line of a restart")
        page.click(SUBMIT)
        eventually(lambda: page.state() == "beforeFirstUnlock", "the restart")
        page.is_closed()
        check(outcome_of(read, file) == "Operation not permitted", "class C is closed", outcome_of(read, file))
        page.wait("byID('state').textContent === 'Before first unlock'")
        unlock(page)
        eventually(lambda: page.state() == "unlocked", "the first unlock")
        check(read(file) == b"text", "class C is open")
        page.is_closed()

        # A lock that is announced comes due meanwhile.
        page.click(action("Lock"))
        eventually(lambda: page.state() == "locking", "the lock is announced")
        page.click(action("Clock…"))
        page.write(element("dialog input[type=number]"), "3")
        page.pick(element("dialog select"), "60")
        line = page.command()
        check(line == f"appcontainer clock {device} advance 3m", line)
        page.click(SUBMIT)
        page.is_closed()
        check(ahead(device) == 180, "the clock", told("clock", device))
        check(page.state() == "locked", "the lock came due", page.state())
        page.outcome("locked")
        run(line)
        check(ahead(device) == 360, "the clock by the line", told("clock", device))
        page.click(action("Clock…"))
        page.click(element("dialog input[type=checkbox]"))
        check(page.command() == f"appcontainer clock {device} real", "the command line of the host's time")
        page.click(SUBMIT)
        page.is_closed()
        check(ahead(device) == 0, "the host's time", told("clock", device))


def device_is_purged_after_a_look(device, app, home):
    caches = [written(f"{home}/Library/Caches/{name}/content", b"x" * 50000) for name in ("first", "second one")]
    with Handled(device) as page:
        page.click(action("Purge…"))
        page.pick(element("dialog select"), "critical")
        page.wait(f"{DIALOG}.querySelectorAll('tbody tr').length === 2 && !{SUBMIT}.disabled")
        words = page.value(f"{DIALOG}.querySelector('.purge-list').textContent")
        check("2 entries would go" in words and "Library/Caches/second one" in words, "the dry run", words)
        check(all(map(os.path.exists, caches)), "a look removes nothing")
        line = page.command()
        check(line == f"appcontainer purge {device} --level critical", line)
        page.click(SUBMIT)
        page.is_closed()
        check(os.listdir(f"{home}/Library/Caches") == [], "what is left", os.listdir(f"{home}/Library/Caches"))
        page.wait("page.record.all.filter(event => event.event === 'purged').length === 2")
        page.wait("page.files.ask('facts', { path: 'Library/Caches/first' }).then(facts => facts === null)")
        written(caches[0])
        run(line)
        check(not os.path.exists(caches[0]), "the purge by the line")
        # With an app that runs nothing of it goes.
        written(caches[0])
        run(f"appcontainer launch {device} {app} --no-exec")
        page.click(action("Purge…"))
        page.pick(element("dialog select"), "critical")
        page.wait(f"{DIALOG}.textContent.includes('its app is running') && {SUBMIT}.disabled")
        page.click(button("Cancel", DIALOG))
        check(os.path.exists(caches[0]), "a cache of an app that runs")


def surroundings_are_switched(device, app, home):
    with Handled(device) as page:
        for word in ("power", "wifi"):
            switch = element(f"[data-command={word}]")
            page.wait(f"!!{switch}")
            line = page.command(switch)
            check(line == f"appcontainer conditions {device} {word} off", line)
            page.click(switch)
            eventually(lambda: told("conditions", device)[word] is False, word, "is off")
            page.wait(f"{switch}.getAttribute('aria-checked') === 'false'")
            run(page.command(switch))
            check(told("conditions", device)[word] is True, word, "by the line")
            page.click(switch)
            eventually(lambda: told("conditions", device)[word] is True, word, "stays on")


def device_is_backed_up(device, app, home):
    written(f"{home}/Documents/it's kept", b"content")
    written(f"{home}/Documents/left out", b"content")
    run(f"appcontainer exclude '{home}/Documents/left out'")
    places = [os.path.join(os.environ["WORK"], name) for name in ("taken", "it's by page.tar", "by line.tar")]
    written(places[0])
    with Handled(device) as page:
        page.click(action("Back up…"))
        output = element("dialog input[type=text]")
        page.write(output, places[0])
        page.click(SUBMIT)
        page.wait(f"!{DIALOG}.querySelector('[role=alert]').hidden")
        check(read(places[0]) == b"text", "what was there")
        page.write(output, places[1])
        page.click(SUBMIT)
        page.is_closed()
        page.click(action("Back up…"))
        page.write(output, places[2])
        line = page.command()
        page.click(button("Cancel", DIALOG))
        run(line)
    check(read(places[1]) == read(places[2]), "the line makes the same tar")
    with tarfile.open(places[1]) as archive:
        names = archive.getnames()
        check(any(name.endswith("Documents/it's kept") for name in names), "in the backup", names)
        check(not any(name.endswith("left out") for name in names), "left out of it", names)


# MARK: Apps


def app_is_suspended_and_ended(device, app, home):
    run(f"appcontainer launch {device} {app} --no-exec")
    status = lambda: told("status", device)
    with Handled(device) as page:
        page.wait(f"!!{action('Suspend ' + app)}")
        suspend = page.command(action("Suspend " + app))
        page.click(action("Suspend " + app))
        eventually(lambda: status()["suspended"] == [app], "it is suspended")
        resume = page.command(action("Resume " + app))
        page.click(action("Resume " + app))
        eventually(lambda: status()["suspended"] == [] and status()["running"] == [app], "it goes on")
        run(suspend)
        check(status()["suspended"] == [app], "suspended by the line")
        page.wait(f"!!{action('Resume ' + app)}")
        run(resume)
        check(status()["suspended"] == [], "resumed by the line")
        page.click(action("Terminate " + app))
        line = page.command()
        check(line == f"appcontainer terminate {device} {app}", line)
        page.click(SUBMIT)
        eventually(lambda: status()["running"] == [], "it has ended")
        page.is_closed()
        page.wait(f"!{action('Terminate ' + app)}")
        run(f"appcontainer launch {device} {app} --no-exec")
        page.wait(f"!!{action('Terminate ' + app)}")
        run(line)
        check(status()["running"] == [], "ended by the line")
        page.wait(f"!{action('Suspend ' + app)}")


def files_are_delivered(device, app, home):
    inbox = f"{home}/Documents/Inbox"
    outside = os.path.join(os.environ["WORK"], "outside")
    small, large = written(f"{outside}/-it's one.txt", b"small"), written(f"{outside}/large", os.urandom(9 << 20))
    with Handled(device) as page:
        page.click(action("Deliver " + app))
        check(page.value(f"{SUBMIT}.disabled"), "without a file there is nothing to deliver")
        page.hand(element("dialog input[type=file]"), small, large)
        page.wait(f"!{SUBMIT}.disabled")
        line = page.command()
        page.click(SUBMIT)
        page.is_closed()
        check(read(f"{inbox}/-it's one.txt") == b"small", "a small file")
        check(read(f"{inbox}/large") == read(large), "one in parts")
        page.wait("page.files.ask('facts', { path: 'Documents/Inbox/large' }).then(facts => facts?.size === 9 << 20)")
        run(line, outside)
        check(len(os.listdir(inbox)) == 4 and read(f"{inbox}/large-1") == read(large), "by the line", os.listdir(inbox))
        page.drop("dropped.txt", "dropped")
        page.outcome("Documents/Inbox/dropped.txt")
        check(read(f"{inbox}/dropped.txt") == b"dropped", "a file that was dropped")


def report_is_taken(device, app, home):
    # Small files are told together.
    written(f"{home}/Documents/in the report", b"x" * (3 << 20))
    folder = os.path.join(os.environ["WORK"], "downloads")
    os.mkdir(folder)
    with Handled(device) as page:
        page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
        page.click(action("Report " + app))
        eventually(lambda: os.listdir(folder) == [app + ".html"], "the report")
        line = page.command(action("Report " + app))
        run(line, os.environ["WORK"])
        for report in (f"{folder}/{app}.html", os.path.join(os.environ["WORK"], app + ".html")):
            check(page.open("file://" + report) == [], "the report complains", page.complaints)
            page.wait("document.body.dataset.ready !== undefined && page.mode === 'report'")
            check(page.value("byID('data').textContent.includes('in the report')"), "the file is in", report)


# MARK: Files


def marked(path, is_marked=True):
    """Whether a path bears the mark in all its forms, or in none."""
    words = [sys.executable, f"{os.environ['KIT']}/exclusion.py", "yes" if is_marked else "no", path]
    return subprocess.run(words, capture_output=True).returncode == 0


def class_of(path):
    return told("inspect", path)[0]["protection"]


def files_are_excluded_and_protected(device, app, home):
    folder, file = f"{home}/Documents/a folder", written(f"{home}/Documents/a folder/it's one", b"word")
    with Handled(device) as page:
        page.choose("Documents/a folder/it's one")
        exclude = page.command(action("Exclude"))
        page.click(action("Exclude"))
        eventually(lambda: marked(file), "it is excluded")
        include = page.command(action("Include"))
        page.click(action("Include"))
        eventually(lambda: marked(file, False), "it is included")
        page.wait(f"!!{action('Exclude')}")
        run(exclude)
        check(marked(file), "excluded by the line")
        page.wait(f"!!{action('Include')}")
        run(include)
        check(marked(file, False), "included by the line")
        page.wait(f"!!{action('Exclude')}")

        page.click(action("Protect…"))
        page.click(element("dialog input[value=A]"))
        protect = page.command()
        page.click(SUBMIT)
        page.is_closed()
        check(class_of(file) == COMPLETE, "its class", class_of(file))
        wrapped = json.dumps(told("inspect", file)[0]["wrappedBy"])
        page.wait(f"byID('panel-body').textContent.includes({wrapped})")
        run(f"appcontainer lock {device} --now")
        check(outcome_of(read, file) == "Operation not permitted", "the lock closes it")
        run(f"appcontainer unlock {device} --passcode-file {os.environ['CODE']}")

        page.choose("Documents/a folder")
        page.click(action("Protect…"))
        page.click(element("dialog input[value=D]"))
        page.click(element("dialog input[type=checkbox]"))
        recursive = page.command()
        page.click(SUBMIT)
        page.is_closed()
        check(class_of(folder) == NONE and class_of(file) == NONE, "all in it", class_of(folder), class_of(file))
        run(protect)
        check(class_of(file) == COMPLETE, "by the line")
        run(recursive)
        check(class_of(file) == NONE, "by the line, with all in it")
        # A directory that excludes what lies in it is told, and leads there.
        run(f"appcontainer exclude '{folder}'")
        page.choose("Documents/a folder/it's one")
        page.wait("byID('panel-body').textContent.includes('left out')")
        page.click(button("Documents/a folder", "byID('panel')"))
        page.wait("page.chosenPath === 'Documents/a folder'")


def lines_work_without_a_mount(device, app, home):
    file = written(f"{home}/Documents/file")
    with Handled(device) as page:
        run(f"appcontainer unmount {home}")
        page.choose("Documents/file")
        page.wait("page.findApp(page.app).mountPoint === null")
        folder = os.path.join(os.environ["WORK"], "elsewhere")
        os.mkdir(folder)
        run(page.command(action("Exclude")), folder)
        check(marked(f"{folder}/home/Documents/file"), "excluded by the line")
        run(f"appcontainer unmount {folder}/home && appcontainer mount {device} {app} {home}")
        check(marked(file), "and so it is in another mount")


if __name__ == "__main__":
    names, arguments = sys.argv[1].split(","), sys.argv[2:]
    for name in names:
        globals()[name](*arguments)
