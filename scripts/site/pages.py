"""The pages that are written in Markdown: where each comes from, its address, its group, and where its links lead."""

import pathlib
import posixpath
import re

from layout import Page, relative
from prose import rendered, title_and_lead

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CATALOG = "Sources/Client/AppContainer/Documentation.docc"

BEGIN, EXACTLY, PROJECT = "To use it", "To know it exactly", "To work on it"
# The order on the site. A page under docs that is not named follows those of the first group.
PLACES = {
    "README.md": ("introduction.html", BEGIN),
    "docs/Tour.md": ("tour.html", BEGIN),
    "docs/Testing.md": ("testing.html", BEGIN),
    "docs/MacOS.md": ("macos.html", BEGIN),
    "docs/FoundationOnLinux.md": ("foundation-on-linux.html", BEGIN),
    "Sources/Client/pytest-appcontainer/README.md": ("pytest.html", BEGIN),
    "docs/Limits.md": ("limits.html", BEGIN),
    "docs/Performance.md": ("performance.html", BEGIN),
    f"{CATALOG}/Semantics.md": ("semantics.html", EXACTLY),
    f"{CATALOG}/Format.md": ("format.html", EXACTLY),
    f"{CATALOG}/ThreatModel.md": ("threat-model.html", EXACTLY),
    f"{CATALOG}/Kernel.md": ("kernel.html", EXACTLY),
    "CONTRIBUTING.md": ("contributing.html", PROJECT),
    f"{CATALOG}/Architecture.md": ("architecture.html", PROJECT),
    f"{CATALOG}/Design.md": ("design.html", PROJECT),
    "docs/Glossary.md": ("glossary.html", PROJECT),
    "CHANGELOG.md": ("changelog.html", PROJECT),
}
TITLES = {"README.md": "Introduction"}
# Links to these stay within the site too.
OTHERS = {"docs/openapi.yaml": "api.html"}


def places():
    """(address, group) by the source, of every page that there is."""
    found = {source: place for source, place in PLACES.items() if (ROOT / source).exists()}
    for path in sorted((ROOT / "docs").glob("*.md")):
        found.setdefault(f"docs/{path.name}", (f"{path.stem.lower()}.html", BEGIN))
    return found


class Links:
    """Where links of the sources lead. `source_address` is where others can read the project's files, such as
    https://github.com/OWNER/appcontainer/blob/main; without it a link to a file is none."""

    def __init__(self, places, tutorials, source_address=None):
        self.places, self.tutorials, self.source_address = places, tutorials, source_address
        self.articles = {
            pathlib.Path(source).stem: address for source, (address, _) in places.items() if source.startswith(CATALOG)
        }

    def follow(self, source, target):
        """The link of a page to `target`; None where it leads to nothing that a reader of the site has."""
        address = self.places[source][0]
        if re.match(r"[a-z]+:", target):
            article = self.articles.get(target.removeprefix("doc:"))
            return relative(article, address) if target.startswith("doc:") and article else target
        path, mark, anchor = target.partition("#")
        if not path:
            # DocC keeps the capitals of a heading in its anchor.
            return mark + (anchor.lower() if source.startswith(CATALOG) else anchor)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if path in self.places:
            return relative(self.places[path][0], address) + mark + anchor
        if path in OTHERS:
            return relative(OTHERS[path], address) + mark + anchor
        if path.endswith(".tutorial") and self.tutorials:
            return relative(self.tutorials + pathlib.Path(path).stem.lower() + ".html", address)
        return f"{self.source_address.rstrip('/')}/{path}" if self.source_address else None


def written(links):
    """The pages."""
    for source, (address, group) in links.places.items():
        text = (ROOT / source).read_text()
        body = rendered(text, lambda target, source=source: links.follow(source, target))
        title, lead = title_and_lead(body)
        yield Page(address=address, title=TITLES.get(source, title), description=lead, body=body, group=group)
