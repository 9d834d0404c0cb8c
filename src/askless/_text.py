"""Make text safe to show: names come from files that anyone may have written.

It must not know where text is shown, nor what it means.
"""

from __future__ import annotations

__all__ = ["escape_unprintable", "is_number_text"]


def escape_unprintable(text: str, *, keep_lines: bool = False) -> str:
    r"""Return text with an escape for each character that does not print.

    A terminal obeys such characters: they clear the screen, hide text, turn its
    direction round or begin a new line. Applied twice it changes nothing more.

    Parameters
    ----------
    text : str
        What to show; a name, a path, a message.
    keep_lines : bool, default=False
        Whether a line break stays one. It must not in a name.

    Examples
    --------
    >>> escape_unprintable("two\nlines")
    'two\\nlines'
    >>> escape_unprintable("\x1b[2Jgone\n", keep_lines=True)
    '\\x1b[2Jgone\n'
    """
    if text.isprintable():
        return text
    kept = "\n" if keep_lines else ""
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in text)


def is_number_text(text: str) -> bool:
    """Return whether text reads as a number.

    Examples
    --------
    >>> is_number_text("1e3"), is_number_text("nan"), is_number_text("one")
    (True, True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
