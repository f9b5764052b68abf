#!/usr/bin/python3
"""Holds the control API against its document: every example is run as it stands, and what is answered compared.

openapi.py DOCUMENT SOCKET: in a directory that has what the document says its examples need."""

import copy
import http.client
import json
import os
import re
import shlex
import subprocess
import sys

import yaml
from jsonschema import Draft202012Validator, RefResolver

sys.path.insert(0, os.path.dirname(__file__))
import kit

JSON, LINES = "application/json", "application/x-ndjson"
# Of every operation: a request that is none or too large or late, another user's, another device's, and any error; and of
# a POST besides.
ALWAYS = {"400", "403", "408", "413", "421", "500"}
OF_CHANGES = {"503", "507"}
NOTHING = {"$ref": "#/components/schemas/Nothing"}


def strict(schema):
    """The same schema, by which keys that it does not name are wrong: the document is to name all there are."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


class Document:
    def __init__(self, path):
        self.raw = yaml.safe_load(open(path))
        for schema in self.raw["components"]["schemas"].values():
            Draft202012Validator.check_schema(schema)
        self.closed = copy.deepcopy(self.raw)
        self.closed["components"]["schemas"] = strict(self.closed["components"]["schemas"])
        self.operations = [
            (path, method, operation) for path, item in self.raw["paths"].items() for method, operation in item.items()]

    def resolve(self, value):
        while "$ref" in value:
            found = self.raw
            for key in value["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            value = found
        return value

    def validate(self, value, schema, what):
        validator = Draft202012Validator(
            strict(schema), resolver=RefResolver("", self.closed),
            format_checker=Draft202012Validator.FORMAT_CHECKER)
        for problem in validator.iter_errors(value):
            raise SystemExit(f"{what}: {problem.message} at {list(problem.path)}: {json.dumps(value)[:500]}")

    def validate_failure(self, status, body, what):
        failure = json.loads(body)
        self.validate(failure, {"$ref": "#/components/schemas/Failure"}, what)
        kind = failure["complaint"]["kind"]
        kit.check(kind in self.raw["x-kinds"], what, kind)
        kit.check(status in (405, 408, 413, 421) or status == self.raw["x-kinds"][kind]["status"], what, status, kind)
        return kind

    def answer(self, operation, media):
        content = self.resolve(operation["responses"]["200"])["content"]
        kit.check(media in content, operation["operationId"], "answers", media)
        return content[media]["schema"]


def request(socket, method, path, body=None, accept=JSON):
    connection = kit.ControlConnection(socket)
    connection.request(method, path, body, {"Accept": accept})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def statuses(document):
    """Each operation has the statuses of its kinds of complaints, and every kind is in the schema of a complaint."""
    kinds = document.raw["x-kinds"]
    known = document.raw["components"]["schemas"]["Complaint"]["properties"]["kind"]["enum"]
    kit.check(sorted(known) == sorted(kinds), "kinds", set(known) ^ set(kinds))
    for path, method, operation in document.operations:
        own = {str(kinds[kind]["status"]) for kind in operation.get("x-kinds", [])}
        expected = {"200"} | ALWAYS | own | (OF_CHANGES if method == "post" else set())
        kit.check(set(operation["responses"]) == expected, path, set(operation["responses"]) ^ expected)
        for status, answer in operation["responses"].items():
            if status != "200":
                schema = document.resolve(answer)["content"][JSON]["schema"]
                kit.check(schema == {"$ref": "#/components/schemas/Failure"}, path, status)


def examples(document):
    """Each example keeps to its schema, and that of a body is the one of the line of shell."""
    for path, method, operation in document.operations:
        for status, answer in operation["responses"].items():
            content = document.resolve(answer)["content"].get(JSON, {})
            if "example" in content:
                document.validate(content["example"], content["schema"], f"{path} {status}")
            else:
                kit.check(status == "200" and content.get("schema") in (None, NOTHING), path, status, "has no example")
        if method == "get":
            continue
        content = operation["requestBody"]["content"][JSON]
        document.validate(content["example"], content["schema"], path)
        words = re.search(r"--json (.*?)(?: -H '.*)?(?: -o \w+.*)?$", operation["x-example"], re.MULTILINE)[1]
        # A shell has told them by then: the number of a lease or a task, and that of a process.
        words = re.sub(r"'\"\$\(.*?\)\"'", "1", words)
        words = re.sub(r"'\"\$[!$]\"'", "4711", words).replace("$PWD", "/home/me")
        kit.check(json.loads(*shlex.split(words)) == content["example"], path, content["example"], words)


def refusals(document, socket):
    """A wrong request is refused as the document has it, whatever the path; nothing is carried out."""
    for path, method, operation in document.operations:
        other = "POST" if method == "get" else "GET"
        answer, body = request(socket, other, path, "{}" if other == "POST" else None)
        methods = "GET, HEAD, OPTIONS" if method == "get" else "POST, OPTIONS"
        kit.check(answer.status == 405 and answer.getheader("Allow") == methods, path, answer.status)
        document.validate_failure(405, body, path)
        answer, body = request(socket, "OPTIONS", path)
        kit.check(answer.status == 204 and answer.getheader("Allow") == methods and not body, path, answer.status)
        answer, body = request(socket, "HEAD", path)
        kit.check(answer.status == (200 if method == "get" else 405) and not body, path, answer.status)
        schema = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema")
        kit.check((schema is None) == (method == "get"), path, "a POST has a body")
        if schema is None:
            continue
        answer, body = request(socket, "POST", path, "[]", LINES if path == "/v1/run" else JSON)
        kit.check(answer.status == 400, path, answer.status)
        kit.check(document.validate_failure(400, body, path) == "badRequest", path)
        required = document.resolve(schema).get("required", [])
        kit.check(operation["requestBody"].get("required", False) == bool(required), path, "says whether it needs a body")
        if required:
            answer, body = request(socket, "POST", path, "{}", LINES if path == "/v1/run" else JSON)
            kit.check(answer.status == 400 and f'\\"{required[0]}\\" is missing' in body.decode(), path, body)
    answer, body = request(socket, "GET", "/v1/none")
    kit.check(answer.status == 404 and document.validate_failure(404, body, "none") == "notFound", body)


def run(document, path, method, operation):
    """Runs an example as it stands; what curl says of the answer comes by its own settings."""
    name = operation["operationId"]
    example = operation["x-example"]
    kit.check(f"http://device{path} " in example.replace("\n", " "), name, "is about its own path")
    kit.check(("--json" in example) == (method == "post"), name, "uses its own method")
    with open(f"{name}.out", "w") as output, open(f"{name}.err", "w") as errors:
        running = subprocess.Popen(["bash", "-c", example], stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        while name == "followChanges" and running.poll() is None:
            # Changes before it follows are not told.
            place = json.dumps({"app": "com.example.Notes", "path": "Documents"})
            for change in ("exclude", "include"):
                request(os.environ["SOCKET"], "POST", "/v1/" + change, place)
        running.wait()
    text, said = open(f"{name}.out").read(), open(f"{name}.err").read()
    # One that goes on until somebody ends it is given a time.
    kit.check(running.returncode == (28 if "--max-time" in example else 0), name, running.returncode, text, said)
    media = re.findall(r"^ANSWER \d+ (.*)$", said, re.MULTILINE)
    media = media[0] if media else LINES
    if media == JSON:
        document.validate(json.loads(text), document.answer(operation, JSON), name)
        return
    kit.check(media == LINES, name, media)
    schema = document.answer(operation, LINES)
    lines = [json.loads(line) for line in text.splitlines()]
    kit.check(lines, name, "has no lines")
    for line in lines:
        document.validate(line, schema, name)
    if schema["$ref"].endswith("/WorkLine"):
        kit.check([key for line in lines for key in line if key != "progress"] == ["result"], name, lines[-1])
        result = {"$ref": "#/components/schemas/RunnableApp"} if name == "run" else document.answer(operation, JSON)
        document.validate(lines[-1]["result"], result, name)


def main():
    document, socket = Document(sys.argv[1]), sys.argv[2]
    statuses(document)
    examples(document)
    refusals(document, socket)
    os.environ["SOCKET"] = socket
    # curl reads its settings there, and nowhere else.
    os.environ["CURL_HOME"] = os.getcwd()
    with open(".curlrc", "w") as settings:
        settings.write(r'write-out = "%{stderr}ANSWER %{http_code} %{content_type}\n"')
    for operation in document.operations:
        run(document, *operation)
    for _, _, operation in document.operations:
        said = open(f"{operation['operationId']}.err").read()
        kit.check(re.findall(r"^ANSWER (\d+)", said, re.MULTILINE) == ["200"], operation["operationId"], said)


main()
