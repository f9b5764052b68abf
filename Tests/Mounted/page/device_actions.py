#!/usr/bin/python3
"""The controls of a device on its page in a browser, and what they did: by calls at the mount, and by other commands.

    device_actions.py NAME[,NAME…] DEVICE APP HOME"""

import os
import plistlib
import signal
import tarfile

from handled import DIALOG, PASSCODE, SUBMIT, Handled, ahead, try_named, unlock, written
from kit import check, eventually, read
from window import action, button, element, outcome_of, run, told


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


def wrong_passcodes_have_to_wait(device, app, home):
    hint = f"{DIALOG}.querySelector('.hint').textContent"
    status = lambda: told("status", device)
    with Handled(device) as page:
        page.click(action("Lock now"))
        eventually(lambda: page.state() == "locked", "the lock")
        page.click(action("Unlock…"))
        for wrong in range(1, 6):
            # The same one again would not count.
            page.write(element("dialog input[type=password]"), f"wrong {wrong}")
            page.click(SUBMIT)
            page.wait(f"page.status.passcodeAttempts === {wrong} && !{SUBMIT}.disabled")
        page.wait(f"{hint}.includes('the next attempt has to wait ')")
        page.wait("byID('passcode-wait').textContent.startsWith('next attempt in ')")
        # The right one waits too, and is not counted.
        page.write(element("dialog input[type=password]"), PASSCODE)
        page.click(SUBMIT)
        page.wait(f"{DIALOG}.querySelector('[role=alert]').textContent.includes('takes no passcode now')")
        check(status()["passcodeAttempts"] == 5 and page.state() == "locked", "an attempt before its time", status())
        page.key("Escape")
        page.is_closed()
        run(f"appcontainer clock {device} advance {round(status()['passcodeWait']) + 1}s")
        page.wait("page.status.passcodeWait === null && byID('passcode-wait') === null")
        unlock(page)
        eventually(lambda: page.state() == "unlocked", "the right one after the wait")
        page.is_closed()


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
        line = page.confirm(f"appcontainer clock {device} advance 3m")
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
        line = page.confirm(f"appcontainer purge {device} --level critical")
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


def device_is_purged_by_age_and_by_free_space(device, app, home):
    cache = f"{home}/Library/Caches/unused"
    written(cache, b"x" * 300000)
    run(f"appcontainer capacity {device} 100M")
    with Handled(device) as page:
        page.click(action("Purge…"))
        page.pick(element("dialog select"), "age")
        page.write(element("dialog input[type=number]"), "2")
        page.wait(f"{DIALOG}.textContent.includes('used more recently') && {SUBMIT}.disabled")
        page.click(button("Cancel", DIALOG))
        run(f"appcontainer clock {device} advance 3d")
        page.click(action("Purge…"))
        page.pick(element("dialog select"), "age")
        page.write(element("dialog input[type=number]"), "2")
        page.wait(f"{DIALOG}.textContent.includes('1 entry would go') && !{SUBMIT}.disabled")
        line = page.confirm(f"appcontainer purge {device} --older-than 172800")
        check(not os.path.exists(cache), "what was not used for so long")

        written(cache, b"x" * (40 << 20))
        page.click(action("Purge…"))
        page.pick(element("dialog select"), "free")
        page.write(element("dialog input[type=number]"), "0.01")
        page.wait(f"{DIALOG}.textContent.includes('enough is available without it') && {SUBMIT}.disabled")
        page.write(element("dialog input[type=number]"), "0.09375")
        page.wait(f"{DIALOG}.textContent.includes('1 entry would go') && !{SUBMIT}.disabled")
        line = page.confirm(f"appcontainer purge {device} --free 100663296")
        check(not os.path.exists(cache), "what stood in the way of so much free space")
        run(line)


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


def purge_and_backup_are_of_one_app(device, app, home):
    written(f"{home}/Documents/left out")
    run(f"appcontainer exclude '{home}/Documents/left out'")
    cache = written(f"{home}/Library/Caches/content", b"x" * 50000)
    place = os.path.join(os.environ["WORK"], "of one app.tar")
    with Handled(device) as page:
        page.click(action("Purge…"))
        page.pick(element("dialog select"), "critical")
        page.pick(element("dialog .field-row .field:last-child select"), app)
        page.wait(f"{DIALOG}.textContent.includes('1 entry would go') && !{SUBMIT}.disabled")
        line = page.confirm(f"appcontainer purge {device} --app {app} --level critical")
        check(not os.path.exists(cache), "the cache of the app")

        page.click(action("Back up…"))
        page.write(element("dialog input[type=text]"), place)
        page.pick(element("dialog .field-row .field:last-child select"), app)
        page.click(element("dialog input[type=checkbox]"))
        line = page.confirm(f"appcontainer backup {device} '{place}' --app {app} --ignore-exclusions")
        page.outcome("are in")
        with tarfile.open(place) as archive:
            names = archive.getnames()
        check(any(name.endswith("left out") for name in names), "taken in all the same", names)


def finder_backup_has_its_password(device, app, home):
    written(f"{home}/Documents/kept", b"content")
    folder = os.environ["WORK"]
    by_page, by_line = os.path.join(folder, "by page"), os.path.join(folder, "by line")
    written(f"{folder}/password", b"of the backup\n")
    with Handled(device) as page:
        page.click(action("Back up…"))
        page.pick(element("dialog select"), "finder")
        page.write(element("dialog input[type=text]"), by_page)
        page.write(element("dialog input[type=password]"), "of the backup")
        page.click(SUBMIT)
        page.is_closed()
        page.outcome("are in")
        page.click(action("Back up…"))
        page.pick(element("dialog select"), "finder")
        page.write(element("dialog input[type=text]"), by_line)
        page.write(element("dialog input[type=password]"), "of the backup")
        line = page.command()
        check("of the backup" not in line, "a password in a line", line)
        page.click(button("Cancel", DIALOG))
        run(f"chmod 600 password && {line}", folder)
    for place in (by_page, by_line):
        with open(f"{place}/Manifest.plist", "rb") as manifest:
            check(plistlib.load(manifest)["IsEncrypted"] is True, "it is encrypted", place)
        # Its key takes seconds; in a plain run the password of one is enough.
        if place == by_line and os.environ.get("FULL") != "1":
            continue
        other, mount = f"{place}, restored", f"{place}, mounted"
        os.mkdir(mount)
        run(f"appcontainer create '{other}' && appcontainer install '{other}' '{os.environ['BASE']}/Notes.app' && "
            f"appcontainer restore '{other}' '{place}' --password-file password && "
            f"appcontainer mount '{other}' {app} '{mount}'", folder)
        check(read(f"{mount}/Documents/kept") == b"content", "its password opens it", place)
        run(f"appcontainer unmount '{mount}' && appcontainer shutdown '{other}'")


def backup_is_cancelled(device, app, home):
    with open(f"{home}/Documents/large", "wb") as file:
        for _ in range(256):
            file.write(os.urandom(1 << 20))
    place = os.path.join(os.environ["WORK"], "cancelled.tar")
    daemon = told("status", device)["daemon"]["pid"]
    with Handled(device) as page:
        page.click(action("Back up…"))
        page.write(element("dialog input[type=text]"), place)
        page.click(SUBMIT)
        page.wait("!document.querySelector('dialog progress').closest('[hidden]')")
        # It does not end between the look and the click.
        os.kill(daemon, signal.SIGSTOP)
        try:
            page.click(button("Cancel", DIALOG))
            page.is_closed()
        finally:
            os.kill(daemon, signal.SIGCONT)
        eventually(lambda: not [name for name in os.listdir(os.environ["WORK"]) if "cancelled" in name], "nothing is left")
        check(told("status", device)["state"] == "unlocked", "the device answers")


if __name__ == "__main__":
    try_named(globals())
