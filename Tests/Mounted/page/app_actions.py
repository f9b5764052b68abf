#!/usr/bin/python3
"""The controls of apps and files on a device's page in a browser, and what they did: by calls at the mount, and by
other commands.

    app_actions.py NAME[,NAME…] DEVICE APP HOME"""

import json
import os

from handled import DIALOG, SUBMIT, Handled, class_of, marked, try_named, written
from kit import check, eventually, read
from window import action, button, element, outcome_of, run, told

COMPLETE, NONE = "NSFileProtectionComplete", "NSFileProtectionNone"

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
        # As a phone ends it when memory is short.
        run(f"appcontainer launch {device} {app} --no-exec")
        page.click(action("Terminate " + app))
        page.click(element("dialog input[type=checkbox]"))
        check(page.command() == line + " --memory", page.command())
        page.click(SUBMIT)
        page.is_closed()
        check(status()["running"] == [], "ended for its memory")
        events = [json.loads(text) for text in run(f"appcontainer events {device}").splitlines()]
        reasons = [event["reason"] for event in events if event["event"] == "terminated"]
        check(reasons[-1:] == ["memory"], "the reason of its end", reasons)


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
    try_named(globals())
