#!/usr/bin/python3
"""The page as a report: one file, in a browser.

    reported.py NAME[,NAME…] DEVICE APP HOME"""

import json
import os
import shlex

from accessible import Reader
from handled import Handled, try_named, written
from kit import check
from window import element, outcome_of, run

QUOTED = "Documents/<b>&\"quoted'"

# The words of the tile of a file, and its area in pixels.
TILE = """(path => {
    const { map } = page.map;
    const index = map.paths.indexOf(path);
    const { width, height } = page.map.box(index);
    return [tileWords(map, index), width * height];
})"""


def report_of(device, app):
    report = os.path.join(os.environ["WORK"], "report.html")
    run(f"appcontainer report {device} {app} {report}")
    return "file://" + report


def a_report_draws_itself(device, app, home):
    for number in range(50):
        written(f"{home}/Documents/tree/below/{number}", b"x" * 4000)
    written(home + "/" + QUOTED, b"x" * 200000)
    run(f"appcontainer protect complete {shlex.quote(home + '/' + QUOTED)}")
    written(f"{home}/Library/Caches/cached", b"x" * 100000)
    run(f"appcontainer exclude '{written(home + '/Documents/out', b'x' * 100000)}'")
    # A document that stays readable behind the lock is a finding.
    written(f"{home}/Documents/letter.txt")
    outcome_of(os.mkdir, home + "/top")
    with Handled(device) as page:
        address = report_of(device, app)
        page.open("about:blank")
        page.requests.clear()
        check(page.open(address) == [], "the report complains", page.complaints)
        page.wait("document.body.dataset.ready !== undefined && !!page.map.map")
        check(page.requests == [address], "it asks for nothing but itself", page.requests)
        expected = {QUOTED: ["class A", "in backups"], "Library/Caches/cached": ["may be purged", "class C"],
                    "Documents/out": ["left out of backups"]}
        tiles = {path: page.value(f"{TILE}({json.dumps(path)})") for path in expected}
        for path, words in expected.items():
            check(all(word in tiles[path][0] for word in words), words, "of", tiles[path])
        check("may be purged" not in tiles["Documents/out"][0], tiles["Documents/out"])
        # Areas are as sizes: the one is twice the other.
        ratio = tiles[QUOTED][1] / tiles["Documents/out"][1]
        check(1.6 < ratio < 2.5, "areas", tiles)
        text = page.value("document.body.innerText")
        for words in ("Unlocked", "Refused", "mkdir", "locked device gives away", "tree\t50\t"):
            check(words in text, words, "is not in", text)
        check(page.value("document.querySelectorAll('b').length") == 0, "a name has become an element")
        # There is nothing to press but the way through the map, which works.
        page.wait("[...document.querySelectorAll('button')].every(one => one.closest('#map-trail'))")
        for _ in range(2):
            page.value("byID('map').focus()")
            page.key("Enter")
        page.click(element("#legend .legend-entry"))
        check(page.complaints == [], "the report complains of a click", page.complaints)


def a_report_is_fit_for_every_reader(device, app, home):
    written(f"{home}/Documents/note", b"x" * 5000)
    written(f"{home}/Library/Caches/image", b"x" * 70000)
    outcome_of(os.mkdir, home + "/new")
    with Reader(device) as page:
        check(page.open(report_of(device, app)) == [], "the report complains", page.complaints)
        page.wait("document.body.dataset.ready !== undefined")
        page.inject()
        for width, dark in page.windows("report"):
            page.is_fit("report", width, dark)


if __name__ == "__main__":
    try_named(globals())
