"""Read what is written in one cell: a number, several, a word, or an outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askless.exceptions import InvalidTableError
from askless.problem._frames import list_some
from askless.problem._tests import Outcome
from askless.problem.likelihood._grid import Cell, as_probability
from askless.problem.likelihood._words import Legend

__all__ = ["parse_cell", "parse_probability", "split_header"]

# A test with its outcomes: "x-ray [normal/dark/bright]".
HEADER = re.compile(r"(?P<name>.*\S)\s*\[(?P<outcomes>[^][]*/[^][]*)\]")


def split_header(
    header: str, binary: tuple[Outcome, Outcome]
) -> tuple[str, tuple[Outcome, ...]]:
    """Return the name of a test and its outcomes, the positive one first.

    Examples
    --------
    >>> split_header("fever", ("no", "yes"))
    ('fever', ('yes', 'no'))
    >>> split_header("x-ray [normal/dark/bright]", ("no", "yes"))
    ('x-ray', ('normal', 'dark', 'bright'))
    """
    found = HEADER.fullmatch(header)
    if found is None:
        return header, (binary[1], binary[0])
    outcomes = tuple(part.strip() for part in found["outcomes"].split("/"))
    if "" in outcomes or len(set(outcomes)) != len(outcomes):
        raise InvalidTableError(
            "Outcomes in the name of a column must be named, and differ. Got "
            f"{header!r}. Write test [first/second/third]."
        )
    return found["name"], outcomes


def parse_probability(text: str, place: str) -> float:
    """Return the probability that is written as 0.8, .8 or 80 %.

    Examples
    --------
    >>> parse_probability("80 %", "line 2")
    0.8
    """
    number = text.strip()
    if number.endswith("%") and "_" not in number:
        try:
            # Divided as written, so that 80 % is the double nearest to 0.8.
            share = float(number[:-1]) / 100
        except ValueError:
            share = -1.0
        return share if 0.0 <= share <= 1.0 else as_probability(text, place)
    # Python would read 1_0 as 10.
    if "_" in number:
        number = f"{number} (an underscore)"
    return as_probability(number or None, place)


def parse_cell(
    text: str, outcomes: Sequence[Outcome], legend: Legend, place: str
) -> Cell:
    """Return what a cell says: outcome to probability, or an outcome that is certain.

    Parameters
    ----------
    text : str
        ``0.8`` or ``80 %``, of the first outcome; ``0.8/0.2``, of all outcomes; a word
        of the legend, for the first outcome; or an outcome, which is a fact.
    outcomes : sequence
        What the test shows, the positive outcome first.
    legend : Legend
    place : str
        Where the cell stands, for messages.

    Examples
    --------
    >>> parse_cell("often", ("yes", "no"), Legend(), "line 2")
    {'yes': 0.7, 'no': 0.3}
    >>> parse_cell("0.1/0.2/0.7", ("a", "b", "c"), Legend(), "line 2")
    {'a': 0.1, 'b': 0.2, 'c': 0.7}
    """
    known = {str(outcome).lower(): outcome for outcome in outcomes}
    if text.lower() in known:
        return {o: float(o == known[text.lower()]) for o in outcomes}
    if "/" in text:
        parts = text.split("/")
        if len(parts) != len(outcomes):
            raise InvalidTableError(
                f"A cell must have a probability for each of {list_some(outcomes)}. "
                f"Got {text!r} for {place}. Write as many as there are outcomes, in "
                "this order; a column named test [a/b/c] has others."
            )
        shares = [parse_probability(part, place) for part in parts]
        return dict(zip(outcomes, shares, strict=True))
    positive = legend.look_up(text)
    if positive is None:
        if not re.match(r"[-+.]?\d", text):
            raise InvalidTableError(
                "A cell must be a probability, a word of the legend or an outcome of "
                f"the test. Got {text!r} for {place}. {legend.suggest(text)} The "
                f"outcomes are {list_some(outcomes)}."
            )
        positive = parse_probability(text, place)
    if len(outcomes) != 2:
        raise InvalidTableError(
            f"A cell must have a probability for each of {list_some(outcomes)}. Got "
            f"{text!r} for {place}. Write them with a / between."
        )
    # Rounded, since 1 - 0.7 is not the double nearest to 0.3.
    return {outcomes[0]: positive, outcomes[1]: round(1.0 - positive, 15)}
