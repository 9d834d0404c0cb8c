"""A little HTML: elements as calls, everything escaped unless it is an element."""

from __future__ import annotations

from html import escape

__all__ = ["Element", "element", "page"]

VOID = {"meta", "link", "input", "br"}


class Element(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *content: object, **attributes: object) -> Element:
    """Return an element; names and values of anyone are escaped.

    Attributes that are None or False are left out, True stands alone; ``class_`` is
    ``class`` and ``_`` in a name is ``-``.

    Examples
    --------
    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        plain = name.rstrip("_").replace("_", "-")
        quoted = "" if value is True else f'="{escape(str(value))}"'
        written.append(f" {plain}{quoted}")
    inner = "".join(
        part if isinstance(part, Element) else escape(str(part))
        for part in content
        if part is not None
    )
    if tag in VOID:
        return Element(f"<{tag}{''.join(written)}>")
    return Element(f"<{tag}{''.join(written)}>{inner}</{tag}>")


def page(language: str, title: str, *content: object, script: str | None = None) -> str:
    """Return a whole page."""
    more = element("script", src=f"/static/{script}.js", defer=True) if script else None
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("link", rel="stylesheet", href="/static/askless.css"),
        element("script", src="/static/askless.js", defer=True),
        more,
    )
    body = element("body", *content)
    return f"<!doctype html>\n{element('html', head, body, lang=language, dir='ltr')}\n"
