"""The rules read this: the targets of Package.swift, and each file's lines, with and without strings and comments."""

import functools
import re


class Target:
    """One target: `floor` is None for tests and C, `uses` has the line of each name in its list."""

    def __init__(self, name, folder, kind, floor, uses):
        self.name, self.folder, self.kind, self.floor, self.uses = name, folder, kind, floor, uses


class Source:
    """One text file below the root."""

    def __init__(self, root, path):
        self.path = path
        self.name = str(path.relative_to(root))
        self.text = path.read_text(errors="replace")
        self.lines = self.text.splitlines()

    @functools.cached_property
    def code(self):
        """A Swift file's text with blanks for strings and comments; lines and columns are those of the text."""
        return split(self.text)[0]

    @functools.cached_property
    def code_lines(self):
        return self.code.split("\n")

    def line_pairs(self, spans):
        """The first and the last line of each (start, end) in the text or in the code, which has the text's lines."""
        for span in spans:
            yield tuple(self.text.count("\n", 0, at) + 1 for at in span)

    def strings(self):
        """(line number, text) of each string literal of a Swift file; lines that end with a backslash are joined."""
        at = 0
        while found := NOT_CODE.search(self.text, at):
            at = string_end(self.text, found.end(), found[1], found[2]) if found[2] else found.end()
            if found[2]:
                text = self.text[found.end():at].removesuffix(found[2] + found[1])
                yield self.text.count("\n", 0, found.start()) + 1, re.sub(r"\\\n\s*", "", text)

    def comments(self):
        """(line number, text) of each line of a comment, of a docstring in Python too."""
        if self.path.suffix in (".swift", ".c", ".h"):
            for number, line in enumerate(split(self.text)[1].split("\n"), 1):
                if line.strip():
                    yield number, line
            return
        in_text = False
        for number, line in enumerate(self.lines, 1):
            quotes = line.count('"""') if self.path.suffix == ".py" else 0
            if in_text or quotes:
                yield number, line
                in_text ^= quotes % 2 == 1
            elif found := re.match(r"\s*#(?!!)(.*)", line):
                yield number, found[1]


class Tree:
    """The checkout at `root`. A tutorial's sources are those of its reader, and Tests/Samples is another package."""

    def __init__(self, root):
        self.root = root
        self.manifest = Source(root, root / "Package.swift")
        self.targets = targets(self.manifest)

    def files(self, folder, *suffixes):
        for path in sorted((self.root / folder).rglob("*")):
            if path.is_file() and path.suffix in suffixes and not hidden(path.relative_to(self.root)):
                yield source(self.root, path)

    def swift(self, *folders):
        for folder in folders or ("Sources", "Tests"):
            yield from self.files(folder, ".swift")

    def python(self):
        """By the suffix, or by the first line of a program without one."""
        for file in self.scripts(".py", ""):
            if file.path.suffix or file.text.startswith("#!/usr/bin/python3\n"):
                yield file

    def shell(self):
        return self.scripts(".sh")

    def scripts(self, *suffixes):
        for folder in ("Tests", "scripts", "Sources/Client/pytest-appcontainer"):
            yield from self.files(folder, *suffixes)

    def target_of(self, file):
        """The target whose folder the file is in."""
        for target in self.targets.values():
            if file.name.startswith(target.folder + "/"):
                return target
        return None


@functools.lru_cache(maxsize=None)
def source(root, path):
    return Source(root, path)


def hidden(path):
    return any(part.startswith(".") or part.endswith(".docc") or part == "__pycache__" for part in path.parts)


BRACKET_OR_STRING = re.compile(r'[(\[{}\])]|(#*)("""|")')
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|(#*)("""|")', re.DOTALL)


def split(text):
    """Swift's or C's text in two of the same shape: code without strings and comments, and comments alone."""
    code, comments, at = [], [], 0
    while found := NOT_CODE.search(text, at):
        end = string_end(text, found.end(), found[1], found[2]) if found[2] else found.end()
        code += [text[at:found.start()], blank(text[found.start():end])]
        comments += [blank(text[at:found.start()]), blank(text[found.start():end]) if found[2] else found[0]]
        at = end
    return "".join([*code, text[at:]]), "".join([*comments, blank(text[at:])])


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def string_end(text, at, hashes, quotes):
    """The place behind a string's last quote. An interpolation in it is a part of it, with the strings that it has."""
    stop = re.compile(re.escape(quotes + hashes) + r"|\\" + hashes + ("" if quotes == '"""' else r"|\n"))
    while found := stop.search(text, at):
        if found[0] == "\n":
            return found.start()
        if not found[0].startswith("\\"):
            return found.end()
        at = closing(text, found.end()) if text.startswith("(", found.end()) else found.end() + 1
    return len(text)


def closing(text, at):
    """The place behind the bracket that closes the one at `at`, in text with strings."""
    depth = 0
    for found in iter(lambda: BRACKET_OR_STRING.search(text, at), None):
        if found[2]:
            at = string_end(text, found.end(), found[1], found[2])
            continue
        at = found.end()
        depth += 1 if found[0] in "([{" else -1
        if depth == 0:
            return at
    return len(text)


def targets(manifest):
    """Name → Target, of the package on Linux: another for other systems is behind `#if`."""
    text, found, floor = manifest.text, {}, None
    text = text[:text.find("\n#if")] if "\n#if" in text else text
    start = text.find("let package")
    pattern = re.compile(r"// Floor (\d+)|(\.systemLibrary|\.target|\.executableTarget|\bmodule|\btests)\(")
    while match := pattern.search(text, start):
        start = match.end()
        if match[1]:
            floor = int(match[1])
            continue
        end = closing(text, match.end() - 1)
        call = text[match.end():end]
        kind = match[2].strip(".")
        name = re.search(r'(?:name: )?"([\w-]+)"', call)[1]
        folder = re.search(r'path: "([^"]+)"', call)
        if folder is None:
            layer = re.search(r'in: "([^"]+)"', call)[1]
            folder = f"{'Tests' if kind == 'tests' else 'Sources'}/{layer}/{name}"
        else:
            folder = folder[1]
        has_floor = kind in ("module", "executableTarget")
        found[name] = Target(name, folder, kind, floor if has_floor else None, uses(text, match.end(), end))
        start = end
    return found


def uses(text, start, end):
    """Name → line of each module or library in the call's list of dependencies."""
    match = re.compile(r"(?:uses|of|dependencies): \[").search(text, start, end)
    if match is None:
        return {}
    stop = closing(text, match.end() - 1)
    found = {}
    for name in re.compile(r'(?<!of: )"([\w-]+)"').finditer(text, match.end(), stop):
        found[name[1]] = text.count("\n", 0, name.start()) + 1
    return found
