"""Schemas of an OpenAPI document as words and tables. A keyword that nobody here knows is shown as it stands, so that
nothing of the document is lost."""

import json

from layout import escape
from prose import inline, rendered

# Said in the words of a type, or in places of their own.
SPOKEN = {
    "$ref",
    "type",
    "enum",
    "const",
    "oneOf",
    "anyOf",
    "allOf",
    "items",
    "format",
    "properties",
    "required",
    "description",
    "title",
    "additionalProperties",
}
LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
}
CODED = {"pattern": "matches {}", "default": "{} if it is left out", "example": "for example {}"}


def reference(pointer):
    """A link to a schema of the same document."""
    name = pointer.rsplit("/", 1)[1]
    return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'


def value(thing):
    text = thing if isinstance(thing, str) else json.dumps(thing, ensure_ascii=False)
    return f"<code>{escape(text)}</code>"


def either(words):
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def type_in_words(schema):
    """The type of a value, with links to the schemas that it names."""
    if schema is True or schema == {}:
        return "any value"
    if schema is False:
        return "nothing"
    if "$ref" in schema:
        return reference(schema["$ref"])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return either([type_in_words(part) for part in schema[key]])
    if "allOf" in schema:
        return " and ".join(type_in_words(part) for part in schema["allOf"])
    if "const" in schema:
        return value(schema["const"])
    if "enum" in schema:
        return either([value(one) for one in schema["enum"]])
    kinds = schema.get("type", "object" if "properties" in schema else "any value")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return either([type_name(kind, schema) for kind in kinds])


def type_name(kind, schema):
    if kind == "array":
        return f"array of {type_in_words(schema['items'])}" if "items" in schema else "array"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object with values of {type_in_words(schema['additionalProperties'])}"
    if kind == "string" and "format" in schema:
        return f"string ({escape(schema['format'])})"
    return escape(kind)


def counted(text, number):
    return (text.removesuffix("s") if number == 1 else text).format(f"{number:,}")


def limits(schema):
    """The other conditions that a value has to meet."""
    if not isinstance(schema, dict):
        return []
    said = [counted(text, schema[key]) for key, text in LIMITS.items() if key in schema]
    said += [text.format(value(schema[key])) for key, text in CODED.items() if key in schema]
    if schema.get("uniqueItems"):
        said.append("no item twice")
    if schema.get("additionalProperties") is False:
        said.append("no other keys")
    if schema.get("examples"):
        said.append("for example " + either([value(one) for one in schema["examples"]]))
    known = SPOKEN | LIMITS.keys() | CODED.keys() | {"uniqueItems", "examples"}
    said += [f"{escape(key)}: {value(schema[key])}" for key in schema if key not in known]
    items = limits(schema["items"]) if isinstance(schema.get("items"), dict) else []
    # Conditions of alternatives belong to each of them.
    for key in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(key, []):
            if isinstance(part, dict) and "properties" not in part:
                said += limits(part)
    return said + [f"each item: {one}" for one in items]


def properties(schema):
    """A table of the keys of an object, with those of objects in it."""
    rows = "".join(row(name, key, name in schema.get("required", ())) for name, key in schema["properties"].items())
    return table(("key", "type", "meaning"), rows)


def table(heads, rows):
    head = "".join(f"<th>{one}</th>" for one in heads)
    return (
        '<div class="wide" tabindex="0"><table class="keys">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def row(name, schema, required):
    about = []
    if isinstance(schema, dict) and schema.get("description"):
        about.append(inline(schema["description"].strip()))
    conditions = limits(schema)
    if conditions:
        about.append(f'<span class="limits">{"; ".join(conditions)}.</span>')
    about += [properties(part) for part in inner(schema)]
    must = "" if required else ' <span class="may">optional</span>'
    return (
        f"<tr><td><code>{escape(name)}</code>{must}</td><td>{type_in_words(schema)}</td>"
        f"<td>{' '.join(about)}</td></tr>"
    )


def inner(schema):
    """Objects that a schema describes in place."""
    if not isinstance(schema, dict):
        return
    if "properties" in schema:
        yield schema
    for part in [schema.get("items"), *schema.get("oneOf", []), *schema.get("anyOf", []), *schema.get("allOf", [])]:
        yield from inner(part)


def described(schema):
    """A schema as a section's text: its description, its type where it is no plain object, conditions, and keys."""
    parts = [rendered(schema["description"])] if isinstance(schema, dict) and schema.get("description") else []
    tables = list(inner(schema))
    words = type_in_words(schema)
    if words != "object":
        parts.append(f"<p>{words[0].upper() + words[1:] if words[0] != '<' else words}</p>")
    conditions = limits(schema)
    if conditions:
        parts.append(f'<p class="limits">{"; ".join(conditions)}.</p>')
    parts += [properties(table) for table in tables]
    if words == "object" and not tables:
        parts.append("<p>An object with any keys.</p>")
    return "".join(parts)
