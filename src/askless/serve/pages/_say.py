"""How pages speak: texts in the language of a request, amounts, and a page around them.

It must not know what a page is about.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from askless.serve.pages._html import Element, element, page
from askless.serve.pages._texts import LANGUAGES, MARKS, choose_language, text

__all__ = ["Say", "alert", "respond", "respond_error", "to_page"]

Tell = Callable[[Request, Exception], Awaitable[Response]]


class Say:
    """Texts and numbers in the language of a request.

    Parameters
    ----------
    request : Request
        Asks for a language in its address, or accepts some.
    """

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

    def amount(self, value: float) -> str:
        """Return an amount for people."""
        return format_amount(value, self.language)

    def percent(self, share: float) -> str:
        """Return a share for people."""
        return format_share(share, self.language)


def format_amount(value: float, language: str = "en") -> str:
    """Return an amount for people, with the marks of a language.

    Examples
    --------
    >>> format_amount(3.0), format_amount(2.5), format_amount(1234567.0)
    ('3', '2.5', '1,234,567')
    >>> format_amount(1234.5, "de")
    '1.234,5'
    """
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        written = f"{int(value):,}"
    elif 1e-4 <= abs(value) < 1e15:
        n_digits = max(2, 3 - math.floor(math.log10(abs(value))))
        written = f"{value:,.{n_digits}f}"
        written = written.rstrip("0").rstrip(".")
    else:
        written = f"{value:.4g}"
    return written.translate(MARKS[language])


def format_share(share: float, language: str = "en") -> str:
    """Return a share for people; only what is certain is 100 %.

    Examples
    --------
    >>> format_share(1.0), format_share(0.99999), format_share(0.25)
    ('100 %', '> 99.9 %', '25 %')
    >>> format_share(0.0829, "de")
    '8,3 %'
    """
    if 0.999 < share < 1:
        written = "> 99.9 %"
    elif 0 < share < 0.001:
        written = "< 0.1 %"
    else:
        written = f"{100 * share:.1f}".removesuffix(".0") + " %"
    return written.translate(MARKS[language])


def respond(
    say: Say,
    title: str,
    *content: object,
    status: int = 200,
    script: str | None = None,
) -> Response:
    """Return a page, with a script of its own besides the one of all pages."""
    languages = [
        element(
            "a",
            name,
            href=f"{say.path}?lang={code}",
            lang=code,
            hreflang=code,
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
    main = element("main", *content, class_=script)
    shown = page(say.language, title, header, main, script=script)
    return HTMLResponse(shown, status)


def respond_error(say: Say, problem: str, status: int) -> Response:
    """Return a page that says what went wrong."""
    heading = element("h1", say("error"))
    back = element("p", element("a", say("to start"), href=f"/{say.query}"))
    return respond(say, say("error"), heading, alert(problem), back, status=status)


def to_page(tell: Tell, text: str) -> Tell:
    """Return what tells an error: as a page to those who look for one, else as before.

    Parameters
    ----------
    tell : callable
        Tells the error to programs.
    text : str
        What people are told instead, by its name.
    """

    async def told(request: Request, error: Exception) -> Response:
        response = await tell(request, error)
        if "text/html" not in request.headers.get("accept", ""):
            return response
        say = Say(request)
        return respond_error(say, say(text), response.status_code)

    return told


def alert(told: str | None) -> Element | None:
    """Return a note that is read out at once; nothing, if there is nothing to say."""
    return None if told is None else element("p", told, role="alert", class_="alert")
