"""Checks the finished site: every link leads to a file of it, and to an anchor that is there; nothing is loaded from
elsewhere; no anchor is there twice."""

import html.parser
import pathlib
import posixpath
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.twice, self.links, self.loaded = set(), set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        anchor = attributes.get("id")
        if anchor is not None:
            (self.twice if anchor in self.anchors else self.anchors).add(anchor)
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag == "form" and "action" in attributes:
            self.links.append(attributes["action"])
        for key in ("src", "href"):
            if key in attributes and tag not in ("a", "area"):
                self.loaded.append(attributes[key])


def problems(site, skipped=()):
    """Every break, as a line. `skipped` are folders whose pages somebody else makes; links to them are looked at."""
    site = pathlib.Path(site)
    files = {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
    pages = {
        name: Page((site / name).read_text())
        for name in sorted(files)
        if name.endswith(".html") and not name.startswith(tuple(skipped))
    }
    for name, page in pages.items():
        for anchor in sorted(page.twice):
            yield f"{name}: the anchor {anchor} is there twice"
        for target in page.loaded:
            if target != "data:," and broken(name, target, files, pages):
                yield f"{name}: loads {target}, which is not a file of the site"
        for target in page.links:
            reason = (
                "" if urllib.parse.urlsplit(target).scheme in ("http", "https") else broken(name, target, files, pages)
            )
            if reason:
                yield f"{name}: {target}: {reason}"


def broken(name, target, files, pages):
    """Why a link of the page leads to nothing; an empty text where it does not."""
    parts = urllib.parse.urlsplit(target)
    if parts.scheme or parts.netloc or target.startswith("/"):
        return "it leads out of the site"
    path = urllib.parse.unquote(parts.path)
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if path.endswith("/"):
        reached = posixpath.join(reached, "index.html")
    if reached not in files:
        return "there is no such file"
    if parts.fragment and reached in pages and urllib.parse.unquote(parts.fragment) not in pages[reached].anchors:
        return "the page has no such anchor"
    return ""
