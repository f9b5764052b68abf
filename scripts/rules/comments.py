"""Rules of comments: a file's first line, and the names of other files."""

import re

# Files by their name, with or without folders before it.
FILE = re.compile(r"(?<![\w$*/.…-])((?:[\w.+-]+/)*[\w+-]+\.(?:swift|sh|py))(?![\w/.(*-]*\w)")


def every_file_says_what_it_is_for(tree):
    for file in tree.swift("Sources"):
        if not file.lines or not file.lines[0].startswith("//"):
            yield f"{file.name}:1: a file opens with a line on its responsibility"


def every_file_named_is_there(tree):
    """Of Swift, shell and Python: a name in C is mostly that of another project's header."""
    paths = {"/" + str(path.relative_to(tree.root)) for path in tree.root.rglob("*.*")
             if path.suffix in (".swift", ".sh", ".py")}
    for folder in ("Sources", "Tests", "scripts"):
        for file in tree.files(folder, ".swift", ".c", ".h", ".sh", ".py", ""):
            if file.path.suffix == "" and not file.text.startswith("#!"):
                continue
            for number, comment in file.comments():
                for name in FILE.findall(comment):
                    if not any(path.endswith("/" + name) for path in paths):
                        yield f"{file.name}:{number}: there is no file {name}"
