"""Show that a command is at work, how far it has come, and end it well when told to.

On a terminal there is a bar with the time, the best so far and the bound; elsewhere
lines, if they are asked for. While it is shown, SIGTERM is heard as Ctrl-C is, so that
whatever is found by then is kept. This module must not know what a command does.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.progress import (
    BarColumn,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bar

from askless._progress import Progress
from askless._text import escape_unprintable
from askless.cli._output import open_console, say

__all__ = ["Tell", "verbose_option", "working"]

# Shows how far a command has come: in words, or as the library tells it.
Tell = Callable[[Progress | str], None]

# How often lines are printed where there is no terminal, in seconds.
EVERY = 1.0

verbose_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Say how it goes, line by line, where there is no terminal as well.",
)


@contextmanager
def working(
    text: str, *, time_limit: float | None = None, verbose: bool = False
) -> Iterator[Tell]:
    """Show on stderr that something is going on; yield what shows how far it has come.

    Parameters
    ----------
    text : str
        What is going on.
    time_limit : float, optional
        Seconds that it may take, to say how many are left.
    verbose : bool, default=False
        Whether to print lines where there is no terminal.
    """
    console = open_console(stderr=True)
    text = escape_unprintable(text)
    with _terminated_as_interrupted():
        if console.is_terminal:
            with Bar(*_columns(), console=console, transient=True) as bar:
                task = bar.add_task(text, total=None, how_far="")
                # At once, before whatever keeps the processor busy.
                bar.refresh()
                yield lambda told: _show(bar, task, told, time_limit)
        elif verbose:
            say(text, err=True)
            yield _line_printer(time_limit)
        else:
            yield lambda told: None


def _columns() -> list[ProgressColumn]:
    return [
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("{task.fields[how_far]}", markup=False),
    ]


def _show(bar: Bar, task: Any, told: Progress | str, limit: float | None) -> None:
    if isinstance(told, Progress) and told.done is not None:
        bar.update(task, total=1.0, completed=told.done)
    bar.update(task, how_far=escape_unprintable(describe(told, limit)))


def _line_printer(limit: float | None) -> Tell:
    last = time.monotonic() - EVERY

    def print_now_and_then(told: Progress | str) -> None:
        nonlocal last
        now = time.monotonic()
        is_step = isinstance(told, str) or told.cost is not None
        if is_step or now - last >= EVERY:
            last = now
            seconds = "" if isinstance(told, str) else f"{told.seconds:.1f} s, "
            say(f"  {seconds}{describe(told, limit)}", err=True)

    return print_now_and_then


def describe(told: Progress | str, time_limit: float | None = None) -> str:
    """Return how far something has come, in a few words.

    Examples
    --------
    >>> describe(Progress(20.0, 7.25, name="two steps", done=0.5), 60.0)
    'two steps, best 7.25, 50 % done, 40 s left'
    """
    if isinstance(told, str):
        return told
    facts = told.facts()
    if time_limit is not None:
        facts.append(f"{max(0.0, time_limit - told.seconds):.0f} s left")
    return ", ".join(facts)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Hear SIGTERM as Ctrl-C, which learners and searches end well on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    usual = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)
