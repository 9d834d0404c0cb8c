"""Code one value at a time, as plainly as can be.

The twin of the compiled coding, which it must not import.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["encode_category", "encode_number"]


def encode_number(value: float | None, cuts: Sequence[float]) -> int:
    """Return the code of a number: how many cuts lie below it.

    Parameters
    ----------
    value : float or None
        The number; None and NaN are missing.
    cuts : sequence of float
        Thresholds. A value on a cut belongs to the level below.

    Examples
    --------
    >>> [encode_number(x, (37.0, 38.5)) for x in (36.6, 37.0, 38.0, 40.0, None)]
    [0, 0, 1, 2, 3]
    """
    if value is None or value != value:
        return len(cuts) + 1
    return sum(1 for cut in cuts if cut < value)


def encode_category(value: object, outcomes: Sequence[object]) -> int:
    """Return the code of a category: its position among the outcomes.

    Parameters
    ----------
    value : object
        The outcome that was seen; None and NaN are missing.
    outcomes : sequence
        What the test can show.

    Returns
    -------
    int
        The position, else ``len(outcomes)`` for missing, and one more for an outcome
        that is not listed. Text may stand for a number and a number for text, unless
        another outcome has the better claim.

    Examples
    --------
    >>> [encode_category(v, ("no", "yes")) for v in ("yes", None, "maybe")]
    [1, 2, 3]
    >>> encode_category("1", (0, 1)), encode_category(1, ("0", "1"))
    (1, 1)
    """
    if value is None or value != value:
        return len(outcomes)
    for code, outcome in enumerate(outcomes):
        if outcome == value:
            return code
    for code, outcome in enumerate(outcomes):
        if _stands_for(value, outcome):
            return code
    return len(outcomes) + 1


def _stands_for(value: object, outcome: object) -> bool:
    if isinstance(value, str) and not isinstance(outcome, str):
        texts = {str(outcome)}
        if isinstance(outcome, bool):
            texts.add(str(outcome).lower())
        if isinstance(outcome, float) and outcome.is_integer():
            texts.add(str(int(outcome)))
        return value in texts
    if isinstance(value, (int, float)) and isinstance(outcome, str):
        # A float that is whole spells both "1.0" and "1", and a boolean is a number.
        texts = {str(float(value))}
        if float(value).is_integer():
            texts.add(str(int(value)))
        return outcome in texts
    return False
