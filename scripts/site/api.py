"""The OpenAPI document as one page: its introduction, requests with examples and answers, kinds of complaint, schemas."""

import json
import pathlib

import yaml

from layout import Page, escape
from prose import coloured, inline, rendered
from schemas import described, limits, table, type_in_words, value

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "docs" / "openapi.yaml"
# Any request may fail with these.
ANY = ("badRequest", "notAllowed", "shuttingDown", "noSpace", "unexpected")
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
# Keys of a request that are shown in places of their own; `operationId` and `tags` make its anchor and its group.
PLACED = {
    "operationId",
    "summary",
    "description",
    "tags",
    "parameters",
    "requestBody",
    "responses",
    "x-kinds",
    "x-example",
}


class Document:
    def __init__(self, tree):
        self.tree = tree

    def resolved(self, thing):
        """The part that a reference leads to; schemas are linked to instead."""
        while isinstance(thing, dict) and set(thing) == {"$ref"}:
            pointer, thing = thing["$ref"], self.tree
            for key in pointer.removeprefix("#/").split("/"):
                thing = thing[key]
        return thing

    def requests(self):
        """(method, path, request) in the order of the document."""
        for path, item in self.tree["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method, path, item[method]


def kinds(names):
    return ", ".join(f'<a href="#kind-{escape(name)}">{escape(name)}</a>' for name in names)


def contents(media):
    """Bodies by their media types."""
    parts = []
    for name, body in media.items():
        schema = body.get("schema", {})
        about = f"<code>{escape(name)}</code>: {type_in_words(schema)}"
        if "properties" in schema or limits(schema):
            about += described(schema)
        for title, example in examples(body):
            is_text = isinstance(example, str)
            shown = example if is_text else json.dumps(example, indent=2, ensure_ascii=False, default=str)
            about += f"<p>{escape(title)}</p>" + coloured(shown, "" if is_text else "json")
        parts.append(f"<li>{about}</li>")
    return f"<ul>{''.join(parts)}</ul>" if parts else ""


def examples(body):
    if "example" in body:
        yield "For example", body["example"]
    for name, example in body.get("examples", {}).items():
        yield example.get("summary", name), example.get("value", example)


def parameters(document, listed):
    rows = ""
    for one in map(document.resolved, listed):
        schema = one.get("schema", {})
        about = [inline(one["description"])] if one.get("description") else []
        about += [f'<span class="limits">{"; ".join(limits(schema))}.</span>'] if limits(schema) else []
        must = "" if one.get("required") else ' <span class="may">optional</span>'
        rows += (
            f"<tr><td><code>{escape(one['name'])}</code> in the {escape(one['in'])}{must}</td>"
            f"<td>{type_in_words(schema)}</td><td>{' '.join(about)}</td></tr>"
        )
    return "<h4>Parameters</h4>" + table(("name", "type", "meaning"), rows) if rows else ""


def answers(document, responses):
    """Those of this request alone, and links to those of many."""
    own, shared = "", []
    for status, answer in responses.items():
        if "$ref" in answer:
            name = escape(answer["$ref"].rsplit("/", 1)[1])
            shared.append(f'<code>{escape(status)}</code> <a href="#answer-{name}">{name}</a>')
        else:
            own += f"<dt><code>{escape(status)}</code></dt><dd>{answer_in_words(document, answer)}</dd>"
    others = f"<p>Others: {', '.join(shared)}.</p>" if shared else ""
    return f"<h4>Answers</h4><dl>{own}</dl>{others}"


def answer_in_words(document, answer):
    headers = "".join(
        f"<li>Header <code>{escape(name)}</code>: {inline(document.resolved(header).get('description', ''))}</li>"
        for name, header in answer.get("headers", {}).items()
    )
    return (
        inline(answer["description"].strip())
        + (f"<ul>{headers}</ul>" if headers else "")
        + contents(answer.get("content", {}))
    )


def request_section(document, method, path, request):
    name = request["operationId"]
    parts = [
        f'<h3 id="{escape(name)}">{escape(name)}</h3>',
        f'<p class="call"><b>{method.upper()}</b> <code>{escape(path)}</code></p>',
        rendered(request["summary"]),
        rendered(request.get("description", "")),
    ]
    if request.get("x-example"):
        parts.append(coloured(request["x-example"], "sh"))
    parts.append(parameters(document, request.get("parameters", [])))
    body = document.resolved(request.get("requestBody", {}))
    if body:
        must = "" if body.get("required") else ' <span class="may">optional</span>'
        parts.append(f"<h4>Body{must}</h4>{rendered(body.get('description', ''))}{contents(body['content'])}")
    parts.append(answers(document, request["responses"]))
    if request.get("x-kinds"):
        parts.append(f"<p>Kinds of complaint of its own: {kinds(request['x-kinds'])}.</p>")
    parts += [f"<p>{escape(key)}: {value(request[key])}</p>" for key in request if key not in PLACED]
    return "".join(parts)


def requests(document):
    """Those of one tag together, in the order of the tags; without tags all in one."""
    groups = {tag["name"]: (tag.get("description", ""), []) for tag in document.tree.get("tags", [])}
    for method, path, request in document.requests():
        tag = (request.get("tags") or ["Requests"])[0]
        groups.setdefault(tag, ("", []))[1].append(request_section(document, method, path, request))
    for name, (about, sections) in groups.items():
        if sections:
            anchor = "requests-" + escape(name).lower().replace(" ", "-")
            yield f'<h2 id="{anchor}">{escape(name)}</h2>{rendered(about)}{"".join(sections)}'


def kinds_section(document):
    rows = "".join(
        f'<tr id="kind-{escape(name)}"><td><code>{escape(name)}</code></td><td>{about["status"]}</td>'
        f'<td>{about["exitCode"]}</td></tr>'
        for name, about in document.tree.get("x-kinds", {}).items()
    )
    if not rows:
        return ""
    about = f"<p>Any request may fail with {kinds(ANY)} besides those of its own.</p>"
    heads = ("kind", "status of the answer", "exit code of the command")
    return f'<h2 id="kinds">Kinds of complaint</h2>{about}{table(heads, rows)}'


def written():
    document = Document(yaml.safe_load(SOURCE.read_text()))
    info, components = document.tree["info"], document.tree.get("components", {})
    servers = "".join(
        f"<li><code>{escape(one['url'])}</code> {inline(one.get('description', ''))}</li>"
        for one in document.tree.get("servers", [])
    )
    parts = [
        f"<h1>{escape(info['title'])}</h1>",
        rendered(info.get("summary", "")),
        f'<p>Version {escape(str(info["version"]))} of the API, from '
        '<a href="openapi.yaml" download>openapi.yaml</a>.</p>',
        rendered(info.get("description", "")),
        f"<ul>{servers}</ul>",
        *requests(document),
        kinds_section(document),
    ]
    if components.get("responses"):
        parts.append('<h2 id="answers">Answers of many requests</h2>')
        for name, answer in components["responses"].items():
            parts.append(
                f'<h3 id="answer-{escape(name)}">{escape(name)}</h3><p>{answer_in_words(document, answer)}</p>'
            )
    parts.append('<h2 id="schemas">Schemas</h2>')
    for name, schema in components.get("schemas", {}).items():
        parts.append(f'<h3 id="schema-{escape(name)}">{escape(name)}</h3>{described(schema)}')
    return Page(
        address="api.html",
        title=info["title"],
        body="".join(parts),
        description=info.get("summary", ""),
        group="Reference",
    )
