"""Archives of DocC as pages that need neither a script nor a server: symbols, their declarations, and tutorials."""

import json
import pathlib
import re

from content import Content
from layout import Page, escape
from tutorials import tutorial

LIBRARIES = "Swift and C libraries"
FOLDER = "reference/"


class Archive:
    """One archive. `elsewhere` has the addresses of pages that are on the site already, by their paths in it."""

    def __init__(self, folder, elsewhere):
        self.data, self.elsewhere = pathlib.Path(folder) / "data", elsewhere
        self.images = pathlib.Path(folder) / "images"

    def address(self, url):
        """Where the page of a path in the archive lies: /documentation/appcontainer/device."""
        path, mark, anchor = url.partition("#")
        if path in self.elsewhere:
            return self.elsewhere[path] + mark + anchor
        return FOLDER + safe(path.removeprefix("/").removeprefix("documentation/")) + ".html" + mark + anchor

    def nodes(self):
        for path in sorted(self.data.rglob("*.json")):
            url = "/" + str(path.relative_to(self.data))[: -len(".json")]
            if url not in self.elsewhere:
                yield url, json.loads(path.read_text())

    def pages(self):
        for url, node in self.nodes():
            content = Content(self, node, self.address(url))
            yield tutorial(content, node) if url.startswith("/tutorials/") else symbol(content, node)


def safe(path):
    """Names of files without signs that an address has to escape, so that a link is its file's name."""
    path = re.sub(r"\(([^()]*)\)", lambda found: "-" + found.group(1).strip(":").replace(":", "-").strip("-"), path)
    return re.sub(r"[^\w/.-]", lambda found: f"x{ord(found.group()):x}", path).replace("/-", "/").rstrip("-")


def symbol(content, node):
    metadata = node["metadata"]
    title = metadata["title"]
    parts = [f'<p class="role">{escape(metadata.get("roleHeading", ""))}</p>', f"<h1>{breakable(title)}</h1>"]
    abstract = content.inline(node.get("abstract", []))
    if abstract:
        parts.append(f'<p class="lead">{abstract}</p>')
    # DocC's own order: the declaration, parameters, the text.
    for section in node.get("primaryContentSections", []):
        parts.append(primary(content, section))
    for section in node.get("topicSections", []):
        parts.append(listed(content, section))
    for section in node.get("defaultImplementationsSections", []):
        parts.append(listed(content, section))
    for section in node.get("relationshipsSections", []):
        names = ", ".join(content.link(one, code=True) for one in section["identifiers"])
        parts.append(f"<p><b>{escape(section['title'])}</b>: {names}</p>")
    see = [section for section in node.get("seeAlsoSections", []) if not section.get("generated")]
    if see:
        parts.append("<h2>See also</h2>" + "".join(listed(content, section, 3) for section in see))
    is_module = metadata.get("symbolKind") == "module"
    return Page(
        address=content.address,
        title=title,
        body="".join(parts),
        description=content.text(node.get("abstract", [])),
        group=LIBRARIES if is_module else "",
        above=content.above(node),
    )


def breakable(title):
    """A long name may break behind a colon or a parenthesis."""
    return re.sub(r"([:(.])(?=\w)", r"\1<wbr>", escape(title))


def primary(content, section):
    kind = section["kind"]
    if kind == "declarations":
        return "".join(declaration(content, one) for one in section["declarations"])
    if kind == "parameters":
        rows = "".join(
            f"<dt><code>{escape(one['name'])}</code></dt><dd>{content.blocks(one['content'])}</dd>"
            for one in section["parameters"]
        )
        return f'<h2 id="parameters">Parameters</h2><dl>{rows}</dl>'
    if kind == "content":
        return content.blocks(section["content"])
    if kind == "mentions":
        links = "".join(f"<li>{content.link(one)}</li>" for one in section["mentions"])
        return f'<h2 id="mentioned-in">Mentioned in</h2><ul>{links}</ul>'
    raise ValueError(f"{content.address}: a section of the kind {kind}")


def declaration(content, one):
    pieces = []
    for token in one["tokens"]:
        text = escape(token["text"])
        target = content.target(token["identifier"]) if token.get("identifier") else None
        pieces.append(
            f'<a href="{escape(target)}">{text}</a>' if target else f'<span class="{token["kind"]}">{text}</span>'
        )
    # Attributes have lines of their own.
    text = re.sub(
        r'(<span class="attribute">@discardableResult</span>)<span class="text"> </span>', r"\1\n", "".join(pieces)
    )
    return f'<pre class="code declaration" tabindex="0"><code>{text}</code></pre>'


def listed(content, section, level=2):
    """Links to symbols or articles, each with the first words of its text."""
    items = "".join(
        f"<dt>{content.link(one, code=True)}</dt><dd>{content.abstract(one)}</dd>" for one in section["identifiers"]
    )
    title, anchor = escape(section["title"]), escape(section.get("anchor") or section["title"].replace(" ", "-"))
    return f'<h{level} id="{anchor}">{title}</h{level}><dl class="topics">{items}</dl>'
