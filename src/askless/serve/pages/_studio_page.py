"""The studio page: fields for a table and its prices; a script fills in the rest.

It must not know how tables are solved.
"""

from __future__ import annotations

import json

from askless.serve.pages._html import Element, element
from askless.serve.pages._say import Say

__all__ = ["draw_studio"]

EXAMPLE = (
    "symptom,gears,chain,pressure,prior,repair\n"
    "noise,slip,dry,hard,30,oil the chain\n"
    "noise,slip,worn,hard,10,new chain\n"
    "noise,fine,fine,hard,5,new bearings\n"
    "wobble,fine,fine,soft,40,patch the tube\n"
    "wobble,fine,fine,hard,15,true the wheel\n"
)
EXAMPLE_COSTS = "test,cost\nsymptom,1\npressure,1\ngears,3\nchain,2\n"
# What the script says.
SAID = (
    "where", "where line", "sheet table", "sheet costs", "bad line", "no name",
    "same name", "too many columns", "too few columns", "too many rows", "no rows",
    "wrong length", "no class", "bad prior", "bad price", "no such test",
    "bad mark", "test again", "too dear together", "no test and cost", "searching",
    "proved", "not proved", "stopped", "too large", "saved as", "flowchart",
)  # fmt: skip


def draw_studio(say: Say) -> list[object]:
    """Return the parts of the page."""
    texts = json.dumps({name: _raw(say, name) for name in SAID})
    return [
        element("h1", say("studio")),
        element("p", say("studio lead")),
        element("noscript", element("p", say("needs scripts"), class_="alert")),
        element(
            "form",
            _field(say, "table", EXAMPLE),
            _field(say, "costs", EXAMPLE_COSTS),
            element("label", say("target"), element("select", name="target")),
            _objective(say),
            id="sheet",
            data_texts=texts,
            data_lang=say.language,
        ),
        _wrong(say),
        element(
            "details",
            element("summary", say("as read")),
            element("div", element("table", id="read"), class_="wide", tabindex="0"),
            id="as-read",
        ),
        element(
            "div",
            _sliders(say, "prices"),
            _sliders(say, "weights"),
            class_="sliders",
            id="sliders",
        ),
        _result(say),
    ]


def _raw(say: Say, name: str) -> str:
    """Return a text whose gaps are filled in by the script."""
    return say(name, line="{line}", column="{column}")


def _field(say: Say, name: str, example: str) -> Element:
    area = element(
        "textarea", example, name=name, rows=7, spellcheck="false", dir="auto"
    )
    file = element(
        "input", type="file", accept=".csv,.tsv,.txt,text/csv", data_for=name
    )
    return element(
        "div",
        element("label", say(name), area),
        element("label", say(f"{name} file"), file),
        class_="drop",
        data_for=name,
    )


def _objective(say: Say) -> Element:
    options = [
        element("option", say(f"objective {name}"), value=name)
        for name in ("expected", "worst")
    ]
    return element(
        "label", say("objective"), element("select", *options, name="objective")
    )


def _wrong(say: Say) -> Element:
    return element(
        "section",
        element("h2", say("wrong")),
        element("ul", id="problems"),
        id="wrong",
        role="alert",
        hidden=True,
        class_="alert",
    )


def _sliders(say: Say, name: str) -> Element:
    return element("fieldset", element("legend", say(name)), id=name)


def _result(say: Say) -> Element:
    figures = [
        element("div", element("dt", say(name)), element("dd", "–", id=name))
        for name in ("expected", "worst", "bound")
    ]
    chart = element(
        "div",
        element("div", id="over-time", role="img", aria_label=say("over time")),
        element(
            "p",
            *[element("span", say(f"{n} line"), class_=n) for n in ("best", "bound")],
            class_="key",
        ),
        id="chart",
        hidden=True,
    )
    save = element(
        "form",
        element(
            "label",
            say("name"),
            element(
                "input",
                name="name",
                required=True,
                pattern="[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}",
                value="my-policy",
                autocomplete="off",
            ),
        ),
        element("button", say("save"), class_="main", disabled=True),
        element("a", say("download"), id="download", hidden=True),
        element("p", id="saved", role="status"),
        id="save",
        class_="entry",
    )
    return element(
        "section",
        element("h2", say("result")),
        element("p", id="state", role="status"),
        element("button", say("stop"), id="stop", type="button", hidden=True),
        element("dl", *figures, class_="figures"),
        chart,
        element("p", id="picture", class_="wide", tabindex="0"),
        element(
            "details",
            element("summary", say("as text")),
            element("pre", id="text", class_="wide", tabindex="0"),
        ),
        save,
        id="result",
        aria_label=say("result"),
    )
