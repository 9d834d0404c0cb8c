"""The pages for people: a list of policies, and interviews as plain forms.

Every page works without scripts; a script only makes it quicker to use. It shows what
:mod:`askless.serve._steps` says, and must not know how policies work.
"""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from askless.exceptions import AsklessError, InvalidAnswerError, UnknownNameError
from askless.run import Interview
from askless.run._reply import find_outcome
from askless.serve._api import Api
from askless.serve._bodies import AnswerBody, StepBody
from askless.serve._guard import COOKIE
from askless.serve._html import Element, element, page
from askless.serve._keys import Keys
from askless.serve._sessions import Live, StaleStep
from askless.serve._steps import collect, describe_test, explain
from askless.serve._texts import LANGUAGES, choose_language, text

__all__ = ["Pages"]

# So many answers get a button each; more become a list to choose from.
MAX_BUTTONS = 12


def amount(value: float) -> str:
    """Return an amount for people.

    Examples
    --------
    >>> amount(3.0), amount(2.5), amount(1234567.0)
    ('3', '2.5', '1,234,567')
    """
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.4g}"


def percent(share: float) -> str:
    """Return a share for people; only what is certain is 100 %.

    Examples
    --------
    >>> percent(1.0), percent(0.99999), percent(0.25)
    ('100 %', '> 99.9 %', '25 %')
    """
    if share > 0.999 and share < 1:
        return "> 99.9 %"
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.3g} %"


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
            Route("/ask/{name}", self.begin, methods=["GET", "POST"]),
            Route("/case/{id}", self.show_case, methods=["GET"]),
            Route("/case/{id}", self.step_case, methods=["POST"]),
        ]

    # The start page.

    async def list_policies(self, request: Request) -> Response:
        """List what can be asked."""
        say = _Say(request)
        self.api.library.refresh()
        offers = self.api.library.offers()
        cards = [self._card(say, offer) for offer in offers]
        if not cards:
            cards = [element("p", say("no policies"))]
        return _respond(
            say,
            say("title"),
            element("h1", say("policies")),
            element("div", *cards, class_="cards"),
        )

    def _card(self, say: _Say, offer: Any) -> Element:
        policy = offer.policy
        facts = [say("tests", n=len(policy.tests))]
        if not policy.answers_number:
            facts.append(say("decisions", n=len(policy.classes)))
        facts.append(say("all costs", cost=amount(policy.prices.cost_of_all())))
        return element(
            "form",
            element("h2", offer.name),
            element("p", ", ".join(facts)),
            element("button", say("begin"), class_="main"),
            method="post",
            action=f"/ask/{quote(offer.name)}{say.query}",
            class_="card",
        )

    async def login(self, request: Request) -> Response:
        """Take a key, and remember it in a cookie that scripts cannot read."""
        say = _Say(request)
        problem = None
        if request.method == "POST" and self.keys is not None:
            form = await request.form(max_files=0, max_fields=5)
            key = str(form.get("key", ""))
            if self.keys.owner_of(key) is not None:
                response = RedirectResponse(f"/{say.query}", 303)
                response.set_cookie(
                    COOKIE,
                    key,
                    httponly=True,
                    samesite="strict",
                    secure=request.url.scheme == "https",
                )
                return response
            problem = say("wrong key")
        field = element(
            "label",
            say("key"),
            element("input", type="password", name="key", required=True),
        )
        form_ = element(
            "form", field, element("button", say("enter"), class_="main"), method="post"
        )
        return _respond(
            say,
            say("title"),
            element("h1", say("title")),
            _alert(problem),
            form_,
            status=401 if problem else 200,
        )

    # Interviews.

    async def begin(self, request: Request) -> Response:
        """Begin an interview; a link to this page begins one too, by its button."""
        say = _Say(request)
        try:
            offer = self.api.find(request.path_params["name"])
        except UnknownNameError as error:
            return _respond_error(say, str(error), 404)
        if request.method == "GET":
            card = self._card(say, offer)
            return _respond(say, offer.name, element("div", card, class_="cards"))
        if not _is_own_form(request):
            return _respond_error(say, say("not found"), 403)
        live = self.api.sessions.begin(offer, request.scope["askless_owner"])
        return RedirectResponse(f"/case/{live.id}{say.query}", 303)

    async def show_case(self, request: Request) -> Response:
        """Show the next question, or the decision."""
        say = _Say(request)
        try:
            live = self._live(request)
        except UnknownNameError:
            return _respond_error(say, say("not found"), 404)
        told = say("stale") if request.query_params.get("stale") else None
        return await self._show(say, live, told)

    async def step_case(self, request: Request) -> Response:
        """Take what a form says, and show what is next."""
        say = _Say(request)
        if not _is_own_form(request):
            return _respond_error(say, say("not found"), 403)
        form = await request.form(max_files=0, max_fields=10)
        try:
            live = self._live(request)
            act, body = _read_form(live.interview, form)
            owner = request.scope["askless_owner"]
            await anyio.to_thread.run_sync(
                self.api.change, live, owner, act, body, None
            )
        except UnknownNameError:
            return _respond_error(say, say("not found"), 404)
        except StaleStep:
            return RedirectResponse(f"/case/{live.id}{say.with_('stale', '1')}", 303)
        except AsklessError as error:
            return await self._show(say, live, str(error), status=422)
        return RedirectResponse(f"/case/{live.id}{say.query}", 303)

    def _live(self, request: Request) -> Live:
        return self.api.sessions.find(
            request.path_params["id"], request.scope["askless_owner"]
        )

    async def _show(
        self, say: _Say, live: Live, told: str | None, status: int = 200
    ) -> Response:
        draw = _decision if live.interview.is_over else _question
        parts = await anyio.to_thread.run_sync(draw, say, live)
        title = f"{live.offer.name} – {say('title')}"
        return _respond(say, title, _alert(told), *parts, status=status)


class _Say:
    """Texts in the language of a request."""

    def __init__(self, request: Request) -> None:
        asked = request.query_params.get("lang")
        accepted = request.headers.get("accept-language", "")
        self.language = choose_language(asked, accepted)
        self.path = request.url.path
        # Kept in addresses, so that it stays as one goes on.
        self.query = f"?lang={asked}" if asked in LANGUAGES else ""

    def __call__(self, name: str, **values: object) -> str:
        return text(self.language, name, **values)

    def with_(self, name: str, value: str) -> str:
        """Return the query with one more part."""
        return f"{self.query}{'&' if self.query else '?'}{name}={value}"


def _respond(say: _Say, title: str, *content: object, status: int = 200) -> Response:
    languages = [
        element(
            "a",
            name,
            href=f"{say.path}?lang={code}",
            lang=code,
            aria_current="true" if code == say.language else None,
        )
        for code, name in LANGUAGES.items()
    ]
    header = element(
        "header",
        element("a", say("title"), href=f"/{say.query}", class_="brand"),
        element("span", say("tagline"), class_="tagline"),
        element("nav", *languages, aria_label=say("language")),
    )
    shown = page(say.language, title, header, element("main", *content))
    return HTMLResponse(shown, status)


def _respond_error(say: _Say, problem: str, status: int) -> Response:
    return _respond(
        say, say("error"), element("h1", say("error")), _alert(problem), status=status
    )


def _alert(told: str | None) -> Element | None:
    return None if told is None else element("p", told, role="alert", class_="alert")


def _is_own_form(request: Request) -> bool:
    """Return whether a form was sent from a page of this service."""
    origin = request.headers.get("origin")
    if origin in (None, "null"):
        # A browser that does not say; where keys are used, the cookie is same-site.
        return request.headers.get("sec-fetch-site", "same-origin") in (
            "same-origin",
            "none",
        )
    return origin.split("://")[-1] == request.headers.get("host")


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
    outcome = find_outcome(
        test, typed.replace(",", ".", 1) if test.kind == "number" else typed
    )
    return "answer", AnswerBody(outcome=outcome, step=step)


def _whole(typed: str) -> int | None:
    return (
        int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 9 else None
    )


# What is drawn.


def _form(say: _Say, live: Live, *content: object, **attributes: Any) -> Element:
    hidden = element("input", type="hidden", name="step", value=live.step)
    return element(
        "form",
        hidden,
        *content,
        method="post",
        action=f"/case/{quote(live.id)}{say.query}",
        **attributes,
    )


def _question(say: _Say, live: Live) -> list[object]:
    interview = live.interview
    session = interview.session
    test = describe_test(interview)
    number = len({entry["test"] for entry in session.log}) + 1
    price = _price_text(say, test)
    together = test["bought_together"]
    ways = _form(
        say,
        live,
        element(
            "button",
            say("unsure"),
            name="act",
            value="unsure",
            title=say("unsure help"),
        ),
        element(
            "button", say("skip"), name="act", value="skip", title=say("skip help")
        ),
        element("button", say("back"), name="act", value="undo", formnovalidate=True)
        if session.log
        else None,
        class_="ways",
    )
    return [
        element("p", say("question", n=number), class_="number"),
        element("h1", test["name"], id="question"),
        element("p", price, class_="price"),
        element("p", say("together", names=", ".join(together))) if together else None,
        _answers(say, live, test),
        ways,
        _why(say, interview),
        _standing(say, interview),
    ]


def _price_text(say: _Say, test: dict[str, Any]) -> str:
    price, most = test["price"], test["price_at_most"]
    if most == 0:
        return say("free")
    if most > price:
        return say("price at most", price=amount(price), most=amount(most))
    return say("price", price=amount(price))


def _answers(say: _Say, live: Live, test: dict[str, Any]) -> Element:
    if test["kind"] == "category":
        outcomes = list(enumerate(test["outcomes"]))
        by = element("input", type="hidden", name="by", value="position")
        if len(outcomes) <= MAX_BUTTONS:
            choices = [
                element("button", outcome, name="outcome", value=i, class_="choice")
                for i, outcome in outcomes
            ]
            return _form(
                say, live, by, *choices, class_="choices", aria_labelledby="question"
            )
        options = [element("option", outcome, value=i) for i, outcome in outcomes]
        field = element("select", *options, name="outcome", aria_labelledby="question")
        return _form(
            say,
            live,
            by,
            field,
            element("button", say("answer"), class_="main"),
            class_="entry",
        )
    unit, compared = test["unit"], test["compared"]
    label = say("number in", unit=unit) if unit else say("number")
    hint = None
    if compared:
        low, high = amount(compared["from"]), amount(compared["to"])
        hint = element("small", say("compared", low=low, high=high), id="hint")
    field = element(
        "input",
        type="text",
        inputmode="decimal",
        name="outcome",
        required=True,
        autocomplete="off",
        autofocus=True,
        aria_describedby="hint" if hint else None,
    )
    return _form(
        say,
        live,
        element("label", label, field),
        hint,
        element("button", say("answer"), class_="main"),
        class_="entry",
    )


def _why(say: _Say, interview: Interview) -> Element:
    told = explain(interview, ["why", "branches"])
    rows = []
    for branch in told["branches"]:
        next_ = (
            say("then", test=branch["test"])
            if branch["test"] is not None
            else say("then decided", decision=branch["decision"])
        )
        share = "" if branch["share"] is None else percent(branch["share"])
        rows.append(
            element(
                "tr",
                element("th", branch["label"], scope="row"),
                element("td", share),
                element("td", next_),
            )
        )
    table = (
        element("table", element("caption", say("what if")), *rows) if rows else None
    )
    return element(
        "details",
        element("summary", say("why")),
        element("p", told["why"]),
        table,
        class_="why",
    )


def _standing(say: _Say, interview: Interview) -> Element:
    session = interview.session
    likely = collect(interview)[:5]
    rows = [
        element(
            "li",
            element("span", each["decision"]),
            element(
                "meter",
                value=f"{each['share']:.4f}",
                min=0,
                max=1,
                aria_label=str(each["decision"]),
            ),
            element("span", percent(each["share"])),
        )
        for each in likely
    ]
    return element(
        "aside",
        element("p", element("b", f"{say('spent')}: "), amount(session.spent)),
        element("h2", say("likely")) if rows else None,
        element("ul", *rows, class_="likely") if rows else None,
        class_="standing",
    )


def _decision(say: _Say, live: Live) -> list[object]:
    interview = live.interview
    session = interview.session
    told = explain(interview)
    saved = told["cost_of_all"] - session.spent
    notes: list[object] = []
    if told["contradictions"]:
        names = ", ".join(told["contradictions"])
        notes.append(_alert(say("contradiction", names=names)))
    elif told["certainty"] is not None:
        share = told["certainty"]
        said = say("certain") if share == 1 else say("certainty", share=percent(share))
        notes.append(element("p", said))
    rows = [
        element(
            "tr",
            element("th", entry["test"], scope="row"),
            element(
                "td",
                say("not answered") if entry.get("skipped") else entry.get("outcome"),
            ),
            element("td", amount(entry.get("paid", 0.0))),
        )
        for entry in session.log
    ]
    return [
        element("p", say("decision"), class_="number"),
        element("h1", told["decision"], class_="decision"),
        *notes,
        element(
            "p",
            element("b", f"{say('spent')}: "),
            amount(session.spent),
            ". ",
            element("b", f"{say('saved')}: "),
            amount(saved),
            ".",
        ),
        element("table", element("caption", say("path")), *rows, class_="path"),
        _form(
            say,
            live,
            element("button", say("back"), name="act", value="undo"),
            class_="ways",
        )
        if session.log
        else None,
        element(
            "p",
            element(
                "a", say("again"), href=f"/ask/{quote(live.offer.name)}{say.query}"
            ),
            " ",
            element("a", say("log"), href=f"/v1/sessions/{quote(live.id)}/log"),
            class_="links",
        ),
    ]
