#!/usr/bin/python3
"""A device's page for those who use keys alone, a screen reader, other colours or a narrow window.

    accessible.py NAME[,NAME…] DEVICE APP HOME"""

import glob
import json
import os

from handled import DIALOG, PASSCODE, Handled, marked, try_named, written
from kit import check, eventually, read
from window import action, element, outcome_of, run

FULL = os.environ.get("FULL") == "1"
# The narrowest and a usual window, one in each of the colours; a full run has them all, and the widest.
WINDOWS = [(width, dark) for width in (390, 1280, 2560) for dark in (False, True)] if FULL else [
    (390, False), (1280, True)]

FOUND = """axe.run(document, { resultTypes: ["violations"] }).then(report => report.violations.map(one => [
    one.impact, one.id, one.help, one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]))"""

# All that takes the focus by Tab. A group of radio buttons is one stop.
STOPS = """[...document.querySelectorAll("a[href], button, input, select, [tabindex='0']")].filter(
    one => one.checkVisibility() && !one.disabled && one.tabIndex >= 0)"""
FOCUSED = "document.activeElement"

# Controls are drawn anew, some with other amounts; by this one is known again.
NAME = """(one => one.id || one.dataset.action || one.dataset.app || one.dataset.show || one.dataset.command
    || one.dataset.filter || one.textContent)"""


class Reader(Handled):
    """The page with axe-core in it."""

    def inject(self):
        (script,) = glob.glob(os.environ["API_TOOLS"] + "/lib/*/site-packages/axe_playwright_python/axe.min.js")
        self.value(read(script).decode())

    def is_fit(self, *where):
        found = self.value(FOUND)
        check(found == [], "found", *where, json.dumps(found, indent=1))

    def windows(self, name):
        """Windows of all widths and colours, one after the other, in which nothing is cut off at the side."""
        for width, dark in WINDOWS:
            self.dress(width, dark, 860)
            wide = self.value("document.scrollingElement.scrollWidth - innerWidth")
            check(wide <= 0, f"the {name} is wider than its window by", wide, width)
            yield width, dark

    def visit_all(self, app, *where):
        """Every view, panel and dialog of the page."""
        self.value("page.choose('Documents/note', true)")
        self.wait("page.panel.inspection?.path === 'Documents/note'")
        self.is_fit("file", *where)
        self.value("page.chooseEvent(page.record.all.find(event => event.event === 'refused')); showView('map')")
        self.wait("page.map.map?.paths.length > 0")
        self.is_fit("event and map", *where)
        self.value("showView('guidelines'); page.timeLine.toggle()")
        self.wait("byID('guidelines').textContent.length > 20")
        self.is_fit("guidelines and table", *where)
        self.value("page.timeLine.toggle(); showView('tree')")
        dialogs = ["actions.purge()", "actions.unlock()", "actions.restart()", "actions.advance()", "actions.backup()",
                   f"terminate('{app}')", f"chooseFiles('{app}')",
                   "page.files.ask('facts', { path: 'Documents/note' }).then(protectFile)"]
        for dialog in dialogs:
            self.value(f"void {dialog}")
            self.wait(f"!!{DIALOG}")
            self.is_fit(dialog, *where)
            self.value(f"{DIALOG}.close()")
            self.is_closed()


def a_page_is_fit_for_every_reader(device, app, home):
    written(f"{home}/Documents/note", b"x" * 5000)
    run(f"appcontainer protect complete {home}/Documents/note && appcontainer exclude {home}/Documents/note")
    written(f"{home}/Library/Caches/image", b"x" * 70000)
    outcome_of(os.mkdir, home + "/new")
    run(f"appcontainer launch {device} {app} --no-exec")
    with Reader(device) as page:
        page.wait("page.record.all.some(event => event.event === 'refused')")
        page.inject()
        for width, dark in page.windows("page"):
            page.visit_all(app, width, dark)
        page.click(action("Lock now"))
        page.wait("byID('state').textContent === 'Locked'")
        page.is_fit("locked")
        page.value("page.choose(null)")
        run(f"appcontainer terminate {device} {app}")
        run(f"appcontainer unmount {home} && appcontainer shutdown {device}")
        page.wait("byID('state').textContent === 'Off'")
        page.is_fit("off")
    run(f"appcontainer mount {device} {app} {home} --passcode-file {os.environ['CODE']}")


def every_control_is_reached_by_keys(device, app, home):
    written(f"{home}/Documents/note")
    run(f"appcontainer launch {device} {app} --no-exec")
    with Handled(device) as page:
        page.choose("Documents/note")
        page.wait(f"!!{action('Suspend ' + app)} && !!{action('Exclude')}")
        wanted = set(page.value(f"{STOPS}.map({NAME})"))
        check(len(wanted) > 30, "controls", wanted)
        page.value("byID('tree').focus()")
        met = set()
        for _ in range(3 * len(wanted)):
            page.key("Tab")
            met.add(page.value(f"{NAME}({FOCUSED})"))
            outline = page.value(f"""(style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1
                || style.boxShadow !== "none" || {FOCUSED} === document.body)(getComputedStyle({FOCUSED}))""")
            check(outline, "the focus is not seen on", page.value(f"{FOCUSED}.outerHTML.slice(0, 200)"))
            if wanted <= met:
                break
        left = wanted - met
        check(not left, "not reached by Tab:", left)


def focus(page, found):
    """Goes on by Tab until an element has the focus."""
    for _ in range(200):
        if page.value(f"{FOCUSED} === {found}"):
            return
        page.key("Tab")
    check(False, "Tab does not come to", found)


def files_are_handled_by_keys_alone(device, app, home):
    file = written(f"{home}/Documents/note", b"text")
    with Handled(device) as page:
        # The tree: to the file, to its page, and to a button of it.
        focus(page, "byID('tree')")
        page.key("Home")
        active = "page.tree.view.rowAt(page.tree.view.active)?.path"
        while page.wait(active) != "Documents":
            page.key("ArrowDown")
        if not page.value("page.tree.view.rowAt(page.tree.view.active).isExpanded"):
            page.key("ArrowRight")
            page.wait("page.tree.view.rowAt(page.tree.view.active).isExpanded")
        while page.wait(active) != "Documents/note":
            page.key("ArrowDown")
        page.key("Enter")
        page.wait("page.panel.inspection?.path === 'Documents/note'")
        focus(page, action("Exclude"))
        page.key("Enter")
        eventually(lambda: marked(file), "excluded by keys")
        # The button that takes its place has the focus.
        page.wait(f"!!{action('Include')} && document.activeElement === {action('Include')}")
        page.key("Escape")
        page.wait("page.chosenPath === null && document.activeElement === byID('tree')")


def the_focus_stays_with_what_is_meant(device, app, home):
    bare = "document.activeElement?.dataset.action === undefined"
    folder = written(f"{home}/Documents/out/note") and f"{home}/Documents/out"
    run(f"appcontainer exclude {folder}")
    outcome_of(os.truncate, f"{home}/Notes.app/Info.plist", 0)
    run(f"appcontainer launch {device} {app} --no-exec")
    with Handled(device) as page:
        # From a link to another page the focus comes to no button that would change something.
        page.choose("Documents/out/note")
        link = "[...byID('panel').querySelectorAll('button.link')].find(one => one.textContent === 'Documents/out')"
        page.wait(f"!!{link} && ({link}.focus(), true)")
        page.key("Enter")
        page.wait(f"page.chosenPath === 'Documents/out' && !!{action('Include')}")
        check(page.value(bare), "the focus is on", page.value(f"{FOCUSED}.outerHTML.slice(0, 100)"))
        # A button beside one that goes keeps it.
        terminate = action("Terminate " + app)
        page.wait(f"!!{terminate} && ({terminate}.focus(), window.held = {terminate}, true)")
        run(f"appcontainer suspend {device} {app}")
        page.wait(f"!!{action('Resume ' + app)}")
        check(page.value(f"{FOCUSED} === window.held"), "the focus has gone to", page.value(f"{FOCUSED}.outerHTML"))
        # Each row that is drawn has an identifier of its own, whatever was drawn before.
        for number in range(200):
            written(f"{home}/Documents/many/{number}")
        page.wait("page.tree.reveal('Documents/many/150')")
        page.write(element("#filter"), "out/note")
        page.wait("page.tree.view.count === 1")
        page.write(element("#filter"), "")
        page.wait("page.tree.view.count > 200")
        page.value("byID('tree').scrollTop = 1500")
        page.wait("page.tree.view.from > 20")
        names = page.value("[...document.querySelectorAll('[id]')].map(one => one.id)")
        check(len(names) == len(set(names)), "identifiers", sorted(one for one in set(names) if names.count(one) > 1))


def dialogs_are_handled_by_keys_alone(device, app, home):
    with Handled(device) as page:
        focus(page, action("Lock now"))
        page.key("Enter")
        eventually(lambda: page.state() == "locked", "locked by keys")
        page.wait("byID('state').textContent === 'Locked'")
        focus(page, action("Unlock…"))
        page.key("Enter")
        page.wait(f"!!{DIALOG} && document.activeElement === {DIALOG}.querySelector('input')")
        page.call("Input.insertText", text=PASSCODE)
        page.key("Enter")
        eventually(lambda: page.state() == "unlocked", "unlocked by keys")
        page.is_closed()
        page.wait(f"document.activeElement === {action('Unlock…')}")
        # Escape leaves a dialog, and the focus is where it was.
        focus(page, action("Purge…"))
        page.key("Enter")
        page.wait(f"!!{DIALOG}")
        page.key("Escape")
        page.is_closed()
        page.wait(f"document.activeElement === {action('Purge…')}")


def map_and_record_are_handled_by_keys_alone(device, app, home):
    file = written(f"{home}/Documents/note", b"x" * (3 << 20))
    run(f"appcontainer protect complete {file}")
    outcome_of(os.mkdir, home + "/new")
    with Handled(device) as page:
        page.wait("page.record.all.some(event => event.event === 'refused')")
        focus(page, element("[data-show=map]"))
        page.key("Enter")
        page.wait("page.map.map?.paths.includes('Documents/note')")
        focus(page, "byID('map')")
        page.wait("byID('map-words').textContent.length > 0")
        for _ in range(50):
            if page.value("page.map.map.paths[page.map.active] === 'Documents/note'"):
                break
            for key in ("ArrowRight", "ArrowDown"):
                page.key(key)
        check("class A" in page.value("byID('map-words').textContent"), page.value("byID('map-words').textContent"))
        page.key("Enter")
        page.wait("page.chosenPath === 'Documents/note'")
        focus(page, "byID('events')")
        page.key("Home")
        for _ in range(50):
            if page.value("page.list.view.rowAt(page.list.view.active)?.event?.event === 'refused'"):
                break
            page.key("ArrowDown")
        page.key("Enter")
        page.wait("page.chosenEvent?.event === 'refused'")
        page.key("/")
        page.wait("document.activeElement === byID('filter')")


if __name__ == "__main__":
    try_named(globals())
