#!/usr/bin/python3
"""The tabs of a browser that are let in to a device's page, and those that are not.

    admitted.py NAME DEVICE APP HOME"""

from handled import Handled, try_named
from kit import check

READY = "page.isComplete === true && page.status !== null && page.apps.length > 0"


def a_reload_is_let_in(device, app, home):
    with Handled(device) as page:
        page.reload()
        page.wait("typeof page === 'object' && " + READY)
        check(page.value("page.device") == device, "the facts are there again")
        # The worker too has the right: it lists.
        page.wait("page.files.ask('sums').then(sums => sums !== null)")


def a_tab_without_a_link_says_so(device, app, home):
    with Handled(device) as page:
        first = page.session
        page.session = None
        target = page.call("Target.createTarget", url="about:blank")["targetId"]
        page.session = page.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        check(page.open(page.served.origin + "/") == [], "complaints of the page", page.complaints)
        page.wait("document.body?.textContent.includes('Open a link that the command has printed')")
        check(page.value("document.body.children.length") == 1, "one sentence")
        check(page.value("!document.documentElement.outerHTML.includes(%r)" % device), "it tells the device")
        page.session = first
        page.wait(READY)


if __name__ == "__main__":
    try_named(globals())
