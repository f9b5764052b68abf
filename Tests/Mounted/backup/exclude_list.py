#!/usr/bin/python3
"""Homes with names that mean something to backup tools, and what of them a tool has taken.

    exclude_list.py make HOME GROUP      files and directories, some of them excluded, beside others of almost their names
    exclude_list.py drop HOME newline|bytes      removes the excluded names that have a line end, or are not UTF-8
    exclude_list.py listed HOME LIST     compares a list of paths from the home that end with NUL with what is excluded
    exclude_list.py same BACKUP HOME TAKEN       compares a backup of the device with a tree that a tool has taken

HOME in TAKEN is where the tool has put the home. A failure names the paths that differ."""

import os
import sys
import tarfile

MARK = b"user.com.apple.metadata:com_apple_backup_excludeItem"
METADATA = b".com.apple.mobile_container_manager.metadata.plist"

NAMES = [
    b"plain", b" lead", b"trail ", b"two  spaces", b"tab\t", b"\ttab", b" ", b"feed\f", b"tall\v", b"new\nline",
    b"\nfirst", b"last\n", b"\n", b"cr\r", b"mid\rdle", b"\r\n", b"star*", b"a*b", b"*", b"**", b"***", b"quest?", b"?",
    b"[ab]", b"[", b"]", b"[!a]", b"[^a]", b"[[:alpha:]]", b"open[", b"back\\slash", b"back\\*star", b"\\", b"end\\",
    b"\\\\", b"new\\n", b"#hash", b"-dash", b"+plus", b"+ plus", b"- minus", b"!bang", b"! bang", b";semi", b"'quoted'",
    b'"doubled"', b'"', b"$HOME", b"${HOME}", b"$$", b"$", b"~", b"%41", b"{a,b}", b"(x|y)", b"+(x)", b"^x$", b"dot.",
    b"\x01control", b"\x7f", b"ignorecase:x", b".. ", b"...", "\u00fcmlaut".encode(), "e\u0301".encode(),
    "no\u00a0".encode(), "\u3000".encode(), "line\u2028".encode(), "next\u0085".encode(), b"*" * 255, b"\xff\xfe",
    b"\xff*", b"\xffnew\nline", b"end\xff ",
]


def near(name):
    """Names that a pattern of the name would match, were it read in another way."""
    found = set()
    for old, new in ((b"*", b"X"), (b"*", b""), (b"?", b"X"), (b"\\", b""), (b"\n", b" "), (b"\n", b"X"), (b"\r", b"X"),
                     (b"\n", b"\t"), (b" ", b""), (b"$HOME", os.environ["HOME"].encode().replace(b"/", b"")),
                     (b"$$", b"$"), (b"\\n", b"\n"), (b"$", b""), (b"'", b""), (b'"', b""), (b"\xff", b"\xfe")):
        found.add(name.replace(old, new))
    found |= {name + b"x", b"x" + name, name.strip(), name[:-1], name[1:], name.lower(), name.upper(), b"a", b"b", b"x"}
    return {other for other in found if 0 < len(other) < 256 and other not in (b".", b"..")} - set(NAMES)


def write(path):
    with open(path, "wb") as file:
        file.write(b"x")


def exclude(path):
    os.setxattr(path, MARK, b"x")


def make(home, group):
    documents = os.path.join(home, b"Documents")
    # Excluded files, directories with something in them, and in each place what is to be kept.
    for place in (b"files", b"trees", b"kept", b"files/Documents/files"):
        os.makedirs(os.path.join(documents, place), exist_ok=True)
    for name in NAMES:
        write(os.path.join(documents, b"files", name))
        exclude(os.path.join(documents, b"files", name))
        os.makedirs(os.path.join(documents, b"trees", name, b"inner"))
        write(os.path.join(documents, b"trees", name, b"inner", b"file"))
        exclude(os.path.join(documents, b"trees", name))
        for place in (b"kept", b"files/Documents/files"):
            write(os.path.join(documents, place, name))
    for other in set().union(*map(near, NAMES)):
        for place in (b"files", b"trees"):
            write(os.path.join(documents, place, other))
    for path in (b"tmp/file", b"Library/Caches/file", b"Library/file", b"Library/left"):
        write(os.path.join(home, path))
    exclude(os.path.join(home, b"Library/left"))
    group = os.path.join(home, b"Groups", group)
    for name in (b"kept", b"left*", b"Library/Caches/file"):
        write(os.path.join(group, name))
    exclude(os.path.join(group, b"left*"))


def is_text(name):
    try:
        name.decode()
        return True
    except UnicodeDecodeError:
        return False


def drop(home, kind):
    for name in NAMES:
        lies = os.path.lexists(os.path.join(home, b"Documents/files", name))
        if lies and ((b"\n" in name) if kind == "newline" else not is_text(name)):
            os.remove(os.path.join(home, b"Documents/files", name))
            os.remove(os.path.join(home, b"Documents/trees", name, b"inner/file"))
            os.removedirs(os.path.join(home, b"Documents/trees", name, b"inner"))


def walk(root):
    for folder, directories, files in os.walk(root):
        for name in directories + files:
            yield os.path.relpath(os.path.join(folder, name), root)


def compare(found, wanted, what):
    more, less = sorted(found - wanted), sorted(wanted - found)
    if more or less:
        sys.exit(f"{what}: {len(more)} too many {more[:8]}, {len(less)} missing {less[:8]}")


def listed(home, path):
    with open(path, "rb") as file:
        content = file.read()
    assert content.endswith(b"\0"), content[-20:]
    lines = content[:-1].split(b"\0")
    assert len(lines) == len(set(lines)), "a path is there twice"
    # `excluded` is what bears the mark, or is in no backup by its place.
    marked = {path for path in walk(home) if not os.path.islink(os.path.join(home, path)) and os.getxattr(
        os.path.join(home, path), "user.appcontainer.backup") == b"excluded"}
    compare(set(lines), marked, "the list")


def same(backup, home, taken):
    wanted = set()
    with tarfile.open(backup, encoding="utf-8", errors="surrogateescape") as archive:
        for member in archive:
            domain, _, path = os.fsencode(member.name).partition(b"/")
            kind, _, identifier = domain.partition(b"-")
            if kind in (b"AppDomain", b"AppDomainGroup"):
                place = b"Groups/" + identifier if kind == b"AppDomainGroup" else b""
                wanted.add(os.path.normpath(os.path.join(place, path)))
    # The home itself and the directory of its groups belong to no container.
    found = {path for path in walk(taken) if path != b"Groups"}
    compare(found, wanted - {b"."}, "what the tool took")
    assert len(found) > 100 and METADATA not in found and os.path.exists(os.path.join(home, METADATA))


command, *arguments = [os.fsencode(argument) for argument in sys.argv[1:]]
if command == b"drop":
    drop(arguments[0], arguments[1].decode())
else:
    {b"make": make, b"listed": listed, b"same": same}[command](*arguments)
