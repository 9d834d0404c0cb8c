"""The service for programs: what next, sessions, rows, and what there is.

It turns requests into calls and results into JSON. It must not know how a policy works
or where events are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread
import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from askless.exceptions import (
    AsklessError,
    InvalidAnswerError,
    UnknownNameError,
)
from askless.run import Interview
from askless.serve._bodies import (
    AnswerBody,
    BeginBody,
    DecideBody,
    NextBody,
    StepBody,
    read_body,
)
from askless.serve._library import Library, Offer
from askless.serve._metrics import Metrics
from askless.serve._sessions import Live, Sessions, StaleStep
from askless.serve._steps import explain, follow

__all__ = ["Api", "to_response"]


class Api:
    """The routes under ``/v1``.

    Parameters
    ----------
    library : Library
    sessions : Sessions
    metrics : Metrics
    """

    def __init__(self, library: Library, sessions: Sessions, metrics: Metrics) -> None:
        self.library, self.sessions, self.metrics = library, sessions, metrics

    def routes(self) -> list[Route]:
        """Return what is served where."""
        return [
            Route("/v1/policies", self._guarded(self.list_policies)),
            Route("/v1/policies/{name}", self._guarded(self.show_policy)),
            self._post("/v1/policies/{name}/next", self.next),
            self._post("/v1/policies/{name}/decide", self.decide),
            self._post("/v1/sessions", self.begin),
            Route("/v1/sessions/{id}", self._guarded(self.show_session)),
            Route("/v1/sessions/{id}/log", self._guarded(self.show_log)),
            *[
                self._post(f"/v1/sessions/{{id}}/{act}", self._step(act))
                for act in ("answer", "skip", "unsure", "undo")
            ],
        ]

    def _post(self, path: str, handle: Callable[[Request], Any]) -> Route:
        return Route(path, self._guarded(handle), methods=["POST"])

    # Policies.

    async def list_policies(self, request: Request) -> Any:
        """Return what is offered."""
        return {"policies": [_describe_offer(offer) for offer in self.library.offers()]}

    async def show_policy(self, request: Request) -> Any:
        """Return one policy: its tests, prices and classes."""
        offer = self.find(request.path_params["name"])
        policy = offer.policy
        tests = [
            {
                "name": test.name,
                "kind": test.kind,
                "cost": float(policy.prices.full[index]),
                "outcomes": list(test.outcomes) if test.kind == "category" else None,
            }
            for index, test in enumerate(policy.tests)
        ]
        classes = [] if policy.answers_number else list(policy.classes)
        return {**_describe_offer(offer), "tests": tests, "classes": classes}

    async def next(self, request: Request) -> Any:
        """Return what to ask after some answers."""
        offer = self.find(request.path_params["name"])
        body = read_body(await request.body(), NextBody)
        answers = [answer.to_entry() for answer in body.answers]

        def work() -> dict[str, Any]:
            interview = follow(offer.policy, answers)
            asked = {entry["test"] for entry in interview.session.log}
            unused = [a["test"] for a in answers if a["test"] not in asked]
            return explain(interview, body.include, unused=unused)

        state = await self._run(offer, work)
        return {"policy": offer.name, "version": offer.digest, **state}

    async def decide(self, request: Request) -> Any:
        """Return the decision and the cost of each row."""
        offer = self.find(request.path_params["name"])
        body = read_body(await request.body(), DecideBody)
        decided = await anyio.to_thread.run_sync(_decide_rows, offer, body.rows)
        return {"policy": offer.name, "version": offer.digest, "rows": decided}

    # Sessions.

    async def begin(self, request: Request) -> Any:
        """Begin a session."""
        body = read_body(await request.body(), BeginBody)
        offer = self.find(body.policy)
        live = self.sessions.begin(offer, request.scope["askless_owner"])
        return to_response(self._describe(live, body.include), 201)

    async def show_session(self, request: Request) -> Any:
        """Return where a session stands."""
        live = self._session(request)
        include = request.query_params.getlist("include")
        return await self._run(live.offer, lambda: self._describe(live, include))

    async def show_log(self, request: Request) -> Any:
        """Return every event of a session."""
        live = self._session(request)
        return {
            "session": live.id,
            "policy": live.offer.name,
            "version": live.offer.digest,
            "events": self.sessions.store.log(live.id),
        }

    def _step(self, act: str) -> Callable[[Request], Any]:
        async def step(request: Request) -> Any:
            kind = AnswerBody if act == "answer" else StepBody
            body = read_body(await request.body(), kind)
            live = self._session(request)
            owner = request.scope["askless_owner"]
            key = request.headers.get("idempotency-key")

            def work() -> dict[str, Any]:
                done = self.change(live, owner, act, body, key)
                return self._describe(done, body.include)

            return await self._run(live.offer, work)

        return step

    def change(
        self, live: Live, owner: str, act: str, body: Any, key: str | None
    ) -> Live:
        """Make one step of a session, and count it."""
        outcome = getattr(body, "outcome", None)
        named = getattr(body, "test", None)
        if key is not None and len(key) > 200:
            raise InvalidAnswerError(
                "A key against repetition must have at most 200 characters. Got "
                f"{len(key)}. Send a shorter one."
            )

        def do(interview: Interview) -> None:
            before, was_over = interview.session.spent, interview.is_over
            if named is not None and named != interview.session.test:
                raise InvalidAnswerError(
                    f"The answer must be of the next test, {interview.session.test!r}."
                    f" Got {named!r}. Ask where the session stands."
                )
            if act == "answer":
                interview.answer(outcome)
            else:
                getattr(interview, act)()
            self._count(live, before, was_over)

        return self.sessions.change(
            live.id, do, owner=owner, step=body.step, repeat_key=key
        )

    def _count(self, live: Live, before: float, was_over: bool) -> None:
        session = live.interview.session
        paid = max(0.0, session.spent - before)
        self.metrics.count_step(live.offer.name, paid=paid)
        if live.interview.is_over and not was_over:
            saved = live.offer.policy.prices.cost_of_all() - session.spent
            self.metrics.count_decision(live.offer.name, saved=max(0.0, saved))

    # What all routes share.

    def find(self, name: str) -> Offer:
        """Return the policy that ``name`` or ``name@version`` stands for."""
        self.library.refresh()
        plain, _, version = name.partition("@")
        return self.library.find(plain, version or None)

    def _session(self, request: Request) -> Live:
        return self.sessions.find(
            request.path_params["id"], request.scope["askless_owner"]
        )

    def _describe(self, live: Live, include: Any) -> dict[str, Any]:
        return {
            "session": live.id,
            "policy": live.offer.name,
            "version": live.offer.digest,
            "step": live.step,
            **explain(live.interview, include),
        }

    async def _run(self, offer: Offer, work: Callable[[], Any]) -> Any:
        """Do quick work here; what may take longer must not hold up other sessions."""
        if offer.is_quick:
            return work()
        return await anyio.to_thread.run_sync(work)

    def _guarded(self, handle: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                result = await handle(request)
            except UnknownNameError as error:
                return to_response(_error(error), 404)
            except StaleStep as error:
                hint = "Ask where the session stands, then answer that."
                return to_response({"error": f"Conflict: {error}.", "hint": hint}, 409)
            except AsklessError as error:
                return to_response(_error(error), 422)
            return result if isinstance(result, Response) else to_response(result)

        return endpoint


def to_response(content: Any, status: int = 200) -> Response:
    """Return plain data as a response."""
    body = msgspec.json.encode(content, enc_hook=_plain)
    return Response(body, status, media_type="application/json")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _error(error: Exception) -> dict[str, str]:
    """Return an error of Askless; its last sentence says what to do."""
    text = str(error).strip()
    said, _, hint = text.rstrip(".").rpartition(". ")
    return {"error": f"{said}." if said else text, "hint": f"{hint}." if said else ""}


def _describe_offer(offer: Offer) -> dict[str, Any]:
    policy = offer.policy
    return {
        "name": offer.name,
        "version": offer.digest,
        "kind": policy.kind,
        "n_tests": len(policy.tests),
        "n_classes": 0 if policy.answers_number else len(policy.classes),
        "cost_of_all": policy.prices.cost_of_all(),
    }


def _decide_rows(offer: Offer, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not rows:
        return []
    policy = offer.policy
    columns: dict[str, Any] = {}
    for test in policy.tests:
        column = np.empty(len(rows), dtype=object)
        column[:] = [row.get(test.name) for row in rows]
        columns[test.name] = column
    decisions, costs = policy.predict(columns), policy.cost(columns)
    return [
        {"decision": decision, "cost": cost}
        for decision, cost in zip(decisions.tolist(), costs.tolist(), strict=True)
    ]
