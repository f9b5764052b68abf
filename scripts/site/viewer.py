"""DocC's own viewer of the combined archive: has it find its files wherever the site lies."""

import pathlib
import re


def move(folder):
    """Turns the paths of the pages, which begin at the root of a server, into relative ones."""
    folder = pathlib.Path(folder)
    for path in folder.rglob("index.html"):
        # As an address, with the page's folder as the last part.
        up = "../" * (len(path.relative_to(folder).parts) - 1) or "./"
        text = path.read_text()
        text = text.replace('var baseUrl = "/"', f'var baseUrl = new URL("{up}", location.href).pathname')
        text = re.sub(r'(src|href)="/(?!/)', rf'\1="{up}', text)
        path.write_text(text)
    # It asks for a theme, and complains of a server that has none.
    (folder / "theme-settings.json").write_text("{}\n")
