#!/usr/bin/python3
"""Writes the site's files: scripts/docs makes the archives and calls this.

build.py OUTPUT [--archive FOLDER]… [--viewer FOLDER] [--source ADDRESS]"""

import argparse
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import api  # noqa: E402
import check  # noqa: E402
import manuals  # noqa: E402
import pages  # noqa: E402
import search  # noqa: E402
import viewer  # noqa: E402
from archive import FOLDER, LIBRARIES, Archive  # noqa: E402
from layout import Page, escape, framed  # noqa: E402

GROUPS = [pages.BEGIN, "Reference", LIBRARIES, pages.EXACTLY, pages.PROJECT]
VIEWER = "docc"


def first_page(groups, has_viewer):
    parts = []
    for name, listed in groups.items():
        items = "".join(
            f'<dt><a href="{escape(page.address)}">{escape(page.title)}</a></dt>'
            f"<dd>{escape(shortened(page.description))}</dd>"
            for page in listed
        )
        note = ""
        if name == LIBRARIES and has_viewer:
            note = (
                f'<p><a href="{VIEWER}/documentation/">In DocC\'s own viewer</a>, which needs JavaScript and a web '
                "server.</p>"
            )
        parts.append(f"<section><h2>{escape(name)}</h2><dl>{items}</dl>{note}</section>")
    lead = groups[pages.BEGIN][0].description
    body = f'<h1>appcontainer</h1><p class="lead">{escape(lead)}</p><div class="groups">{"".join(parts)}</div>'
    return Page(address="index.html", title="appcontainer", body=body, description=lead)


def shortened(text, most=140):
    """A text's first sentence, or its beginning."""
    sentence = text.split(". ")[0].rstrip(".:")
    return sentence if len(sentence) <= most else sentence[:most].rsplit(" ", 1)[0] + " …"


def search_page():
    body = (
        '<h1>Search</h1><form action="search.html"><input type="search" name="q" aria-label="Words" '
        'placeholder="Words"></form><noscript><p>The search needs JavaScript. The pages do not.</p></noscript>'
        '<p id="said" role="status"></p><ol id="results"></ol>'
    )
    return Page(address="search.html", title="Search", body=body, description="All pages by their words.", script=True)


def all_pages(options):
    places = pages.places()
    tutorials = FOLDER + "tutorials/appcontainer/" if options.archive else None
    yield from pages.written(pages.Links(places, tutorials, options.source))
    yield from manuals.written()
    yield api.written()
    # The articles of the catalog are pages already.
    elsewhere = {
        f"/documentation/appcontainer/{pathlib.Path(source).stem.lower()}": address
        for source, (address, _) in places.items()
        if source.startswith(pages.CATALOG)
    }
    for folder in options.archive:
        yield from Archive(folder, elsewhere).pages()


def write(options):
    site = pathlib.Path(options.output)
    listed = list(all_pages(options))
    groups = {name: [page for page in listed if page.group == name] for name in GROUPS}
    groups = {name: found for name, found in groups.items() if found}
    searched = list(listed)
    listed += [first_page(groups, options.viewer), search_page()]
    taken = set()
    for page in listed:
        if page.address in taken:
            raise ValueError(f"two pages have the address {page.address}")
        taken.add(page.address)
        path = site / page.address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(framed(page, groups))
    for name in ("style.css", "search.js"):
        shutil.copyfile(HERE / name, site / name)
    (site / "search-index.js").write_text(search.index(searched))
    shutil.copyfile(api.SOURCE, site / api.SOURCE.name)
    copy_archives(options, site)
    return len(listed)


def copy_archives(options, site):
    for folder in options.archive:
        for image in (pathlib.Path(folder) / "images").rglob("*.*"):
            place = site / FOLDER / "images" / image.name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(image, place)
    if options.viewer:
        shutil.copytree(options.viewer, site / VIEWER)
        viewer.move(site / VIEWER)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--archive", action="append", default=[])
    parser.add_argument("--viewer")
    parser.add_argument("--source")
    options = parser.parse_args()
    count = write(options)
    found = list(check.problems(options.output, skipped=[VIEWER + "/"]))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{count} pages, {len(found)} broken links")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
