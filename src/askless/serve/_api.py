"""The service for programs: what next, sessions, rows, and what there is.

It turns requests into calls and results into JSON. It must not know how a policy works
or where events are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from askless.exceptions import InvalidAnswerError
from askless.run import Interview
from askless.serve._asker import Asker, describe_policy
from askless.serve._bodies import (
    AnswerBody,
    BeginBody,
    DecideBody,
    NextBody,
    StepBody,
    read_body,
)
from askless.serve._limits import Limits
from askless.serve._metrics import Metrics
from askless.serve._respond import guarded, to_response
from askless.serve._steps import explain
from askless.serve._work import Paces, Workers
from askless.serve.kept._library import Library, Offer
from askless.serve.kept._sessions import Live, Sessions, to_request
from askless.serve.kept._store import Repeat

__all__ = ["Api"]

MAX_KEY = 200


class Api:
    """The routes under ``/v1``.

    Parameters
    ----------
    library : Library
    sessions : Sessions
    metrics : Metrics
    limits : Limits
    """

    def __init__(
        self, library: Library, sessions: Sessions, metrics: Metrics, limits: Limits
    ) -> None:
        self.library, self.sessions, self.metrics = library, sessions, metrics
        self.limits = limits
        self.workers, self.paces = Workers(limits.n_workers), Paces()
        self.asker = Asker(library)

    def routes(self) -> list[Route]:
        """Return what is served where."""
        gets = {
            "/v1/policies": self.list_policies,
            "/v1/policies/{name}": self.show_policy,
            "/v1/sessions/{id}": self.show_session,
            "/v1/sessions/{id}/log": self.show_log,
        }
        posts = {
            **{
                f"/v1/sessions/{{id}}/{act}": self._step(act)
                for act in ("answer", "skip", "unsure", "undo")
            },
            "/v1/policies/{name}/next": self.next,
            "/v1/policies/{name}/decide": self.decide,
            "/v1/sessions": self.begin,
        }
        return [
            *[Route(p, guarded(h), methods=["POST"]) for p, h in posts.items()],
            *[Route(p, guarded(h), methods=["GET"]) for p, h in gets.items()],
        ]

    # Policies.

    async def list_policies(self, request: Request) -> Any:
        """Return what is offered."""
        return {"policies": self.asker.list()}

    async def show_policy(self, request: Request) -> Any:
        """Return one policy: its tests, prices and classes."""
        return describe_policy(self.find(request.path_params["name"]))

    async def next(self, request: Request) -> Any:
        """Return what to ask after some answers."""
        offer = self.find(request.path_params["name"])
        body = read_body(await request.body(), NextBody)
        answers = [answer.to_entry() for answer in body.answers]

        def work() -> dict[str, Any]:
            return self.asker.next(offer, answers, body.include)

        return await self.run(offer, work, body.include)

    async def decide(self, request: Request) -> Any:
        """Return the decision and the cost of each row."""
        offer = self.find(request.path_params["name"])
        body = read_body(await request.body(), DecideBody)
        decided = await self.workers.run(
            lambda: self.asker.decide(offer, body.rows),
            seconds=self.limits.decide_seconds,
        )
        return {"policy": offer.name, "version": offer.digest, "rows": decided}

    # Sessions.

    async def begin(self, request: Request) -> Any:
        """Begin a session."""
        body = read_body(await request.body(), BeginBody)
        offer = self.find(body.policy)
        owner = request.scope["askless_owner"]

        def work() -> dict[str, Any]:
            return self._describe(self.sessions.begin(offer, owner), body.include)

        return to_response(await self.run(offer, work, body.include), 201)

    async def show_session(self, request: Request) -> Any:
        """Return where a session stands."""
        live = self.session(request)
        include = request.query_params.getlist("include")
        return await self.run(
            live.offer, lambda: self._describe(live, include), include
        )

    async def show_log(self, request: Request) -> Any:
        """Return every event of a session."""
        live = self.session(request)
        return {
            "session": live.id,
            "policy": live.offer.name,
            "version": live.offer.digest,
            "events": self.sessions.store.log(live.id),
        }

    def _step(self, act: str) -> Callable[[Request], Any]:
        kind = AnswerBody if act == "answer" else StepBody

        async def step(request: Request) -> Any:
            body = read_body(await request.body(), kind)
            live = self.session(request, is_read=False)
            key = request.headers.get("idempotency-key")

            def work() -> dict[str, Any]:
                with live.lock:
                    done = self.change(live, act, body, key)
                    return self._describe(done, body.include)

            return await self.run(live.offer, work, body.include)

        return step

    def change(self, live: Live, act: str, body: Any, key: str | None) -> Live:
        """Make one step of a session, and count it."""
        outcome = getattr(body, "outcome", None)
        named = getattr(body, "test", None)
        repeat = None if key is None else _to_repeat(key, act, outcome)

        def do(interview: Interview) -> None:
            asked = interview.session.test
            if named is not None and named != asked:
                raise InvalidAnswerError(
                    f"The answer must be of the next test, {asked!r}. Got {named!r}. "
                    "Ask where the session stands."
                )
            if act == "answer":
                interview.answer(outcome)
            else:
                getattr(interview, act)()

        with live.lock:
            step, spent = live.step, live.interview.session.spent
            was_over = live.interview.is_over
            done = self.sessions.change(
                live.id, do, owner=live.owner, step=body.step, repeat=repeat
            )
            if done.step > step:
                self._count(done, spent, was_over)
        return done

    def _count(self, live: Live, before: float, was_over: bool) -> None:
        session, name = live.interview.session, live.offer.name
        self.metrics.count_step(name, paid=max(0.0, session.spent - before))
        if live.interview.is_over and not was_over:
            saved = live.offer.policy.prices.cost_of_all() - session.spent
            self.metrics.count_decision(name, saved=max(0.0, saved))

    # What all routes share.

    def find(self, name: str) -> Offer:
        """Return the policy that ``name`` or ``name@version`` stands for."""
        return self.asker.find(name)

    def session(self, request: Request, *, is_read: bool = True) -> Live:
        """Return the session that a request is about."""
        owner = request.scope["askless_owner"]
        return self.sessions.find(request.path_params["id"], owner, is_read=is_read)

    def _describe(self, live: Live, include: Any) -> dict[str, Any]:
        with live.lock:
            return {
                "session": live.id,
                "policy": live.offer.name,
                "version": live.offer.digest,
                "step": live.step,
                **explain(live.interview, include),
            }

    async def run(self, offer: Offer, work: Callable[[], Any], include: Any) -> Any:
        """Do quick work here; what may take longer must not hold up other sessions."""
        if include:
            # Looking ahead takes as long as it takes.
            return await self.workers.run(work, seconds=self.limits.step_seconds)

        def timed() -> Any:
            # By its own work: a busy machine makes no policy slow.
            started = time.thread_time()
            try:
                return work()
            finally:
                self.paces.note(offer.digest, time.thread_time() - started)

        is_quick = offer.is_quick or self.paces.is_quick(offer.digest)
        return await self.workers.run(
            timed, seconds=self.limits.step_seconds, is_quick=is_quick
        )


def _to_repeat(key: str, act: str, outcome: object) -> Repeat:
    if not 1 <= len(key) <= MAX_KEY:
        raise InvalidAnswerError(
            f"A key against repetition must have 1 to {MAX_KEY} characters. Got "
            f"{len(key)}. Send another one."
        )
    return Repeat(key, to_request(act, {"outcome": outcome}))
