"""Breaks each rule in a small tree, one at a time: a rule that finds nothing in it would find nothing anywhere."""

import pathlib
import tempfile

from sources import Tree

MANIFEST = """\
let package = Package(
    name: "sample",
    targets: [
        .systemLibrary(name: "CLibrary", path: "Sources/System/CLibrary"),

        // Floor 0: the vocabulary.
        module("Model", in: "Model"),

        // Floor 1: files.
        module("Store", in: "System", uses: ["CLibrary", "Model", library("Log", of: "log")]),

        // Floor 6: the program.
        .executableTarget(
            name: "Program",
            dependencies: [
                "Store",
            ],
            path: "Sources/Client/Program"),
        tests("StoreTests", in: "System", of: ["Program", "Store"], resources: [.copy("Fixtures")]),
        module("BackingStore", in: "System"),
        module("Platform", in: "System"),
    ]
)
#if !os(Linux)
    package.targets = [.target(name: "Other", dependencies: ["Nobody"], path: "Other")]
#endif
"""

# A tree that keeps every rule, with all that could be taken for a break and is none.
SOUND = {
    "Package.swift": MANIFEST,
    "Sources/Model/Model/Name.swift": '''\
// A name. See Store.swift, and the C library's string.h.
// Linux has it in fs/inode.c; any page.md will do, and Page.md, that is docs/Page.md.
/// "unsafe" is a word here, as is `import Store` in a string.
package struct Name {
    package let text = "unsafe \\(["}": 1].count) { import Store"
    package let page = """
        import Store
        // } { {
        """
    package init(_ text: String) { unsafely(text) }
    func open() -> String { text }  // one line
}
''',
    "Sources/System/Store/Store.swift": '''\
// The store.

internal import CLibrary
import struct Log.Logger
public import Model

package protocol Opening {
    func open(_ name: Name, then body: () -> Void) throws
    var name: Name { get }
''' + "    var other: Name { get }\n" * 70 + "}\n",
    "Sources/System/Store/Storing.swift": "// Storing.\n\nfunc store() {\n" + "    step()\n" * 58 + "}\n",
    "Sources/Client/Program/Program.swift": "// The program.\n\nimport Foundation\nimport Store\n\n"
    "public func call(a: A, b: A, c: A, d: A, e: A, f: A) {}\nfunc note(a: A, b: A, c: (A, A), d: A, e: A<A, A>) {}\n",
    "Sources/System/CCode/Code.c": "/* As Name.swift. */\n",
    "Tests/System/StoreTests/StoreTests.swift": "@testable import Store\n",
    "scripts/run": "#!/bin/bash\n# Runs Store.swift.\n",
    "scripts/rules.py": "class Rules:\n    def rule(self):\n" + "        step()\n" * 59 + "\n\nRULES = Rules()\n",
    "Tests/Mounted/cases.sh": "one() { step; }\nfirst() {\n" + "    step\n" * 58 + "}\nsecond() {\n    step\n}\n",
    "docs/Page.md": "Text.\n",
    "Sources/System/BackingStore/Keep.swift": "// Keep.\n",
    "Sources/System/Platform/Calls.swift": "// Calls.\n",
} | {f"Sources/Model/Model/Full/Part{number}.swift": "// A part.\n" for number in range(20)}


def changed(name, before, after):
    return {name: SOUND[name].replace(before, after)}


STORE, NAME = "Sources/System/Store/Store.swift", "Sources/Model/Model/Name.swift"
PROGRAM = "Sources/Client/Program/Program.swift"
CODE = "Sources/System/CCode/Code.c"
KEEP, CALLS = "Sources/System/BackingStore/Keep.swift", "Sources/System/Platform/Calls.swift"

# (rule, what is changed, the place that has to be named)
BREAKS = [
    ("every_module_is_declared", {"Sources/Model/Lost/Lost.swift": "// Lost.\n"}, "Sources/Model/Lost/Lost.swift:1:"),
    ("no_import_points_up", changed(NAME, "package struct", "import Store\npackage struct"), f"{NAME}:4:"),
    ("no_import_points_up", changed(PROGRAM, "import Store", "import Store\nimport Model"), f"{PROGRAM}:5:"),
    ("every_use_is_imported", changed(STORE, "internal import CLibrary\n", ""), "Package.swift:10:"),
    ("every_use_is_imported", changed(STORE, "import struct Log.Logger\n", ""), "Package.swift:10:"),
    ("every_use_is_imported", {"Tests/System/StoreTests/StoreTests.swift": "// import Store\n"}, "Package.swift:19:"),
    ("foundation_has_its_places", changed(STORE, "internal import", "import FoundationEssentials\ninternal import"),
     f"{STORE}:3:"),
    ("unsafe_code_has_its_places", changed(NAME, "unsafely(text)", "unsafe text.utf8"), f"{NAME}:10:"),
    ("descriptors_are_watched_in_one_place",
     changed(NAME, "unsafely(text)", "DispatchSource.makeReadSource(fileDescriptor: 0)"), f"{NAME}:10:"),
    ("no_call_follows_a_link", {CALLS: SOUND[CALLS] + "let call = unsafe open(text, 0)\n"}, f"{CALLS}:2:"),
    ("no_call_follows_a_link", changed(NAME, "unsafely(text)", "fstatat(1, text, &status, 0)"), f"{NAME}:10:"),
    ("devices_are_reached_by_descriptor",
     {KEEP: SOUND[KEEP] + "let status = HostPath.status(path)\n"}, f"{KEEP}:2:"),
    ("no_file_is_long", changed(NAME, "package struct", "\n" * 400 + "package struct"), f"{NAME}:401:"),
    ("no_comment_is_wide", changed(NAME, "// A name.", "// A name." + " It is short." * 9), f"{NAME}:1:"),
    ("no_function_is_long", changed("Sources/System/Store/Storing.swift", "{\n", "{\n    let brace = \"}\"\n"),
     "Sources/System/Store/Storing.swift:3:"),
    ("no_function_is_long",
     {"Tests/System/StoreTests/StoreTests.swift":
      "import Store\nstruct A {\n    init?(\n        b: C = C()\n    ) {\n" + "        b()\n" * 60 + "    }\n}\n"},
     "Tests/System/StoreTests/StoreTests.swift:3:"),
    ("no_function_is_long", changed("scripts/rules.py", "(self):\n", "(\n            self):\n"), "scripts/rules.py:2:"),
    ("no_function_is_long", changed("Tests/Mounted/cases.sh", "first() {\n", "first() {\n    step\n"), "Tests/Mounted/cases.sh:2:"),
    ("no_function_has_many_parameters",
     changed(STORE, "    var name: Name", "    func read<A>(a: A, b: (Int, A) -> A, c: [A: A<A, A>], d: A, e: A, f: A,)\n    var name: Name"),
     f"{STORE}:9:"),
    ("no_folder_is_full", {"Sources/Model/Model/Full/Part20.swift": "// A part.\n"}, "Sources/Model/Model/Full:1:"),
    ("no_folder_is_full", {f"docs/Page{number}.md": "\n" for number in range(20)}, "docs:1:"),
    ("every_file_says_what_it_is_for", changed(STORE, "// The store.", ""), f"{STORE}:1:"),
    ("every_file_named_is_there", changed(NAME, "See Store.swift", "See Shop.swift"), f"{NAME}:1:"),
    ("every_file_named_is_there", changed(NAME, "// one line", "// as in Store/Name.swift"), f"{NAME}:11:"),
    ("every_symbol_named_is_there", changed(NAME, "// A name.", "// A name of ``Opening``, not ``Closing``."), f"{NAME}:1:"),
    ("every_symbol_named_is_there", changed(NAME, "// A name.", "// ``Store/Opening/open(_:)``, ``Name/other``."), f"{NAME}:1:"),
    ("every_sentence_begins_with_its_subject", changed(NAME, "// A name.", "// What a name is."), f"{NAME}:1:"),
    ("every_sentence_begins_with_its_subject",
     changed(NAME, "// A name.", "// A name. Whatever has one is whole."), f"{NAME}:1:"),
    ("every_sentence_begins_with_its_subject", changed("scripts/run", "# Runs", "# Whoever runs"), "scripts/run:2:"),
    ("every_sentence_begins_with_its_subject",
     changed(PROGRAM, "import Store\n", 'import Store\nlet help = """\n    Help. \\\n    What it is.\n    """\n'),
     f"{PROGRAM}:5:"),
    ("every_file_named_is_there", changed("scripts/run", "Runs Store.swift", "Runs shop.py"), "scripts/run:2:"),
    ("every_file_named_is_there", changed(NAME, "docs/Page.md", "docs/Leaf.md"), f"{NAME}:2:"),
    ("every_file_named_is_there", changed(NAME, "and Page.md", "and Leaf.md"), f"{NAME}:2:"),
    ("every_file_named_is_there", changed(CODE, "As Name.swift", "As Call.c"), f"{CODE}:1:"),
    ("every_file_named_is_there", changed("Package.swift", "the vocabulary", "see Words.swift"), "Package.swift:6:"),
]


def problems(rules, files):
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        tree = Tree(root)
        return {rule.__name__: list(rule(tree)) for rule in rules}


def failures(rules):
    """One line for each break that its rule does not find, or another rule does, and for each rule without a break."""
    for name, found in problems(rules, SOUND).items():
        yield from (f"{name} finds a break in a sound tree: {problem}" for problem in found)
    for name, change, wanted in BREAKS:
        found = problems(rules, SOUND | change)
        if [problem[:len(wanted)] for problem in found.pop(name)] != [wanted]:
            yield f"{name} does not find {wanted}"
        yield from (f"{other} finds a break of {name}: {problem}" for other in found for problem in found[other])
    for name in {rule.__name__ for rule in rules} - {name for name, _, _ in BREAKS}:
        yield f"{name} has no break here"
