"""Checks of schemathesis for the control API: what the document says of kinds of complaints, and of answers in lines.

A hook module, named in schemathesis.toml; API_DOCUMENT is the document's path."""

import json
import os

import jsonschema_rs
import schemathesis
import yaml

DOCUMENT = yaml.safe_load(open(os.environ["API_DOCUMENT"]))
LINES = "application/x-ndjson"
# Besides those of the operation: of any request, and of a POST.
ALWAYS = {"badRequest", "notAllowed", "unexpected"}
OF_CHANGES = {"shuttingDown", "noSpace"}
# Statuses that are not those of their kind.
OF_TRANSPORT = {405, 408, 413, 421}


@schemathesis.deserializer(LINES)
def lines(context, response):
    """The last line: the type of all is the same, and each is looked at below. No line stands for one that is right."""
    if response.content.strip():
        return json.loads(response.content.splitlines()[-1])
    return {
        "/v1/events/follow": {"time": "2026-01-01T00:00:00.000Z", "event": "locked"},
        "/v1/changes/follow": {"app": None, "path": None, "pathBytes": None},
    }.get(context.operation.path, {"result": {}})


def validator(schema):
    return jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def keeps_to_its_schema(case):
    """None where that cannot be told. Values from dictionaries may break it, whatever a case was meant to be."""
    if not isinstance(case.body, (dict, list, str, int, float, bool, type(None))):
        return None
    content = case.operation.definition.raw["requestBody"]["content"].get(case.media_type)
    return validator(content["schema"]).is_valid(case.body) if content else None


@schemathesis.check
def kinds_are_those_of_the_document(_, response, case):
    """A complaint is of a kind that its operation names, with that kind's status; what keeps to the schema is no bad request."""
    if response.status_code == 200 or response.status_code in OF_TRANSPORT or not response.content:
        return
    kind = json.loads(response.content)["complaint"]["kind"]
    operation = case.operation.definition.raw
    own = set(operation.get("x-kinds", []))
    assert kind in own | ALWAYS | (OF_CHANGES if case.method == "POST" else set()), f"{kind} is not one of x-kinds"
    assert DOCUMENT["x-kinds"][kind]["status"] == response.status_code, f"{kind} has another status"
    assert kind != "unexpected", "an error that nobody expected"
    if kind == "badRequest" and "badRequest" not in own and case.method == "POST":
        assert not keeps_to_its_schema(case), "the schema allows what the device calls a bad request"


@schemathesis.check
def what_breaks_its_schema_is_refused(_, response, case):
    if response.status_code == 200 and case.method == "POST":
        assert keeps_to_its_schema(case) is not False, "the device takes what the schema does not allow"


@schemathesis.check
def each_line_is_as_the_document_says(_, response, case):
    if LINES not in "".join(response.headers.get("content-type", [])) or case.method == "HEAD":
        return
    answer = case.operation.definition.raw["responses"]["200"]
    if "$ref" in answer:
        answer = DOCUMENT["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    schema = answer["content"][LINES]["schema"]
    of_a_line = validator(schema)
    found = [json.loads(line) for line in response.content.splitlines()]
    for line in found:
        of_a_line.validate(line)
    if schema["$ref"].endswith("/WorkLine"):
        assert "progress" not in found[-1], "there is no result"


@schemathesis.hook
def before_call(_, case, __):
    """A stay in the background that is allowed is waited for: a short one does."""
    after = case.body.get("after") if isinstance(case.body, dict) else None
    if type(after) in (int, float) and 0.1 < after <= 86400:
        case.body["after"] = 0.05
