"""The frame of every page: its head, the search field, the way to all other pages, and that within the page."""

import dataclasses
import html
import posixpath
import re

NAME = "appcontainer"


@dataclasses.dataclass
class Page:
    """One page of the site. `body` is HTML; `address` is where it lies, from the site's root on."""

    address: str
    title: str
    body: str
    description: str = ""
    group: str = ""
    # Of a page below another one, such as a method below its type: the addresses and titles above it.
    above: list = dataclasses.field(default_factory=list)
    script: bool = False


def escape(text):
    return html.escape(text, quote=True)


def relative(address, from_address):
    """A link that holds wherever the site lies."""
    path, mark, anchor = address.partition("#")
    if not path:
        return address
    folder = posixpath.dirname(from_address) or "."
    return posixpath.relpath(path, folder) + mark + anchor


def plain(markup):
    """The text of some HTML."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", markup))).strip()


def headings(body):
    """(level, anchor, text) of the headings of a page, without its first."""
    pattern = re.compile(r'<h([23])[^>]*? id="([^"]*)"[^>]*>(.*?)</h\1>', re.DOTALL)
    return [(int(level), anchor, plain(text)) for level, anchor, text in pattern.findall(body)]


def contents_of(page):
    found = headings(page.body)
    if len(found) < 2:
        return ""
    # Of a very long page the sections alone, else the list is one to be lost in.
    deepest = 3 if len(found) <= 60 else 2
    items = "".join(
        f'<li class="level{level}"><a href="#{escape(anchor)}">{escape(text)}</a></li>'
        for level, anchor, text in found
        if level <= deepest
    )
    return f'<section class="within"><h2>On this page</h2><ul>{items}</ul></section>'


def navigation(page, groups):
    parts = []
    for name, pages in groups.items():
        items = ""
        for other in pages:
            here = ' aria-current="page"' if other.address == page.address else ""
            items += (
                f'<li><a href="{escape(relative(other.address, page.address))}"{here}>{escape(other.title)}</a></li>'
            )
        parts.append(f"<section><h2>{escape(name)}</h2><ul>{items}</ul></section>")
    return "".join(parts)


def above(page):
    if not page.above:
        return ""
    links = " › ".join(
        f'<a href="{escape(relative(address, page.address))}">{escape(title)}</a>' for address, title in page.above
    )
    return f'<p class="above">{links}</p>'


def framed(page, groups):
    """The whole page. `groups` are the pages that every page leads to, by the name of their group."""
    root = relative("index.html", page.address)[: -len("index.html")]
    scripts = ""
    if page.script:
        scripts = f'<script src="{root}search-index.js" defer></script><script src="{root}search.js" defer></script>'
    title = NAME if page.address == "index.html" else f"{page.title} · {NAME}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{escape(page.description)}">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}style.css">
{scripts}</head>
<body>
<a class="skip" href="#the-text">To the text</a>
<header>
<a class="home" href="{root}index.html">{NAME}</a>
<a class="more" href="#the-contents">Contents</a>
<form action="{root}search.html" role="search">
<input type="search" name="q" placeholder="Search" aria-label="Search">
</form>
</header>
<div class="frame">
<main id="the-text">
{above(page)}{page.body}
</main>
<nav id="the-contents" aria-label="Contents">
{contents_of(page)}
<div class="all">{navigation(page, groups)}</div>
</nav>
</div>
</body>
</html>
"""
