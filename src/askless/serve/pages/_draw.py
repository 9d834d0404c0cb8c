"""What an interview page shows: the next question, or the decision.

It draws what :mod:`askless.serve._steps` says. It must not know how a form is read.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from askless.run import Interview, Session
from askless.run._evidence import find_stop
from askless.serve._steps import collect, describe_test, explain
from askless.serve.kept._sessions import Live
from askless.serve.pages._html import Element, element
from askless.serve.pages._say import Say, alert

__all__ = ["draw_decision", "draw_question"]

# So many answers get a button each; more become a list to choose from.
MAX_BUTTONS = 12
# Likely decisions that are shown.
MAX_LIKELY = 5


def draw_question(
    say: Say, live: Live, *, has_why: bool, typed: str = ""
) -> list[object]:
    """Return the parts of a page that asks the next question.

    Parameters
    ----------
    say : Say
    live : Live
    has_why : bool
        Whether to tell why it is asked.
    typed : str
        What was typed before and could not be read, to be mended.
    """
    interview = live.interview
    test = describe_test(interview)
    number = len({entry["test"] for entry in interview.session.log}) + 1
    together = test["bought_together"]
    names = ", ".join(together)
    return [
        element("p", say("question", n=number), class_="number"),
        element("h1", test["name"], id="question", dir="auto"),
        element("p", _price_text(say, test), class_="price"),
        element("p", say("together", names=names)) if together else None,
        _answers(say, live, test, typed),
        _other_ways(say, live),
        _why(say, interview) if has_why else _why_link(say),
        _oddity(say, interview.session),
        _standing(say, interview),
    ]


def _form(say: Say, live: Live, *content: object, **attributes: Any) -> Element:
    hidden = element("input", type="hidden", name="step", value=live.step)
    return element(
        "form",
        hidden,
        *content,
        method="post",
        action=f"/case/{quote(live.id)}{say.query}",
        **attributes,
    )


def _price_text(say: Say, test: dict[str, Any]) -> str:
    price, most = test["price"], test["price_at_most"]
    if most == 0:
        return say("free")
    if most > price:
        return say("price at most", price=say.amount(price), most=say.amount(most))
    return say("price", price=say.amount(price))


def _answers(say: Say, live: Live, test: dict[str, Any], typed: str) -> Element:
    if test["kind"] != "category":
        return _number_field(say, live, test, typed)
    outcomes = list(enumerate(test["outcomes"]))
    by = element("input", type="hidden", name="by", value="position")
    if len(outcomes) <= MAX_BUTTONS:
        choices = [
            element(
                "button", outcome, name="outcome", value=i, class_="choice", dir="auto"
            )
            for i, outcome in outcomes
        ]
        return _form(
            say, live, by, *choices, class_="choices", aria_labelledby="question"
        )
    options = [element("option", outcome, value=i) for i, outcome in outcomes]
    field = element("select", *options, name="outcome", aria_labelledby="question")
    button = element("button", say("answer"), class_="main")
    return _form(say, live, by, field, button, class_="entry")


def _number_field(say: Say, live: Live, test: dict[str, Any], typed: str) -> Element:
    unit, compared = test["unit"], test["compared"]
    label = say("number in", unit=unit) if unit else say("number")
    hint = None
    if compared:
        low, high = say.amount(compared["from"]), say.amount(compared["to"])
        hint = element("small", say("compared", low=low, high=high), id="hint")
    field = element(
        "input",
        type="text",
        inputmode="decimal",
        name="outcome",
        required=True,
        autocomplete="off",
        autofocus=True,
        value=typed or None,
        aria_invalid="true" if typed else None,
        aria_describedby="question hint" if hint else "question",
    )
    button = element("button", say("answer"), class_="main")
    return _form(
        say, live, element("label", label, field), hint, button, class_="entry"
    )


def _other_ways(say: Say, live: Live) -> Element:
    def way(act: str, text: str) -> Element:
        return element("button", say(text), name="act", value=act, formnovalidate=True)

    helps = [
        element("dt", say(name)) + element("dd", say(f"{name} help"))
        for name in ("unsure", "skip")
    ]
    ways = _form(
        say,
        live,
        way("unsure", "unsure"),
        way("skip", "skip"),
        way("undo", "back") if live.interview.session.log else None,
        class_="ways",
    )
    told = element(
        "details",
        element("summary", say("ways help")),
        element("dl", *[Element(each) for each in helps]),
    )
    return Element(ways + told)


def _why_link(say: Say) -> Element:
    href = f"{say.path}{say.with_('why', '1')}#why"
    return element("p", element("a", say("why"), href=href), class_="why")


def _why(say: Say, interview: Interview) -> Element:
    told = explain(interview, ["branches"])
    rows = [_branch_row(say, branch) for branch in told["branches"]]
    heads = _heads(say, "if", "share", "what then")
    table = (
        element(
            "table",
            element("caption", say("what if")),
            element("thead", element("tr", *heads)),
            element("tbody", *rows),
        )
        if rows
        else None
    )
    return element(
        "section",
        element("h2", say("why"), id="why"),
        element("p", _reason(say, interview, told["test"])),
        table,
        aria_labelledby="why",
    )


def _heads(say: Say, *names: str) -> list[Element]:
    return [
        element(
            "th",
            say(name),
            scope="col",
            class_="figure" if name in ("share", "paid") else None,
        )
        for name in names
    ]


def _reason(say: Say, interview: Interview, test: dict[str, Any]) -> str:
    likely = collect(interview)
    price = _price_text(say, test)
    if not likely:
        return say("reason number", price=price)
    return say(
        "reason",
        price=price,
        n=len([s for s in interview.session.probabilities.values() if s > 0]),
        decision=likely[0]["decision"],
        share=say.percent(likely[0]["share"]),
    )


def _branch_row(say: Say, branch: dict[str, Any]) -> Element:
    then = (
        say("then", test=branch["test"])
        if branch["test"] is not None
        else say("then decided", decision=_written(say, branch["decision"]))
    )
    if branch["taken_as"] is not None:
        then = f"{say('taken as', outcome=branch['taken_as'])} {then}"
    share = "" if branch["share"] is None else say.percent(branch["share"])
    return element(
        "tr",
        element("th", branch["label"], scope="row", dir="auto"),
        element("td", share, class_="figure"),
        element("td", then),
    )


def _standing(say: Say, interview: Interview) -> Element:
    session = interview.session
    rows = _likely_rows(say, interview)
    spent, left = say.amount(session.spent), say.amount(session.left_at_worst)
    money = element("b", f"{say('spent')}: ")
    return element(
        "section",
        element("p", money, spent, ". ", say("left", cost=left)),
        element("h2", say("likely")) if rows else None,
        element("ul", *rows, class_="likely") if rows else None,
        class_="standing",
        aria_label=say("standing"),
    )


def _likely_rows(say: Say, interview: Interview) -> list[Element]:
    likely = collect(interview)[:MAX_LIKELY]
    if not likely:
        return []
    n_possible = sum(s > 0 for s in interview.session.probabilities.values())
    if n_possible > len(likely):
        others = say("others", n=n_possible - len(likely))
        share = max(0.0, 1 - sum(each["share"] for each in likely))
        likely = [*likely, {"decision": others, "share": share}]
    return [_likely_row(say, each) for each in likely]


def _likely_row(say: Say, each: dict[str, Any]) -> Element:
    bar = element(
        "meter",
        value=f"{each['share']:.4f}",
        min=0,
        max=1,
        aria_label=str(each["decision"]),
    )
    return element(
        "li",
        element("span", each["decision"], dir="auto"),
        bar,
        element("span", say.percent(each["share"]), class_="figure"),
    )


def draw_decision(say: Say, live: Live) -> list[object]:
    """Return the parts of a page that says what is decided."""
    session = live.interview.session
    told = explain(live.interview)
    again = f"/ask/{quote(live.offer.name)}{say.query}"
    back = element("button", say("back"), name="act", value="undo")
    return [
        element("p", say("decision"), class_="number"),
        element("h1", _written(say, told["decision"]), class_="decision", dir="auto"),
        _certainty(say, session, told),
        _stop(say, session, told),
        _oddity(say, session),
        *_likely_list(say, live.interview, told),
        element(
            "p",
            element("b", f"{say('spent')}: "),
            say.amount(session.spent),
            ". ",
            element("b", f"{say('saved')}: "),
            say.amount(max(0.0, told["cost_of_all"] - session.spent)),
            ".",
        ),
        _path(say, session.log) if session.log else None,
        _form(say, live, back, class_="ways") if session.log else None,
        element(
            "p",
            element("a", say("again"), href=again),
            element("a", say("log"), href=f"/v1/sessions/{quote(live.id)}/log"),
            class_="links",
            data_print=say("print"),
        ),
    ]


def _written(say: Say, value: object) -> str:
    return say.amount(value) if isinstance(value, float) else str(value)


def _certainty(say: Say, session: Session, told: dict[str, Any]) -> Element | None:
    if told["contradictions"]:
        names = ", ".join(told["recheck"] or told["contradictions"])
        return alert(say("contradiction", names=names))
    share = told["certainty"]
    if share is None:
        return None
    if share == 1:
        # What is unlikely under every case is not called certain.
        return None if _is_odd(session) else element("p", say("certain"))
    return element("p", say("certainty", share=say.percent(share)))


def _stop(say: Say, session: Session, told: dict[str, Any]) -> Element | None:
    """Say why nothing more is asked, though a mistake is possible and has a price."""
    mistake = session.mistake_now
    if mistake is None or not mistake > 0 or told["contradictions"]:
        return None
    why = find_stop(session.policy, session.bought)
    return element("p", say(f"stop {why}", cost=say.amount(mistake)), class_="stop")


def _is_odd(session: Session) -> bool:
    oddity = session.oddity
    return oddity is not None and oddity.is_rare


def _oddity(say: Say, session: Session) -> Element | None:
    """Say that the answers are unlikely whatever is true, and how unlikely."""
    oddity = session.oddity
    if oddity is None or not _is_odd(session):
        return None
    odd = say.amount(oddity.one_in) if oddity.one_in else say("very many")
    return alert(
        say(
            "unlikely",
            best=oddity.best,
            chance=say.percent(oddity.chance),
            usual=say.percent(oddity.usual),
            odd=odd,
        )
    )


def _likely_list(say: Say, interview: Interview, told: dict[str, Any]) -> list[Element]:
    """List how likely each decision is, where more than one still is."""
    if told["certainty"] is None or told["certainty"] == 1:
        return []
    rows = _likely_rows(say, interview)
    if len(rows) < 2:
        return []
    return [
        element("h2", say("likely then")),
        element("ul", *rows, class_="likely"),
    ]


def _path(say: Say, log: list[dict[str, Any]]) -> Element:
    rows = []
    for entry in log:
        skipped = entry.get("skipped")
        outcome = say("not answered") if skipped else entry.get("outcome")
        shown = say("missing") if outcome is None else _written(say, outcome)
        rows.append(
            element(
                "tr",
                element("th", entry["test"], scope="row", dir="auto"),
                element("td", shown, dir="auto"),
                element("td", say.amount(entry.get("paid", 0.0)), class_="figure"),
            )
        )
    heads = _heads(say, "test", "shown", "paid")
    return element(
        "table",
        element("caption", say("path")),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_="path",
    )
