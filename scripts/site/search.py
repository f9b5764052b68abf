"""The index of the search: the sections of every page with their text, as a script, which a page on a disk can load."""

import html.parser
import json

# Text in these is no part of a section's: the page's title is in its entry already.
SILENT = {"script", "style", "h1"}
# Words on either side of these do not belong together.
APART = {"p", "li", "dt", "dd", "td", "th", "tr", "pre", "div", "br", "h2", "h3", "h4"}


class Sections(html.parser.HTMLParser):
    """The sections of a page: (anchor, heading, text), the first one without an anchor."""

    def __init__(self, page):
        super().__init__()
        self.found, self.silent, self.in_heading = [["", page.title, []]], 0, False
        self.feed(page.body)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.silent += tag in SILENT
        self.apart(tag)
        if tag in ("h2", "h3") and attributes.get("id"):
            self.found.append([attributes["id"], "", []])
            self.in_heading = True

    def handle_endtag(self, tag):
        self.silent -= tag in SILENT
        self.apart(tag)
        if tag in ("h2", "h3"):
            self.in_heading = False

    def apart(self, tag):
        if tag in APART:
            self.found[-1][2].append(" ")

    def handle_data(self, text):
        if self.silent:
            return
        if self.in_heading:
            self.found[-1][1] += text
        else:
            self.found[-1][2].append(text)

    def all(self):
        for anchor, heading, texts in self.found:
            yield anchor, " ".join(heading.split()), " ".join("".join(texts).split())


def index(pages):
    """The script. An entry is the page's number, the anchor, the heading and the text."""
    listed = [[page.address, " › ".join([title for _, title in page.above] + [page.title])] for page in pages]
    entries = [
        [number, anchor, heading, text]
        for number, page in enumerate(pages)
        for anchor, heading, text in Sections(page).all()
        if text or heading
    ]
    data = json.dumps({"pages": listed, "sections": entries}, ensure_ascii=False, separators=(",", ":"))
    # The text of a page may have what would end a script.
    return "window.searchIndex = " + data.replace("</", "<\\/") + ";\n"
