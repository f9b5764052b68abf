"""How long a file or a function may be, how many parameters it may have, and how much a folder may hold."""

import ast
import re

from sources import hidden

LONGEST_FILE = 400
LONGEST_LINE = 120
LONGEST_FUNCTION = 60
FULLEST_FOLDER = 20
MOST_PARAMETERS = 5

# `.init(…)` is a call.
FUNCTION = re.compile(r"\bfunc\s|(?<![.\w])(?:init|subscript)\s*[?!]?\s*[(<]|(?<![.\w])deinit\s*\{")
SHELL_FUNCTION = re.compile(r"^[\w-]+\(\) \{\n.*?^\}$", re.DOTALL | re.MULTILINE)
METHOD = re.compile(r"(\bpublic\b[^\n]*)?\bfunc\s+[^\s(<]+")
# The next declaration: the one before it had no body.
DECLARATION = re.compile(
    r"\n\s*(?:@\w+|(?:public|package|internal|fileprivate|private|static|mutating|override|final|convenience|required)\b"
    r"|(?:func|init|subscript|var|let|case|associatedtype|typealias|struct|class|enum|extension|protocol|actor)\b|#)")


def no_file_is_long(tree):
    for file in tree.swift("Sources"):
        if len(file.lines) > LONGEST_FILE:
            yield f"{file.name}:{LONGEST_FILE + 1}: {len(file.lines)} lines; at most {LONGEST_FILE}"


def no_comment_is_wide(tree):
    """swift-format keeps code as narrow. A row of a table is one line."""
    for file in tree.swift():
        for number, line in enumerate(file.lines, 1):
            words = line.strip()
            if len(line) > LONGEST_LINE and words.startswith("//") and not words.startswith("/// |"):
                yield f"{file.name}:{number}: {len(line)} columns; at most {LONGEST_LINE}"


def no_function_is_long(tree):
    """From the line with `func`, `init`, `def` or a shell function's name to the last one: that with the closing brace."""
    for files, lines in ((tree.swift(), swift_functions), (tree.python(), python_functions), (tree.shell(), shell_functions)):
        for file in files:
            for first, last in lines(file):
                if last - first + 1 > LONGEST_FUNCTION:
                    yield f"{file.name}:{first}: a function of {last - first + 1} lines; at most {LONGEST_FUNCTION}"


def swift_functions(file):
    return file.line_pairs(functions(file.code))


def python_functions(file):
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def shell_functions(file):
    """Those at the first column."""
    return file.line_pairs(match.span() for match in SHELL_FUNCTION.finditer(file.text))


def no_function_has_many_parameters(tree):
    """Those of an initializer are the type that takes their place. The calls that a library has for its users stay."""
    for file in tree.swift("Sources"):
        for method in METHOD.finditer(file.code):
            if method[1] and file.name.startswith("Sources/Client/"):
                continue
            opening = file.code.find("(", method.end())
            count = parameters(file.code, opening)
            if count > MOST_PARAMETERS:
                line = file.code.count("\n", 0, method.start()) + 1
                yield f"{file.name}:{line}: a function of {count} parameters; at most {MOST_PARAMETERS}"


def parameters(code, opening):
    """The count of parameters in the list that the bracket at `opening` begins."""
    depth, commas, last = 0, 0, ""
    for at in range(opening, len(code)):
        character = code[at]
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and code[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return commas + (last not in ("(", ","))
        elif character == "," and depth == 1:
            commas += 1
        if not character.isspace():
            last = character
    return 0


def functions(code):
    """(start, end) of each function with a body, in code without strings and comments."""
    for match in FUNCTION.finditer(code):
        opening = body(code, match.end() - 1)
        if opening is not None:
            yield match.start(), closing(code, opening) - 1


def body(code, at):
    """The brace that opens the body of the function at `at`, if it has one."""
    depth = 0
    while at < len(code):
        character = code[at]
        if depth == 0:
            if character == "{":
                return at
            if character == "}" or DECLARATION.match(code, at):
                return None
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if depth < 0:
            return None
        at += 1
    return None


def closing(code, at):
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(code)


def no_folder_is_full(tree):
    for top in ("Sources", "Tests", "docs", "scripts"):
        for folder in sorted([tree.root / top, *(tree.root / top).rglob("*/")]):
            if not folder.is_dir() or hidden(folder.relative_to(tree.root)):
                continue
            count = sum(path.is_file() and not path.name.startswith(".") for path in folder.iterdir())
            if count > FULLEST_FOLDER:
                yield f"{folder.relative_to(tree.root)}:1: {count} files; at most {FULLEST_FOLDER}"
