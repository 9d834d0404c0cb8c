"""The pages for people: a list of policies, and interviews as plain forms.

Every page works without scripts; a script only makes it quicker to use. It reads forms,
and must not know how policies work.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askless.exceptions import AsklessError, InvalidAnswerError, UnknownNameError
from askless.run import Interview
from askless.run._reply import find_outcome
from askless.serve._api import Api
from askless.serve._bodies import AnswerBody, StepBody
from askless.serve._guard import COOKIE
from askless.serve._respond import EXPLAINED, explain_error
from askless.serve.kept._keys import Keys
from askless.serve.kept._library import Offer
from askless.serve.kept._sessions import Live, StaleStep
from askless.serve.pages._draw import draw_decision, draw_question
from askless.serve.pages._html import Element, element
from askless.serve.pages._say import Say, alert, respond, respond_error
from askless.serve.pages._studio_page import draw_studio

__all__ = ["Pages"]


class Pages:
    """The routes that people open.

    Parameters
    ----------
    api : Api
        What does the work.
    keys : Keys or None
        Who is let in.
    """

    def __init__(self, api: Api, keys: Keys | None) -> None:
        self.api, self.keys = api, keys

    def routes(self) -> list[Route]:
        """Return what is served where."""
        return [
            Route("/", self.list_policies),
            Route("/login", self.login, methods=["GET", "POST"]),
            Route("/studio", self.show_studio),
            Route("/ask/{name}", self.begin, methods=["GET", "POST"]),
            Route("/case/{id}", self.show_case, methods=["GET"]),
            Route("/case/{id}", self.step_case, methods=["POST"]),
        ]

    # The start page.

    async def list_policies(self, request: Request) -> Response:
        """List what can be asked."""
        say = Say(request)
        self.api.library.refresh()
        cards = [_card(say, offer) for offer in self.api.library.offers()]
        if not cards:
            cards = [element("p", say("no policies"), class_="empty")]
        return respond(
            say,
            say("title"),
            element("h1", say("policies")),
            element("div", *cards, class_="cards"),
            element("p", element("a", say("to studio"), href=f"/studio{say.query}")),
        )

    async def login(self, request: Request) -> Response:
        """Take a key, and remember it in a cookie that scripts cannot read."""
        say = Say(request)
        problem = None
        if request.method == "POST" and self.keys is not None:
            form = await request.form(max_files=0, max_fields=5)
            key = str(form.get("key", ""))
            if self.keys.owner_of(key) is not None:
                response = RedirectResponse(f"/{say.query}", 303)
                is_secure = request.url.scheme == "https"
                response.set_cookie(
                    COOKIE, key, httponly=True, samesite="strict", secure=is_secure
                )
                return response
            problem = say("wrong key")
        field = element("input", type="password", name="key", required=True)
        form_ = element(
            "form",
            element("label", say("key"), field),
            element("button", say("enter"), class_="main"),
            method="post",
            class_="entry",
        )
        heading = element("h1", say("enter"))
        status = 401 if problem else 200
        return respond(say, say("title"), heading, alert(problem), form_, status=status)

    async def show_studio(self, request: Request) -> Response:
        """Show where tables are solved."""
        say = Say(request)
        return respond(say, say("studio"), *draw_studio(say), script="studio")

    # Interviews.

    async def begin(self, request: Request) -> Response:
        """Begin an interview; a link to this page begins one too, by its button."""
        say = Say(request)
        try:
            offer = self.api.find(request.path_params["name"])
            if request.method == "GET":
                return respond(say, offer.name, _card(say, offer, heading="h1"))
            owner = request.scope["askless_owner"]
            live = await self.api.workers.run(
                lambda: self.api.sessions.begin(offer, owner)
            )
        except EXPLAINED as error:
            status, said = explain_error(error)
            return respond_error(say, said["error"], status)
        return RedirectResponse(f"/case/{live.id}{say.query}", 303)

    async def show_case(self, request: Request) -> Response:
        """Show the next question, or the decision."""
        say = Say(request)
        try:
            live = self.api.session(request)
        except UnknownNameError:
            return respond_error(say, say("not found"), 404)
        told = say("stale") if request.query_params.get("stale") else None
        has_why = request.query_params.get("why") == "1"
        return await self._show(say, live, told, has_why=has_why)

    async def step_case(self, request: Request) -> Response:
        """Take what a form says, and show what is next."""
        say = Say(request)
        form = await request.form(max_files=0, max_fields=10)
        try:
            live = self.api.session(request)
        except UnknownNameError:
            return respond_error(say, say("not found"), 404)
        try:
            await self.api.workers.run(
                lambda: self._step(live, form), seconds=self.api.limits.step_seconds
            )
        except StaleStep:
            return RedirectResponse(f"/case/{live.id}{say.with_('stale', '1')}", 303)
        except AsklessError as error:
            typed = str(form.get("outcome", "")).strip()
            told = _explain(say, live.interview, error, typed)
            return await self._show(say, live, told, status=422, typed=typed)
        return RedirectResponse(f"/case/{live.id}{say.query}", 303)

    def _step(self, live: Live, form: Any) -> None:
        with live.lock:
            # The same click twice is one answer, whatever has come of it meanwhile.
            parts = [str(form.get(part, "")) for part in ("step", "act", "outcome")]
            key = "form " + " ".join(parts)[:150]
            if live.step and _whole(parts[0]) != live.step:
                done = self.api.sessions.store.request_of(live.id, key)
                if done is not None:
                    return
            act, body = _read_form(live.interview, form)
            self.api.change(live, act, body, key)

    async def _show(
        self,
        say: Say,
        live: Live,
        told: str | None,
        *,
        status: int = 200,
        has_why: bool = False,
        typed: str = "",
    ) -> Response:
        def draw() -> list[object]:
            with live.lock:
                if live.interview.is_over:
                    return draw_decision(say, live)
                return draw_question(say, live, has_why=has_why, typed=typed)

        parts = await self.api.workers.run(draw)
        # A page that was sent by a form is at the address of the case, too.
        title = f"{live.offer.name} – {say('title')}"
        return respond(say, title, alert(told), *parts, status=status)


def _card(say: Say, offer: Offer, *, heading: str = "h2") -> Element:
    policy = offer.policy
    facts = [say("tests", n=len(policy.tests))]
    if policy.classes:
        facts.append(say("decisions", n=len(policy.classes)))
    cost = say("all costs", cost=say.amount(policy.prices.cost_of_all()))
    return element(
        "form",
        element(heading, offer.name),
        element("p", ", ".join(facts), element("br"), cost),
        element(
            "button",
            say("begin"),
            class_="main",
            aria_label=f"{say('begin')}: {offer.name}",
        ),
        method="post",
        action=f"/ask/{quote(offer.name)}{say.query}",
        class_="card",
    )


def _explain(say: Say, interview: Interview, error: AsklessError, typed: str) -> str:
    """Return what is wrong with an answer that was typed."""
    name = interview.session.test
    if not isinstance(error, InvalidAnswerError) or name is None:
        return str(error)
    test = interview.session.policy.test_by_name[name]
    if not typed:
        return say("no answer")
    if test.kind != "number":
        return str(error)
    example = say.amount(test.cuts[0] if test.cuts else 1.0)
    return say("not a number", example=example, typed=typed[:40])


def _read_form(interview: Interview, form: Any) -> tuple[str, Any]:
    """Return what a form asks for: an act and its body."""
    step = _whole(str(form.get("step", "")))
    act = str(form.get("act", "answer"))
    if act in ("skip", "unsure", "undo"):
        return act, StepBody(step=step)
    name = interview.session.test
    if name is None:
        raise StaleStep("the interview is over")
    typed = str(form.get("outcome", "")).strip()
    if not typed:
        raise InvalidAnswerError(
            f"The test {name!r} must get an answer. Got nothing. Choose one, or skip "
            "the test."
        )
    test = interview.session.policy.test_by_name[name]
    if test.kind == "category" and str(form.get("by", "")) == "position":
        position = _whole(typed)
        if position is None or position >= len(test.outcomes):
            raise StaleStep("the answer is of another question")
        return "answer", AnswerBody(outcome=test.outcomes[position], step=step)
    if test.kind == "number":
        # A comma is a point to many people.
        typed = typed.replace(",", ".", 1)
    return "answer", AnswerBody(outcome=find_outcome(test, typed), step=step)


def _whole(typed: str) -> int | None:
    is_whole = typed.isascii() and typed.isdigit() and len(typed) < 9
    return int(typed) if is_whole else None
