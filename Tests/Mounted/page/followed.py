#!/usr/bin/python3
"""A device's page in a browser while much changes at a time, beside other pages, and for a reader who is slow.

    followed.py NAME[,NAME…] DEVICE APP HOME"""

import json
import os
import random

from handled import Handled, try_named, written
from kit import check, eventually, in_another_process
from served import Served
from window import Window, action, button, element, outcome_of, row, run, told

# Every path that the page knows of.
KNOWN = """(async () => {
    await page.files.ask("order", { text: "/" });
    const { rows } = await page.files.ask("rows", { from: 0, to: 1e6 });
    await page.files.ask("order", { text: "" });
    return rows.map(row => row.path).sort();
})()"""


def paths_in(home):
    return [os.path.relpath(os.path.join(folder, name), home) for folder, folders, files in os.walk(home)
            for name in folders + files]


def is_same(page, home):
    return page.value(KNOWN) == sorted(path for path in paths_in(home) if "/" in path)


# MARK: Files


def change_at_random(home, seed):
    """Files and directories that are made, renamed over each other and removed."""
    chance = random.Random(seed)
    place = f"{home}/Documents/burst"
    for number in range(400):
        names = [f"{place}/{chance.randrange(6)}", f"{place}/{chance.randrange(6)}/{chance.randrange(5)}"]
        file = f"{chance.choice(names)}/file {seed} {number % 40}"
        try:
            chance.choice([
                lambda: written(file, b"x" * chance.randrange(100)), lambda: written(file), lambda: os.unlink(file),
                lambda: os.rename(*chance.sample(names + [f"{place}/{chance.randrange(6)}"], 2)),
                lambda: os.symlink("target", file)])()
        except OSError:
            # It is not there, or no directory, or not empty.
            pass


def files_stay_true_through_bursts(device, app, home):
    for number in range(3000):
        written(f"{home}/Documents/many/{number % 50}/{number}", b"")
    with Handled(device) as page:
        for turn in range(3):
            in_another_process(lambda: [change_at_random(home, 10 * turn + seed) for seed in range(3)])
            # While all is listed, too.
            page.value("page.files.open(page.app)")
            in_another_process(lambda: change_at_random(home, 10 * turn + 5))
            eventually(lambda: page.value("page.isComplete") and is_same(page, home), "all files are on the page", turn)
        files = [path for path in paths_in(home) if os.path.islink(f"{home}/{path}")
                 or not os.path.isdir(f"{home}/{path}")]
        page.wait(f"byID('sums').textContent.startsWith(`${{number({len(files)})}} files, `)")


def events_lead_to_files_that_are_there_alone(device, app, home):
    written(f"{home}/Documents/kept")
    outcome_of(os.mkdir, f"{home}/new")
    with Handled(device) as page:
        page.wait("page.record.all.some(event => event.event === 'refused')")
        page.write(element("#filter"), "kept")
        page.wait("byID('hits').textContent === '1 hit'")
        page.click("[...document.querySelectorAll('#events .row:not([hidden])')].find(one => "
                   "one.textContent.includes('Refused'))")
        page.click(button("Show it in the files"))
        page.outcome("new is not there any more")
        check(page.value("byID('filter').value") == "kept", "the filter stays")
        check(page.value("page.chosenPath") is None, "nothing is chosen")
        # And nothing is when it is there later.
        page.value("page.seek()")
        check(page.value("page.wanted") is None, "it is not waited for")


def damage_is_to_be_seen(device, app, home):
    backing = told("inspect", written(f"{home}/Documents/damaged", b"x" * 5000))[0]["backing"]
    run(f"appcontainer unmount {home}")
    with open(backing, "r+b") as file:
        head = file.read(64)
        file.seek(0)
        file.write(bytes(byte ^ 1 for byte in head))
    run(f"appcontainer mount {device} {app} {home}")
    with Handled(device) as page:
        page.value("page.tree.reveal('Documents/damaged')")
        page.wait(f"!!{row('Documents/damaged')}?.querySelector('.warning')")
        page.click(row("Documents/damaged") + ".querySelector('.label')")
        page.wait("byID('panel-body').textContent.includes('Fault')")


# MARK: Pages beside each other


def pages_of_a_browser_share_what_they_follow(device, app, home):
    with Handled(device) as page:
        tabs = [page.session]
        for _ in range(7):
            tabs.append(page.tab("/"))
        for session in tabs:
            page.session = session
            page.wait("page.isComplete === true && page.status !== null")
        written(f"{home}/Documents/seen by all")
        outcome_of(os.mkdir, f"{home}/told to all")
        for session in reversed(tabs):
            page.session = session
            page.wait("page.files.ask('facts', { path: 'Documents/seen by all' }).then(facts => facts?.size === 4)")
            page.wait("page.record.all.filter(event => event.path === 'told to all').length === 1")
            check(page.value("page.problem") is None, "the page reaches its device", page.value("page.problem"))
        # The first one goes, and the others follow on.
        page.call("Page.close")
        page.session = tabs[3]
        page.call("Page.bringToFront")
        written(f"{home}/Documents/later")
        page.wait("page.files.ask('facts', { path: 'Documents/later' }).then(facts => facts?.size === 4)")
        page.click(action("Purge…"))
        page.click(button("Cancel", element("dialog")))
        # A page that is loaded anew has the record at once.
        page.reload()
        page.wait("typeof page === 'object' && page.isComplete === true && page.record.all.length > 0")


# The worker of the events on its own, with a device of the test's. Each answer is a list of parts; between two is a pause
# that is longer than the record is waited for at first.
FEED = """(async (text, answers) => {
    const told = [];
    const pause = () => new Promise(resume => setTimeout(resume, 400));
    const worker = { postMessage: ({ notice, events }) => told.push([notice, events?.map(one => one.event).join("")]) };
    const follow = async (path, take, begun) => {
        if (path !== "events/follow" || answers.length === 0) return new Promise(() => {});
        begun();
        for (const part of answers.shift()) {
            for (const event of part) take({ event, time: event });
            await pause();
        }
    };
    new Function("self", "SharedWorkerGlobalScope", "device", text + "; follow = device;")(worker, undefined, follow);
    worker.onmessage({ data: { secret: "", lock: null } });
    while (answers.length > 0) await pause();
    for (let turn = 0; turn < 8; turn += 1) await pause();
    return told.filter(([, events]) => events);
})"""


def a_record_that_comes_slowly_is_the_same_one(device, app, home):
    expected = [
        # The device comes back, and its record comes in parts.
        ([["abc"], ["", "a", "b", "cd"]], [["record", "abc"], ["events", "d"]]),
        # It went again before the record had come.
        ([["abc"], ["a"], ["abc", "d"]], [["record", "abc"], ["events", "d"]]),
        # The record begins later, or what is known does.
        ([["abc"], ["bcd"]], [["record", "abc"], ["events", "d"]]),
        ([["bc"], ["abcd"]], [["record", "bc"], ["events", "d"]]),
        # It is another one, though some of it is the same.
        ([["abc"], ["xbc", "d"]], [["record", "abc"], ["record", "xbc"], ["events", "d"]])]
    with Handled(device) as page:
        text = json.dumps(page.value("fetch('/feed.js').then(answer => answer.text())"))
        together = ", ".join(f"{FEED}({text}, {json.dumps(answers)})" for answers, _ in expected)
        for (answers, told), found in zip(expected, page.value(f"Promise.all([{together}])")):
            check(found == told, answers, found)


def an_older_page_takes_nothing_from_a_newer_one(device, app, home):
    """A tab of a command that has ended is loaded again beside one of the command that has its port now."""
    with Handled(device) as page:
        stale = page.value("sessionStorage.getItem('start').replace(secret, secret.replace(/./g, '0'))")
        fresh = page.session
        page.session = page.tab("/")
        page.value(f"sessionStorage.setItem('start', {json.dumps(stale)})")
        page.reload()
        page.wait("typeof page === 'object' && !!page.bar && !byID('sentence').hidden")
        page.session = fresh
        page.call("Page.bringToFront")
        run(f"appcontainer unmount {home} && appcontainer shutdown {device} && appcontainer boot {device} && "
            f"appcontainer mount {device} {app} {home}")
        page.wait("page.problem === null && page.isComplete")
        written(f"{home}/Documents/later")
        page.wait("page.files.ask('facts', { path: 'Documents/later' }).then(facts => facts?.size === 4)")


# MARK: Readers


def a_reader_keeps_the_place_when_the_device_comes_back(device, app, home):
    with Handled(device) as page:
        for _ in range(20):
            run(f"appcontainer launch {device} {app} --no-exec && appcontainer terminate {device} {app}")
        page.wait("page.record.all.filter(event => event.event === 'terminated').length === 20"
                  " && page.list.seen === page.record.last && page.list.view.count === page.record.last")
        page.value("byID('events').scrollTop = 120")
        first = "page.list.view.rowAt(Math.ceil(byID('events').scrollTop / rowHeight))?.event"
        page.wait(f"byID('events').scrollTop === 120 && !!{first}")
        page.value(f"void (window.first = {first}, page.chooseEvent(window.first))")
        before = page.value("page.record.last")
        run(f"appcontainer unmount {home} && appcontainer shutdown {device} && appcontainer boot {device} && "
            f"appcontainer mount {device} {app} {home}")
        page.wait(f"page.problem === null && page.record.last > {before}")
        page.wait(f"{first} === window.first && !!document.querySelector('#events .chosen')")
        page.wait(f"page.list.unread > 0 && page.list.unread === page.record.last - {before}")


def the_last_app_takes_its_files_with_it(device, app, home):
    with Handled(device) as page:
        page.choose("Documents")
        run(f"appcontainer unmount {home} && appcontainer uninstall {device} {app}")
        page.wait("page.app === null && page.tree.view.count === 0 && page.chosenPath === null")
        page.wait("byID('app-list').textContent.includes('No app is installed')")
        run(f"appcontainer install {device} {os.environ['BASE']}/Notes.app")
        page.wait(f"page.app === {json.dumps(app)} && page.isComplete && page.tree.view.count > 0")
        run(f"appcontainer mount {device} {app} {home}")


def the_order_is_kept_for_an_app_that_comes(device, app, home):
    run(f"appcontainer unmount {home} && appcontainer shutdown {device}")
    with Window() as page, Served(device, admitted=False) as served:
        page.open(served.link)
        page.wait("!!page.bar && byID('sentence').textContent.includes('The device is off')")
        page.click(element("#tree .column-size .sort"))
        run(f"appcontainer boot {device} && appcontainer mount {device} {app} {home}")
        page.wait("page.isComplete === true && page.tree.view.rows.length > 2")
        sizes = page.value("page.tree.view.rows.filter(row => row.level === 1).map(row => row.size)")
        check(sizes == sorted(sizes, reverse=True), "the largest first", sizes)


def controls_stay_while_the_page_changes(device, app, home):
    switch = element("[data-command=power]")
    os.mkdir(f"{home}/Documents/steady")
    with Handled(device) as page:
        page.wait(f"!!{switch}")
        # The clock goes on meanwhile, and the facts are asked for again.
        page.value("window.before = byID('clock-now').textContent")
        page.click(switch, 2.5)
        eventually(lambda: told("conditions", device)["power"] is False, "a slow click is one")
        check(page.value("byID('clock-now').textContent !== window.before"), "the clock goes on")
        page.click(action("Purge…"), 2.5)
        page.click(button("Cancel", element("dialog")))
        page.choose("Documents/steady")
        page.value("window.held = document.querySelector('[data-action=\"Protect…\"]')")
        written(f"{home}/Documents/steady/more", b"x" * 5000)
        page.wait("byID('panel-body').textContent.includes('4.9 KiB in 1 file')")
        check(page.value("window.held.isConnected"), "a button of a page that changes stays the same")


def lines_are_copied_by_keys(device, app, home):
    copied = "navigator.clipboard.readText()"
    written(f"{home}/Documents/note")
    with Handled(device) as page:
        page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        page.value(f"{action('Restart…')}.focus()")
        page.key("c")
        page.wait("byID('command-copy').textContent === 'Copied'")
        check(page.value(copied) == f"appcontainer restart {device}", "of a button", page.value(copied))
        page.choose("Documents/note")
        page.key("c")
        page.wait(f"{copied}.then(text => text === 'appcontainer inspect {home}/Documents/note')")
        # In a field it is a letter.
        page.write(element("#filter"), "")
        page.key("c")
        page.wait("byID('filter').value === 'c'")


# The time in which a pointer comes to rest passes when the test says so, however slow the machine is.
HOLD = """{
    window.held = new Map();
    const { setTimeout: set, clearTimeout: clear } = window;
    window.setTimeout = (run, time) => {
        const timer = set(() => time === restOfPointer || run(), time);
        if (time === restOfPointer) held.set(timer, run);
        return timer;
    };
    window.clearTimeout = timer => {
        held.delete(timer);
        clear(timer);
    };
}"""


def a_pointer_that_passes_by_leaves_the_line(device, app, home):
    pass_time = "[...held.values()].forEach(run => run())"
    with Handled(device) as page:
        line = page.command(action("Restart…"))
        page.value(HOLD)
        for name in ("Purge…", "Clock…"):
            page.point(action(name))
        page.mouse("mouseMoved", 1, 1)
        page.value(pass_time)
        check(page.value("byID('command').textContent") == line, "the line", page.value("byID('command').textContent"))
        page.point(action("Clock…"))
        page.value(pass_time)
        check(page.value("byID('command').textContent") != line, "the line of what is pointed at", line)


def a_page_tells_apart_slow_and_ended(device, app, home):
    with Handled(device) as page:
        page.value("""window.timeout = AbortSignal.timeout;
            AbortSignal.timeout = () => AbortSignal.abort(new DOMException("late", "TimeoutError"));""")
        page.wait("!byID('sentence').hidden && byID('sentence').textContent.includes('has not answered')")
        check("has ended" not in page.value("byID('sentence').textContent"), "it has not ended")
        page.value("AbortSignal.timeout = window.timeout")
        page.wait("byID('sentence').hidden && byID('state').textContent === 'Unlocked'")


def a_page_keeps_to_its_own_device(device, app, home):
    said = "!byID('sentence').hidden && byID('sentence').textContent.includes(%s)"
    with Handled(device) as page:
        run(f"appcontainer unmount {home} && appcontainer shutdown {device} && mv {device} {device}.old")
        page.wait(said % json.dumps("does not exist"))
        run(f"appcontainer create {device}")
        page.wait(said % json.dumps("is another device now"))
        check(page.value("byID('state').textContent") == "Not reached", page.value("byID('state').textContent"))
        run(f"appcontainer shutdown {device} && mv {device} {device}.other && mv {device}.old {device}")
        page.wait(said % "'The device is off'")
        run(f"appcontainer boot {device} && appcontainer mount {device} {app} {home}")
        page.wait("byID('sentence').hidden && byID('state').textContent === 'Unlocked'")


DROP_UNREADABLE = """(() => {
    const carried = new DataTransfer();
    const file = new File(["x"], "a folder");
    carried.items.add(file);
    // A folder is dropped as a file that cannot be read.
    File.prototype.slice = () => ({ arrayBuffer: () => Promise.reject(new DOMException("", "NotFoundError")) });
    byID("tree").dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
})()"""


def what_cannot_be_delivered_is_said(device, app, home):
    with Handled(device) as page:
        page.value(DROP_UNREADABLE)
        page.outcome("a folder cannot be read")
        check(page.value("page.problem") is None, "the page goes on")
        check(not os.path.exists(f"{home}/Documents/Inbox/a folder"), "nothing was delivered")


def a_purge_needs_its_amount(device, app, home):
    cache = written(f"{home}/Library/Caches/kept", b"x" * 50000)
    submit = "document.querySelector('dialog [type=submit]')"
    with Handled(device) as page:
        page.click(action("Purge…"))
        page.pick(element("dialog select"), "age")
        page.write(element("dialog input[type=number]"), "0")
        page.wait(f"!{submit}.disabled")
        page.value("document.querySelector('dialog input[type=number]').value = ''")
        page.value("document.querySelector('dialog form').dispatchEvent(new Event('input'))")
        page.wait(f"{submit}.disabled && document.querySelector('dialog').textContent.includes('Say how many days')")
        page.key("Enter")
        page.click(button("Cancel", element("dialog")))
        check(os.path.exists(cache), "nothing went")


def the_time_line_tells_when_the_device_was_off(device, app, home):
    bands = "[...document.querySelectorAll('#timeline .band title')].map(one => one.textContent)"
    with Handled(device) as page:
        page.wait(f"{bands}.join() === 'Unlocked'")
        run(f"appcontainer restart {device}")
        run(f"appcontainer unmount {home} && appcontainer shutdown {device}")
        page.wait(f"{bands}.at(-1) === 'Off'")
        run(f"appcontainer boot {device}")
        page.wait(f"{bands}.at(-1) === 'Unlocked' && {bands}.includes('Off')")
        # Without a passcode it was open all the time besides.
        check(page.value(f"{bands}.every(one => one === 'Unlocked' || one === 'Off')"), "bands", page.value(bands))
        run(f"appcontainer mount {device} {app} {home}")


if __name__ == "__main__":
    try_named(globals())
