#!/usr/bin/python3
"""A device's page in a browser as it shows files, events and names of any kind, and the end of the device.

    looked.py NAME[,NAME…] DEVICE APP HOME"""

import json
import os

from handled import Handled, marked, try_named, written
from kit import check, eventually
from served import Served
from window import Window, action, button, element, outcome_of, row, run, told

FOUND = "page.tree.view.rows.map(row => row.path).sort()"
SHOWN_EVENTS = "[...document.querySelectorAll('#events .row:not([hidden])')]"


def column(key):
    return element(f"#tree .column-{key} .sort")


def sizes(home, directory):
    """The sizes of the files of a directory, the largest first."""
    found = [(os.lstat(f"{home}/{directory}/{name}").st_size, f"{directory}/{name}") for name in
             os.listdir(f"{home}/{directory}")]
    return [path for _, path in sorted(found, reverse=True)]


# MARK: Files


def files_are_sorted_filtered_and_followed(device, app, home):
    for number, size in enumerate((50, 30000, 700, 900000)):
        written(f"{home}/Documents/some/file {number}", b"x" * size)
    written(f"{home}/Library/Caches/other")
    run(f"appcontainer exclude '{home}/Documents/some/file 2'")
    run(f"appcontainer protect none '{home}/Documents/some/file 1'")
    with Handled(device) as page:
        page.value("page.tree.reveal('Documents/some/file 0')")
        inside = lambda: [path for path in page.rows() if path.startswith("Documents/some/")]
        page.wait("page.tree.view.rows.some(row => row.path === 'Documents/some/file 3')")
        check(inside() == sorted(sizes(home, "Documents/some")), "by name", inside())
        page.click(column("size"))
        page.wait("page.tree.heads[1].getAttribute('aria-sort') === 'descending'")
        eventually(lambda: inside() == sizes(home, "Documents/some"), "by size")
        page.click(column("size"))
        eventually(lambda: inside() == sizes(home, "Documents/some")[::-1], "the smallest first")
        page.click(column("name"))

        for words, names in (("some file\u00203", ["file 3"]), ("is:excluded is:file some", ["file 2"]),
                             ("class:d some", ["file 1"]), ("no such name", [])):
            page.write(element("#filter"), words)
            eventually(lambda: page.value(FOUND) == [f"Documents/some/{name}" for name in names], words)
        page.write(element("#filter"), "file")
        page.wait("byID('hits').textContent.endsWith('hits')")
        page.key("Escape")
        page.wait("byID('filter').value === '' && byID('hits').textContent === ''")

        # Files that are created, written, renamed and removed on the mount come by themselves.
        fact = "page.files.ask('facts', { path: %s })"
        written(f"{home}/Documents/some/late")
        page.wait(fact % "'Documents/some/late'" + ".then(facts => facts?.size === 4)")
        os.truncate(f"{home}/Documents/some/late", 123456)
        page.wait(fact % "'Documents/some/late'" + ".then(facts => facts?.size === 123456)")
        os.rename(f"{home}/Documents/some", f"{home}/Documents/others")
        page.wait(fact % "'Documents/others/file 3'" + ".then(facts => facts?.size === 900000)")
        page.wait(fact % "'Documents/some/late'" + ".then(facts => facts === null)")


def files_of_groups_are_followed(device, app, home):
    group = "Groups/group.com.example.shared"
    other = os.path.join(os.environ["WORK"], "other")
    with Handled(device) as page:
        page.wait(f"page.files.ask('facts', {{ path: '{group}' }}).then(facts => facts !== null)")
        for mount, name in ((home, "by this app"), (other, "by the other")):
            written(f"{mount}/{group}/{name}")
            page.wait(f"page.files.ask('facts', {{ path: '{group}/{name}' }}).then(facts => facts?.size === 4)")
        os.unlink(f"{home}/{group}/by the other")
        page.wait(f"page.files.ask('facts', {{ path: '{group}/by the other' }}).then(facts => facts === null)")
        page.click(element("[data-app='com.example.Other']"))
        page.wait("page.isComplete && page.app === 'com.example.Other'")
        written(f"{home}/{group}/again")
        page.wait(f"page.files.ask('facts', {{ path: '{group}/again' }}).then(facts => facts?.size === 4)")


def a_files_page_tells_all_of_it(device, app, home):
    path = written(f"{home}/Documents/note", b"x" * 5000)
    os.setxattr(path, "user.colour", b"\xff\x00red")
    os.setxattr(path, "user.word", "green \u202e".encode())
    os.link(path, f"{home}/Documents/other name")
    inspected = told("inspect", path)[0]
    with open(path, "r+b"), Handled(device) as page:
        page.choose("Documents/note")
        words = page.panel()
        for expected in ("5,000 bytes", "2 links", "Complete until first user authentication", inspected["wrappedBy"],
                         inspected["protectionReason"][1:], inspected["backupRule"][1:], inspected["zone"],
                         inspected["backing"], "user.colour", "ff 00 72 65 64", "green \\u202e", "2 of 4,096 bytes"):
            check(expected.lower() in words.lower().replace("\n", " "), expected, "is not in", words)
        page.wait(f"byID('panel-body').textContent.includes('({os.getpid()})')")
        # A change of the file while it is shown is one of its page.
        os.setxattr(path, "user.late", b"value")
        os.truncate(path, 6000)
        page.wait("byID('panel-body').textContent.includes('6,000 bytes')")
        page.wait("byID('panel-body').textContent.includes('user.late')")
        os.unlink(path)
        page.wait("byID('panel-body').textContent.includes('not there any more')")


def the_map_leads_to_files(device, app, home):
    for number in range(3):
        written(f"{home}/Documents/inside/large {number}", b"x" * 400000)
    with Handled(device) as page:
        page.click(element("[data-show=map]"))
        page.wait("page.map.map?.paths.includes('Documents/inside/large 1')")
        x, y = page.value("""(() => {
            const { left, top, width, height } = page.map.box(page.map.map.paths.indexOf("Documents/inside/large 1"));
            const frame = byID("map").getBoundingClientRect();
            return [frame.left + left + width / 2, frame.top + top + height / 2];
        })()""")
        page.mouse("mouseMoved", x, y)
        page.wait("byID('map-words').textContent.startsWith('Documents/inside/large 1')")
        page.mouse("mousePressed", x, y, button="left", clickCount=1)
        page.mouse("mouseReleased", x, y, button="left", clickCount=1)
        page.wait("page.chosenPath === 'Documents/inside/large 1'")
        page.value("page.map.enter('Documents/inside')")
        inside = "page.map.map.paths.every(path => path.startsWith('Documents/inside'))"
        page.wait("page.map.map.paths.length > 0 && " + inside)
        page.value("byID('map').focus()")
        page.key("Escape")
        page.wait("page.map.path === 'Documents'")
        # The way back is a button for each directory above.
        page.value("page.map.enter('Documents/inside')")
        page.wait("page.map.path === 'Documents/inside' && !!document.querySelector('#map-trail [data-path=\"\"]')")
        page.click(element('#map-trail [data-path="Documents"]'))
        page.wait("page.map.path === 'Documents'")
        page.click(button("Guidelines"))
        page.wait("byID('guidelines').textContent.length > 20")


def the_legend_filters_the_files(device, app, home):
    written(f"{home}/Documents/of class d")
    run(f"appcontainer protect none '{home}/Documents/of class d'")
    written(f"{home}/Library/Caches/cached")
    with Handled(device) as page:
        entry = "[...document.querySelectorAll('#legend button')].find(one => one.textContent.includes(%s))"
        page.click(entry % "'None'")
        page.wait("byID('filter').value === 'class:d'")
        eventually(lambda: "Documents/of class d" in page.rows() and "Library/Caches/cached" not in page.rows(), "by class")
        page.click(entry % "'None'")
        page.wait("byID('filter').value === ''")
        page.click(entry % "'Purgeable'")
        page.wait("byID('filter').value === 'is:purgeable'")
        eventually(lambda: "Library/Caches/cached" in page.rows() and "Documents/of class d" not in page.rows(), "purgeable")


# MARK: Events


def new_events_are_told_to_a_reader_further_down(device, app, home):
    with Handled(device) as page:
        # Of refusals the record has some of many; of runs all.
        for _ in range(12):
            run(f"appcontainer launch {device} {app} --no-exec && appcontainer terminate {device} {app}")
        number = len(run(f"appcontainer events {device}").splitlines())
        page.wait(f"page.list.seen === {number} && byID('events').scrollHeight > byID('events').clientHeight + 100")
        page.value("byID('events').scrollTop = byID('events').scrollHeight")
        page.wait("byID('events').scrollTop > 100")
        first = page.value("page.list.view.rowAt(Math.ceil(byID('events').scrollTop / rowHeight)).event.number")
        outcome_of(os.rmdir, home + "/Documents")
        page.wait("!byID('event-fresh').hidden && byID('event-fresh').textContent.includes('new event')")
        page.wait(f"page.list.view.rowAt(Math.ceil(byID('events').scrollTop / rowHeight))?.event.number === {first}")
        page.click("byID('event-fresh')")
        page.wait("byID('events').scrollTop === 0 && byID('event-fresh').hidden")


def events_are_explained_and_lead_to_their_files(device, app, home):
    bundle = f"{home}/Notes.app/Info.plist"
    with Handled(device) as page:
        check(outcome_of(os.mkdir, home + "/new") == "Operation not permitted", "the top level")
        check(outcome_of(os.truncate, bundle, 0) == "Operation not permitted", "the bundle")
        page.wait("page.record.all.filter(event => event.event === 'refused').length === 2")
        events = [json.loads(line) for line in run(f"appcontainer events {device}").splitlines()]
        page.wait(f"page.record.all.length === {len(events)}")
        check(page.value("page.record.all.map(event => event.event)") == [one["event"] for one in events], "all events")
        rule = next(one["rule"] for one in events if one.get("path") == "Notes.app/Info.plist")
        page.pick(element("#event-rule"), rule)
        page.wait(f"{SHOWN_EVENTS}.length === 1 && {SHOWN_EVENTS}[0].textContent.includes('Info.plist')")
        page.pick(element("#event-rule"), "refused")
        page.wait(f"{SHOWN_EVENTS}.length === 2")
        page.pick(element("#event-rule"), "")
        page.write(element("#event-words"), "info.PLIST")
        page.wait(f"{SHOWN_EVENTS}.length === 1")
        page.pick(element("#event-app"), app)
        page.wait(f"{SHOWN_EVENTS}.length === 1")

        page.click(f"{SHOWN_EVENTS}[0]")
        page.wait("byID('panel-body').textContent.includes('Instead: ')")
        words, advice = page.value(f"[page.rules.get('{rule}').words, page.rules.get('{rule}').instead]")
        panel = page.panel()
        for expected in (words[1:], advice[1:], f"({os.getpid()})", "EPERM", rule):
            check(expected in panel, expected, "is not in", panel)
        explained = run(f"appcontainer explain {device}")
        check(words[1:] in explained.replace("\n", " "), "`explain` has the same words", words, explained)
        page.click(button("Show it in the files"))
        page.wait("page.chosenPath === 'Notes.app/Info.plist'")
        page.wait(f"!!{row('Notes.app/Info.plist')}")

        page.wait("byID('timeline').getAttribute('aria-label').includes('2 refusals')")
        page.click(element("#timeline-more"))
        page.wait("!byID('timeline-details').hidden")
        cells = "[...document.querySelectorAll('#timeline-table tr')].map(row => Number(row.cells[3].textContent))"
        page.wait(f"{cells}.reduce((sum, one) => sum + one, 0) === 2")


def extensions_have_pages_of_their_own(device, app, home):
    share = app + ".Share"
    mount = os.path.join(os.environ["WORK"], "share")
    with Handled(device) as page:
        page.click(element(f"[data-app='{share}']"))
        page.wait(f"page.isComplete && page.app === '{share}'")
        written(f"{mount}/Documents/of its own")
        page.wait("page.files.ask('facts', { path: 'Documents/of its own' }).then(facts => facts?.size === 4)")
        page.choose("Documents/of its own")
        page.click(action("Exclude"))
        eventually(lambda: marked(f"{mount}/Documents/of its own"), "it is excluded")
        page.choose("Notes.app/Info.plist")
        check("The bundle is signed" in page.panel(), "the app's bundle", page.panel())
        page.wait(f"!!{action('Report ' + share)} && !{action('Deliver ' + share)}")
        run(f"appcontainer launch {device} {app} --extension Share --no-exec")
        page.click(action("Suspend " + share))
        eventually(lambda: told("status", device)["suspended"] == [share], "it is suspended")
        # The address has the app, and no token: the page can be loaded anew.
        check(page.value("location.href") == f"{page.served.origin}/#{share}", page.value("location.href"))
        page.reload()
        page.wait(f"typeof page === 'object' && page.isComplete && page.app === '{share}'")


# MARK: Names of any kind


NAMES = ["<img src=x onerror=alert(1)><b>bold<!--<script>alert(1)", "\"double\" 'single' `back` $(id) !x \\",
         "\u202egpj.exe zero\u200bwidth \u2028", "line\nbreak \x1b[31mred", "--now", " ", "a" * 255,
         "*~#%41 e\u0301 \U0001f9ea"]
# Bytes that are no text. Commands take none of these names.
RAW = ["no text \udcff", "no text \udcfe"]


def names_are_text_everywhere(device, app, home):
    for name in NAMES + RAW:
        written(f"{home}/Documents/{name}")
        outcome_of(os.mkdir, f"{home}/{name}")
    excluded = lambda name, is_so=True: marked(f"{home}/Documents/{name}", is_so)
    with Handled(device) as page:
        # Of many refusals at a time the record has the first ones.
        page.wait("page.record.all.filter(event => event.event === 'refused').length >= 5")
        page.value("page.tree.reveal('Documents/--now')")
        for name in NAMES + RAW:
            path = f"Documents/{name}"
            page.choose(path)
            label = page.value("document.querySelector('#tree .row.chosen .label').textContent")
            check(label == page.value(f"shown({json.dumps(name)})"), "the row of", repr(name), label)
            # The line that is shown is of that file, whatever its name is to a shell; and so is the button.
            line = page.command(action("Exclude"))
            check(line.isprintable(), "the line", repr(line))
            if name in RAW:
                page.click(action("Exclude"))
            run(line)
            eventually(lambda: excluded(name), "excluded", repr(name))
            if name not in NAMES[1:4] + RAW[1:]:
                continue
            page.click(action("Include"))
            eventually(lambda: excluded(name, False), "included by the page", repr(name))
        page.click(element("[data-show=map]"))
        page.wait("page.map.map !== undefined")
        hidden = page.value("[...document.body.innerText].filter(one => one !== '\\n' && shown(one) !== one).join()")
        check(hidden == "", "characters that are not seen", repr(hidden))
        check(page.value("document.querySelectorAll('img, b, main script').length") == 0, "elements of a name")
        name = page.value("document.querySelector('#app-head h2').textContent")
        check(name == "<b>No\\u202etes", "the app's name", name)


# MARK: Without rights, a device or a command


def a_page_that_only_looks_has_no_actions(device, app, home):
    written(f"{home}/Documents/file")
    run(f"appcontainer launch {device} {app} --no-exec")
    with Handled(device, "--read-only") as page:
        page.choose("Documents/file")
        page.wait("byID('read-only').checkVisibility() && page.deviceView.surroundings !== undefined")
        left = page.value("document.querySelectorAll('.action, [role=switch], [data-action]').length")
        check(left == 0, "actions", left)
        page.drop("dropped.txt", "dropped")
        # By hand it is refused too, and the page that is looked at goes on.
        words = page.value("request('lock', { now: true }).catch(problem => problem.message)")
        check("--read-only" in words, "the server refuses it", words)
        words = page.value("request('suspend', { app: page.app }).catch(problem => problem.message)")
        check("--read-only" in words, "the server refuses it", words)
        check(not os.path.exists(f"{home}/Documents/Inbox"), "nothing was delivered")
        check(told("status", device)["suspended"] == [], "nothing was suspended")


def a_page_outlives_its_device_and_says_so(device, app, home):
    written(f"{home}/Documents/file")
    sentence = "byID('sentence').hidden === false && byID('sentence').textContent.includes(%s)"
    with Window() as page:
        with Served(device, admitted=False) as served:
            page.visit(served)
            run(f"appcontainer unmount {home} && appcontainer shutdown {device}")
            page.wait(sentence % "'The device is off'")
            page.wait("byID('state').textContent === 'Off'")
            page.wait("document.querySelectorAll('#actions button').length === 0")
            check(page.rows() != [], "the rest of the page is as it was")
            run(page.value("document.querySelector('#sentence code').textContent"))
            page.wait("byID('sentence').hidden && byID('state').textContent === 'Unlocked'")
            # It shows the device that is on now.
            run(f"appcontainer mount {device} {app} {home}")
            written(f"{home}/Documents/later")
            page.wait("page.files.ask('facts', { path: 'Documents/later' }).then(facts => facts?.size === 4)")
            outcome_of(os.mkdir, home + "/new")
            page.wait("page.record.all.some(event => event.event === 'refused' && event.path === 'new')")
            page.wait("page.apps.some(app => app.mountPoint)")
            page.click(action("Purge…"))
            page.click(button("Cancel", element("dialog")))
            # A browser that has lost its cookie is told so.
            page.call("Network.clearBrowserCookies")
            page.wait(sentence % "'not let in any more'")
        page.wait(sentence % "'The command that serves this page has ended'")
        check(page.rows() != [], "the page is not empty")
        line = page.value("document.querySelector('#sentence code').textContent")
        check(line == f"appcontainer ui {device}", "the command that begins it again", line)


if __name__ == "__main__":
    try_named(globals())
