"""The description of the service that other programs read: OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from askless.serve._bodies import AnswerBody, BeginBody, DecideBody, NextBody, StepBody
from askless.serve._steps import EXTRAS
from askless.serve._views import (
    DecidedView,
    LogView,
    PoliciesView,
    PolicyView,
    StateView,
)

__all__ = ["describe_service"]

TYPES = (
    NextBody, BeginBody, StepBody, AnswerBody, DecideBody,
    StateView, PoliciesView, PolicyView, DecidedView, LogView,
)  # fmt: skip
PROBLEM = {
    "type": "object",
    "required": ["error", "hint"],
    "properties": {"error": {"type": "string"}, "hint": {"type": "string"}},
}
STATUS = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"type": "string"}},
}
SAID = {
    400: "The request is not well formed.",
    401: "No key, or a wrong one.",
    404: "There is no such policy, version or session.",
    408: "The body did not come in time.",
    409: "The session has moved on.",
    413: "The body is too large.",
    421: "The service is not called so.",
    422: "The request makes no sense here.",
    503: "Not ready, full, or not in time.",
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
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
INCLUDE = {
    "name": "include",
    "in": "query",
    "required": False,
    "schema": {"type": "array", "items": {"enum": list(EXTRAS)}},
}
ACTS = {
    "answer": "Say what the next test has shown.",
    "skip": "Go on without running the next test.",
    "unsure": "The test was run and shows nothing clear.",
    "undo": "Take back the last answer.",
}


def describe_service(
    version: str, *, has_keys: bool, names: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the description.

    Parameters
    ----------
    version : str
        Of Askless.
    has_keys : bool
        Whether a key is needed.
    names : sequence of str
        Of some policies, as examples.

    Examples
    --------
    >>> sorted(describe_service("0", has_keys=False)["paths"])[0]
    '/healthz'
    """
    _, schemas = msgspec.json.schema_components(
        TYPES, ref_template="#/components/schemas/{name}"
    )
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Askless",
            "version": version,
            "description": "Which test to buy next, when to stop, what to decide.",
        },
        "paths": {**_policy_paths(names), **_session_paths(names), **_about_paths()},
        "components": {"schemas": {**schemas, "Problem": PROBLEM, "Status": STATUS}},
    }
    if has_keys:
        described["components"]["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer"}
        }
        described["security"] = [{"key": []}]
    return described


def _policy_paths(names: Sequence[str]) -> dict[str, Any]:
    name = {
        "name": "name",
        "in": "path",
        "required": True,
        "description": "The name of a policy, or name@version.",
        "schema": {"type": "string"},
        "examples": {each: {"value": each} for each in names},
    }
    return {
        "/v1/policies": {"get": _get("List what is served.", "PoliciesView")},
        "/v1/policies/{name}": {
            "parameters": [name],
            "get": _get("Tell tests, prices and classes.", "PolicyView", 404),
        },
        "/v1/policies/{name}/next": {
            "parameters": [name],
            "post": _post("Tell what to ask after some answers.", "NextBody"),
        },
        "/v1/policies/{name}/decide": {
            "parameters": [name],
            "post": _post("Decide rows at once.", "DecideBody", view="DecidedView"),
        },
    }


def _session_paths(names: Sequence[str]) -> dict[str, Any]:
    begin = _post("Begin a session.", "BeginBody")
    made = begin["responses"].pop("200")
    made["links"] = {
        act: {"operationId": act, "parameters": {"id": "$response.body#/session"}}
        for act in (*ACTS, "show", "log")
    }
    begin["responses"] = {"201": made, **begin["responses"]}
    begin["requestBody"]["content"]["application/json"]["examples"] = {
        name: {"value": {"policy": name}} for name in names
    }
    show = _get("Tell where a session stands.", "StateView", 404, 422, 503)
    paths: dict[str, Any] = {
        "/v1/sessions": {"post": begin},
        "/v1/sessions/{id}": {
            "parameters": [SESSION],
            "get": {**show, "operationId": "show", "parameters": [INCLUDE]},
        },
        "/v1/sessions/{id}/log": {
            "parameters": [SESSION],
            "get": {
                **_get("Tell every event of a session.", "LogView", 404),
                "operationId": "log",
            },
        },
    }
    for act, what in ACTS.items():
        kind = "AnswerBody" if act == "answer" else "StepBody"
        paths[f"/v1/sessions/{{id}}/{act}"] = {
            "parameters": [SESSION, REPEAT],
            "post": {**_post(what, kind, 409), "operationId": act},
        }
    return paths


def _about_paths() -> dict[str, Any]:
    numbers = _get("Counters, as Prometheus reads them.", "Status")
    numbers["responses"]["200"]["content"] = {"text/plain": {}}
    return {
        "/healthz": {"get": _get("Tell whether the process lives.", "Status")},
        "/readyz": {"get": _get("Tell whether it can answer.", "Status")},
        "/metrics": {"get": numbers},
    }


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _problems(*statuses: int) -> dict[str, Any]:
    return {
        str(status): {"description": SAID[status], "content": _content("Problem")}
        for status in sorted({401, 421, *statuses})
    }


def _get(what: str, view: str, *problems: int) -> dict[str, Any]:
    good = {"description": what, "content": _content(view)}
    return {"summary": what, "responses": {"200": good, **_problems(*problems)}}


def _post(
    what: str, body: str, *problems: int, view: str = "StateView"
) -> dict[str, Any]:
    all_problems = _problems(400, 404, 408, 413, 422, 503, *problems)
    good = {"description": what, "content": _content(view)}
    return {
        "summary": what,
        "requestBody": {"required": True, "content": _content(body)},
        "responses": {"200": good, **all_problems},
    }
