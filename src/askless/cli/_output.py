"""Print to people and to machines: numbers, facts, tables, flowcharts, JSON, notes.

Colours and rules appear on a terminal only; in a pipe everything is plain
text. Names and paths may hold anything, so all that is printed for people goes through
:func:`escape_unprintable` here. This module must not know what a command has found out.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from askless._text import escape_unprintable
from askless.cli._words import in_command_words

if TYPE_CHECKING:
    from askless.policy import Policy

__all__ = [
    "bar",
    "flowchart",
    "format_number",
    "format_share",
    "open_console",
    "print_error",
    "print_facts",
    "print_flowchart",
    "print_heading",
    "print_json",
    "print_line",
    "print_note",
    "print_paragraph",
    "print_table",
    "say",
]

BOX_CHARACTERS = "├─└│█░"
# Wider terminals do not make prose easier to read.
MOST_COLUMNS = 100


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that prints names as they are, whatever signs they hold."""
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, MOST_COLUMNS)
    return console


def format_number(value: float | None) -> str:
    """Return a cost for people: four digits, or all digits before the point.

    Examples
    --------
    >>> format_number(8.8894), format_number(26.0), format_number(12345.67)
    ('8.889', '26', '12,345.7')
    """
    if value is None or value != value:
        return "-"
    if value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def format_share(value: float | None) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> format_share(0.12345), format_share(0.0)
    ('12.3 %', '0 %')
    """
    if value is None or value != value:
        return "-"
    return f"{100 * value:.3g} %"


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object in ASCII, which every encoding carries.

    Notes are said in the words of the command line.
    """
    notes = content.get("notes")
    if isinstance(notes, list):
        content = {**content, "notes": [in_command_words(note) for note in notes]}
    click.echo(json.dumps(content, indent=2, allow_nan=False))


def say(*lines: str, err: bool = False) -> None:
    """Print lines as plain text, to be searched for and copied; none for an empty one.

    Nothing in a line begins another one, whatever a name holds.
    """
    for line in lines or ("",):
        click.echo(escape_unprintable(line), err=err)


def print_line(*parts: str | tuple[str, str], style: str = "") -> None:
    """Print one line of parts, each of them a text, or a text and its style."""
    texts = [(part, "") if isinstance(part, str) else part for part in parts]
    safe = [(escape_unprintable(text), own) for text, own in texts]
    open_console().print(Text.assemble(*safe, style=style), soft_wrap=True)


def print_note(text: str) -> None:
    """Print a remark on stderr."""
    _print_message(text, "Note: ", "yellow")


def print_error(text: str, *, label: str | None = "Error: ") -> None:
    """Print what went wrong on stderr."""
    _print_message(text, label or "", "bold red")


def _print_message(text: str, label: str, style: str) -> None:
    console = open_console(stderr=True)
    # What a library says may take several lines.
    one_line = escape_unprintable(" ".join(in_command_words(text).split("\n")))
    message = Text.assemble((label, style), one_line)
    # In a pipe a message stays on one line, so that it can be searched for.
    console.print(message, soft_wrap=not console.is_terminal)


def print_paragraph(text: str, *, style: str = "", indent: int = 0) -> None:
    """Print prose, wrapped to the width of a terminal."""
    text = escape_unprintable(text)
    console = open_console()
    if console.is_terminal:
        console.print(Padding(Text(text, style=style), (0, 0, 0, indent)))
    else:
        blank = " " * indent
        wrapped = textwrap.fill(
            text,
            console.width,
            initial_indent=blank,
            subsequent_indent=blank,
            break_long_words=False,
            break_on_hyphens=False,
        )
        click.echo(wrapped)


def print_heading(text: str) -> None:
    """Print a heading with a line behind it, and an empty line around it."""
    text = escape_unprintable(text)
    console = open_console()
    if console.is_terminal:
        title = Text(text, style="bold cyan")
        console.print()
        console.print(Rule(title, align="left", style="cyan"))
    else:
        say("", text, "-" * len(text))
    console.print()


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print a name and a value a line, values under each other."""
    pairs = list(facts)
    width = max(len(name) for name, _ in pairs) + 2
    for name, value in pairs:
        print_line((name.ljust(width), "bold"), value)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    numbers: Iterable[str] = (),
    indent: int = 0,
) -> None:
    """Print a table with a line for each row, numbers to the right of their column."""
    console = open_console()
    table = Table(
        box=box.SIMPLE_HEAD if console.is_terminal else None,
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for name in columns:
        is_number = name in numbers
        table.add_column(
            name,
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        table.add_row(
            *(c if isinstance(c, Text) else Text(escape_unprintable(c)) for c in row)
        )
    if console.is_terminal:
        console.print(Padding(table, (0, 0, 0, indent)))
        return
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        say(" " * indent + line.rstrip())


def can_draw() -> bool:
    """Return whether stdout's encoding carries the characters of a flowchart."""
    try:
        BOX_CHARACTERS.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def bar(share: float, width: int, *, light: bool = False) -> str:
    """Return a bar that fills a share of the width; whatever is not nothing shows.

    Examples
    --------
    >>> len(bar(0.5, 20)), len(bar(0.001, 20)), len(bar(0.0, 20))
    (10, 1, 0)
    """
    length = max(round(share * width), 1 if share > 0 else 0)
    signs = ("█", "░") if can_draw() else ("#", "-")
    return signs[light] * length


def flowchart(policy: Policy, *, ascii: bool = False, **options: Any) -> str:
    """Return the policy as text in characters that stdout can carry."""
    from askless.export import show

    ascii = ascii or not can_draw()
    return show(policy, "text", ascii=ascii, **options)


def print_flowchart(text: str) -> None:
    """Print the text of a policy; on a terminal, decisions stand out."""
    console = open_console()
    lines = text.split("\n")
    if not console.is_terminal:
        say(*lines)
        return
    for line in lines:
        styled = Text(escape_unprintable(line))
        styled.highlight_regex(r"\[[^\[\]]* %, spent [^\[\]]*\]", "dim")
        styled.highlight_regex(r"=> .*$", "bold green")
        styled.highlight_regex(r"^[\s│├└─|`-]*", "dim")
        console.print(styled, soft_wrap=True)
