"""Rules of comments: a file's first line, the names of other files and of symbols, and a sentence's first word."""

import re

# Files by their name, with or without folders before it. A page begins with a capital letter, or has its folder.
FILE = re.compile(
    r"(?<![\w$*/.…-])((?:[\w.+-]+/)*[\w+-]+\.(?:swift|sh|py|c)|(?:(?:[\w.+-]+/)+[\w+-]|[A-Z])[\w+-]*\.md)"
    r"(?![\w/.(*-]*\w)")

# Sources of Linux and of CoreFoundation.
ELSEWHERE = re.compile(r"fs/.*\.c|CF\w+\.c")

# A link to a symbol, as DocC writes it.
SYMBOL = re.compile(r"``([\w/]+)[^`]*``")
TYPE = re.compile(r"\b(?:struct|class|enum|actor|protocol|typealias|associatedtype|extension)\s+(?:\w+\.)*(\w+)")
MEMBER = re.compile(r"\b(?:func|var|let)\s+`?(\w+)|\bcase\s+([\w, ]+)")

# A clause in the place of a noun: at the start of a comment, a text, a sentence, a section or a value's description.
CLAUSE = re.compile(r'(?:^\s*(?:///?|"{3}|:)?\s*|[.:;!?] |MARK: )(What|Whatever|Whoever|Who|Which) ', re.MULTILINE)


def every_file_says_what_it_is_for(tree):
    for file in tree.swift("Sources"):
        if not file.lines or not file.lines[0].startswith("//"):
            yield f"{file.name}:1: a file opens with a line on its responsibility"


def commented(tree):
    """The files whose comments are looked at: Swift, C, Python, and shell with or without its suffix."""
    yield tree.manifest
    for folder in ("Sources", "Tests", "scripts"):
        for file in tree.files(folder, ".swift", ".c", ".h", ".sh", ".py", ""):
            if file.path.suffix or file.text.startswith("#!"):
                yield file


def every_file_named_is_there(tree):
    """Not headers: their names are mostly those of other projects."""
    paths = {"/" + str(path.relative_to(tree.root)) for top in tree.root.iterdir() if not top.name.startswith(".")
             for path in (top, *top.rglob("*.*")) if path.suffix in (".swift", ".sh", ".py", ".c", ".md")}
    for file in commented(tree):
        for number, comment in file.comments():
            for name in FILE.findall(comment):
                if not ELSEWHERE.fullmatch(name) and not any(path.endswith("/" + name) for path in paths):
                    yield f"{file.name}:{number}: there is no file {name}"


def every_symbol_named_is_there(tree):
    """A member has to be in a file that declares or extends its type; a module before it narrows the files down."""
    known = []
    for file in tree.swift("Sources"):
        names = {"init", *TYPE.findall(file.code)}
        for one, cases in MEMBER.findall(file.code):
            names |= {one, *cases.replace(",", " ").split()}
        known.append((file, names))
    for file in tree.swift("Sources"):
        for number, comment in file.comments():
            for link in SYMBOL.findall(comment):
                *types, name = link.split("/")
                module = tree.targets.get(types[0]) if types else None
                types = types[1:] if module else types
                if not any(name in names and names.issuperset(types[-1:])
                           for other, names in known
                           if module is None or other.name.startswith(module.folder + "/")):
                    yield f"{file.name}:{number}: there is no {link}"


def every_sentence_begins_with_its_subject(tree):
    """In comments, and in the strings of the programs and libraries, such as the help of a command."""
    sentences = [(file, place) for file in commented(tree) for place in file.comments()]
    sentences += [(file, place) for file in tree.swift("Sources/Client") for place in file.strings()]
    for file, (number, text) in sentences:
        if found := CLAUSE.search(text):
            yield f"{file.name}:{number}: the sentence begins with {found[1]}; name the thing instead"
