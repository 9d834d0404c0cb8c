"""The routes under ``/fhir``: forms by name, and the next question of a form."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from askless.exceptions import InvalidAnswerError
from askless.serve._api import Api
from askless.serve._fhir import Forms, to_outcome
from askless.serve._respond import EXPLAINED, Handle, explain_error

__all__ = ["make_fhir_routes"]


def make_fhir_routes(api: Api) -> list[Route]:
    """Return what is served to clients that speak FHIR."""
    forms = Forms(api.asker)

    async def next_question(request: Request) -> Any:
        body = _read(await request.body())
        base = _base_of(request)
        return await api.workers.run(
            lambda: forms.next_question(body, base), seconds=api.limits.step_seconds
        )

    async def show_form(request: Request) -> Any:
        offer = api.find(request.path_params["name"])
        return forms.form(offer, _base_of(request))

    async def list_forms(request: Request) -> Any:
        return forms.bundle(_base_of(request))

    async def metadata(request: Request) -> Any:
        return _describe(version("askless"))

    next_ = "/fhir/Questionnaire/$next-question"
    return [
        Route(next_, _as_fhir(next_question), methods=["POST"]),
        Route("/fhir/Questionnaire", _as_fhir(list_forms)),
        Route("/fhir/Questionnaire/{name}", _as_fhir(show_form)),
        Route("/fhir/metadata", _as_fhir(metadata)),
    ]


def _base_of(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}/fhir"


def _read(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError(
            f"A resource must be JSON. Got: {error}. Correct it."
        ) from error


def _as_fhir(handle: Handle) -> Any:
    async def endpoint(request: Request) -> Response:
        status = 200
        try:
            content = await handle(request)
        except EXPLAINED as error:
            status, said = explain_error(error)
            content = to_outcome(said["error"], said["hint"], status)
        body = msgspec.json.encode(content)
        return Response(body, status, media_type="application/fhir+json")

    return endpoint


def _describe(number: str) -> dict[str, Any]:
    """Return the CapabilityStatement."""
    defined = "http://hl7.org/fhir/uv/sdc/OperationDefinition"
    next_ = {
        "name": "next-question",
        "definition": f"{defined}/Questionnaire-next-question",
    }
    resource = {
        "type": "Questionnaire",
        "interaction": [{"code": "read"}, {"code": "search-type"}],
        "operation": [next_],
    }
    return {
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": "2026-01-01",
        "kind": "instance",
        "implementation": {"description": "Askless"},
        "software": {"name": "Askless", "version": number},
        "fhirVersion": "4.0.1",
        "format": ["application/fhir+json"],
        "rest": [{"mode": "server", "resource": [resource]}],
    }
