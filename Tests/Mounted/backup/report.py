#!/usr/bin/python3
"""report.py FILE: what a browser made of a report of the case's device."""

import html.parser
import re
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import kit


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tiles, self.ready, self.facts, self.cells = [], False, [], []
        self.inside = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.inside = tag
        if tag == "body":
            self.ready = attributes.get("data-ready") == "true"
        classes = (attributes.get("class") or "").split()
        if "tile" in classes and "title" in attributes:
            style = dict(re.findall(r"(\w+): ([0-9.]+)px", attributes["style"]))
            self.tiles.append((classes, attributes["title"], float(style["width"]) * float(style["height"])))
        kit.check(tag != "b", "a name has become an element")

    def handle_data(self, text):
        if self.inside in ("dt", "dd"):
            self.facts.append(text)
        if self.inside == "td":
            self.cells.append(text)


page = Page()
page.feed(open(sys.argv[1]).read())
kit.check(page.ready, "the script did not run to its end")
tiles = {title.split(",")[0]: (classes, title, area) for classes, title, area in page.tiles}
quoted = tiles["<b>&\"quoted'"]
kit.check("A" in quoted[0] and "class A" in quoted[1] and "backed up" in quoted[1], quoted)
cached = tiles["cached"]
kit.check({"excluded", "purgeable", "C"} <= set(cached[0]) and "may be purged" in cached[1], cached)
out = tiles["out"]
kit.check("excluded" in out[0] and "purgeable" not in out[0], out)
kit.check("directory" in tiles["Documents"][0], tiles["Documents"])
# Areas are as sizes: the one is twice the other.
kit.check(1.6 < quoted[2] / out[2] < 2.5, quoted[2], out[2])
kit.check("unlocked" in page.facts, page.facts)
kit.check("refused" in page.cells and any("mkdir" in cell for cell in page.cells), page.cells)
kit.check(any("locked device gives away" in cell for cell in page.cells), page.cells)
kit.check("Documents/tree" in page.cells, page.cells)
