"""The description of the service that other programs read: OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

import msgspec

from askless.serve._bodies import AnswerBody, BeginBody, DecideBody, NextBody, StepBody
from askless.serve._steps import EXTRAS

__all__ = ["describe_service"]

BODIES = (NextBody, BeginBody, StepBody, AnswerBody, DecideBody)
PROBLEM = {
    "type": "object",
    "required": ["error", "hint"],
    "properties": {"error": {"type": "string"}, "hint": {"type": "string"}},
}
NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The name of a policy, or name@version.",
    "schema": {"type": "string"},
}
SESSION = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
}
REPEAT = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A request that comes twice with the same key is done once.",
    "schema": {"type": "string", "maxLength": 200},
}
INCLUDE = {
    "name": "include",
    "in": "query",
    "required": False,
    "schema": {"type": "array", "items": {"enum": list(EXTRAS)}},
}


def describe_service(version: str, *, has_keys: bool) -> dict[str, Any]:
    """Return the description.

    Examples
    --------
    >>> sorted(describe_service("0", has_keys=False)["paths"])[0]
    '/healthz'
    """
    _, schemas = msgspec.json.schema_components(
        BODIES, ref_template="#/components/schemas/{name}"
    )
    paths = {
        "/v1/policies": {"get": _get("What policies are served.")},
        "/v1/policies/{name}": {
            "parameters": [NAME],
            "get": _get("One policy: its tests, prices and classes.", 404),
        },
        "/v1/policies/{name}/next": {
            "parameters": [NAME],
            "post": _post("What to ask after some answers.", "NextBody"),
        },
        "/v1/policies/{name}/decide": {
            "parameters": [NAME],
            "post": _post("Decide rows at once.", "DecideBody"),
        },
        "/v1/sessions": {
            "post": _post("Begin a session.", "BeginBody", made=True),
        },
        "/v1/sessions/{id}": {
            "parameters": [SESSION],
            "get": {**_get("Where a session stands.", 404, 422),
                    "parameters": [INCLUDE]},
        },
        "/v1/sessions/{id}/log": {
            "parameters": [SESSION],
            "get": _get("Every event of a session.", 404),
        },
        "/healthz": {"get": _get("Whether the process lives.")},
        "/readyz": {"get": _get("Whether it can answer.", 503)},
        "/metrics": {"get": _get("Counters, as Prometheus reads them.", text=True)},
    }  # fmt: skip
    for act, what in (
        ("answer", "Say what the next test has shown."),
        ("skip", "Go on without running the next test."),
        ("unsure", "The test was run and shows nothing clear."),
        ("undo", "Take back the last answer."),
    ):
        kind = "AnswerBody" if act == "answer" else "StepBody"
        paths[f"/v1/sessions/{{id}}/{act}"] = {
            "parameters": [SESSION, REPEAT],
            "post": _post(what, kind, 409),
        }
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Askless",
            "version": version,
            "description": "Which test to buy next, when to stop, what to decide.",
        },
        "paths": paths,
        "components": {"schemas": {**schemas, "Problem": PROBLEM}},
    }
    if has_keys:
        described["components"]["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer"}
        }
        described["security"] = [{"key": []}]
    return described


def _problems(*statuses: int) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    said = {
        401: "No key, or a wrong one.",
        404: "There is no such policy, version or session.",
        409: "The session has moved on.",
        413: "The body is too large.",
        422: "The request makes no sense here.",
        503: "Not ready.",
    }
    return {
        str(status): {"description": said[status], "content": content}
        for status in sorted({401, *statuses})
    }


def _get(what: str, *problems: int, text: bool = False) -> dict[str, Any]:
    kind = "text/plain" if text else "application/json"
    return {
        "summary": what,
        "responses": {
            "200": {"description": what, "content": {kind: {}}},
            **_problems(*problems),
        },
    }


def _post(what: str, body: str, *problems: int, made: bool = False) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{body}"}
    return {
        "summary": what,
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        },
        "responses": {
            "201" if made else "200": {
                "description": what,
                "content": {"application/json": {}},
            },
            **_problems(404, 413, 422, *problems),
        },
    }
