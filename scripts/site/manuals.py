"""The manual pages as HTML, by mandoc, with links to each other."""

import pathlib
import re
import subprocess

from layout import Page, plain

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GROUP = "Reference"


def address(path):
    return f"man-{path.name}.html"


def linked(body, names):
    """mandoc marks what names a page, and does not know which of them are on the site."""

    def link(found):
        name = re.fullmatch(r"([\w.-]+)\((\d)\)", plain(found.group(1)))
        target = names.get(f"{name.group(1)}.{name.group(2)}") if name else None
        return (
            f'<a class="Xr" href="{target}">{found.group(1)}</a>'
            if target
            else f'<span class="Xr">{found.group(1)}</span>'
        )

    return re.sub(r'<a class="Xr"[^>]*>(.*?)</a>', link, body, flags=re.DOTALL)


def written():
    sources = sorted((ROOT / "man").glob("*.[1-9]"))
    names = {path.name: address(path) for path in sources}
    for path in sources:
        body = subprocess.run(
            ["mandoc", "-T", "html", "-O", "fragment", str(path)], check=True, text=True, stdout=subprocess.PIPE
        ).stdout
        # The page has a title of its own; head and foot say it again.
        body = re.sub(r'<table class="(head|foot)">.*?</table>', "", body, flags=re.DOTALL)
        body = re.sub(r"<(/?)h([12])\b", lambda found: f"<{found.group(1)}h{int(found.group(2)) + 1}", body)
        body = re.sub(r"<table\b(.*?)</table>", r'<div class="wide"><table\1</table></div>', body, flags=re.DOTALL)
        body = body.replace("<pre>", '<pre class="code" tabindex="0">')
        title = f"{path.stem}({path.suffix[1:]})"
        about = re.search(r'<span class="Nd">(.*?)</span>', body, re.DOTALL)
        yield Page(
            address=names[path.name],
            title=title,
            body=f"<h1>{title}</h1>\n<div class=\"manual\">{linked(body, names)}</div>",
            description=plain(about.group(1)) if about else "",
            group=GROUP,
        )
