"""Say what a test can show, and turn what it shows into codes and back.

A :class:`Test` knows its name and its levels. It does not know what it costs, which
cases there are, or who will run it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from askless._core.code._codes import encode_numbers, encode_objects
from askless._core.code._text import TextLevels
from askless.exceptions import InvalidAnswerError, InvalidTableError
from askless.problem._arrow_text import ArrowText
from askless.problem._column import Column, clean_column, is_missing

__all__ = ["MAX_LEVELS", "CodeArray", "Outcome", "Test", "code_dtype"]

Outcome = str | bool | int | float
CodeArray = NDArray[np.uint8] | NDArray[np.uint16]

# Two codes of the two-byte range are taken by "missing" and "unknown".
MAX_LEVELS = 65_534


def code_dtype(n_levels: int) -> np.dtype[Any]:
    """Return the narrowest type for the codes of a test of this many levels."""
    return np.dtype(np.uint8 if n_levels + 2 <= 256 else np.uint16)


@dataclass(frozen=True)
class Test:
    """Something that can be bought; running it shows one outcome.

    Parameters
    ----------
    name : str
        What the test is called everywhere.
    kind : {"category", "number"}
        A category shows one of ``outcomes``. A number is compared with ``cuts``.
    outcomes : tuple
        Of a category: what it can show. The code of an outcome is its position.
    cuts : tuple of float
        Of a number: ascending thresholds, each exact in single precision. The code of
        a value is how many cuts are below it, so a value on a cut goes to the lower
        level.

    Examples
    --------
    >>> battery = Test("battery", "category", outcomes=("flat", "good", "weak"))
    >>> battery.code_of("weak"), battery.label(1)
    (2, 'good')
    >>> fever = Test("temperature", "number", cuts=(37.0, 38.5))
    >>> fever.code_of(38.5), fever.label(1)
    (1, '37 < x <= 38.5')
    """

    # pytest must not take the class for a test of its own.
    __test__: ClassVar[bool] = False

    name: str
    kind: Literal["category", "number"]
    outcomes: tuple[Outcome, ...] = ()
    cuts: tuple[float, ...] = ()

    @property
    def n_levels(self) -> int:
        """How many levels the test has, "missing" and "unknown" left out."""
        return len(self.outcomes) if self.kind == "category" else len(self.cuts) + 1

    @property
    def missing_code(self) -> int:
        """The code of a value that is missing."""
        return self.n_levels

    @property
    def unknown_code(self) -> int:
        """The code of an outcome that a table does not know, or never seen before."""
        return self.n_levels + 1

    @cached_property
    def lookup(self) -> dict[Outcome, int]:
        """Codes by outcome, and by its other spellings where they are not ambiguous.

        They let ``"1"`` from a keyboard stand for the number 1, and the number 1 from a
        file where all cells are numbers stand for the text ``"1"``.
        """
        codes: dict[Outcome, int] = {}
        for code, outcome in enumerate(self.outcomes):
            codes.setdefault(outcome, code)
        for code, outcome in enumerate(self.outcomes):
            for spelling in _spellings(outcome):
                codes.setdefault(spelling, code)
        return codes

    @cached_property
    def text_levels(self) -> TextLevels:
        """The texts of ``lookup`` by their bytes, those left out that have none."""
        texts = {k: code for k, code in self.lookup.items() if isinstance(k, str)}
        # Half of a surrogate pair has no bytes in UTF-8, so no cell can show it.
        spelled = {k.encode("utf-8", errors="ignore"): k for k in texts}
        known = {raw: k for raw, k in spelled.items() if raw.decode() == k}
        return TextLevels(tuple(known), tuple(texts[k] for k in known.values()))

    def code_of(self, value: object) -> int:
        """Return the code of one value; a category never seen is "unknown"."""
        if is_missing(value):
            return self.missing_code
        if self.kind == "category":
            return self._code_of_category(value)
        number = _as_number(value, self.name)
        if math.isnan(number):
            return self.missing_code
        return bisect_left(self.cuts, number)

    def _code_of_category(self, value: Any) -> int:
        if isinstance(value, np.generic):
            value = value.item()
        try:
            return self.lookup.get(value, self.unknown_code)
        except TypeError:
            raise InvalidAnswerError(
                f"An outcome of {self.name!r} must be text, a number or a boolean. "
                f"Got {type(value).__name__}. Pass one of its outcomes."
            ) from None

    def encode(self, column: Any) -> CodeArray:
        """Return the codes of a column of raw values."""
        return self.encode_clean(clean_column(column, self.name))

    def encode_clean(self, values: Column | ArrowText) -> CodeArray:
        """Return the codes of a column that has been cleaned."""
        codes: CodeArray = np.empty(len(values), dtype=code_dtype(self.n_levels))
        if isinstance(values, ArrowText):
            ends = (self.missing_code, self.unknown_code)
            values.encode(self.text_levels, *ends, codes, self.name)
            return codes
        if self.kind == "number":
            encode_numbers(_as_numbers(values, self.name), self.cut_array, codes)
        else:
            items, lookup = values.tolist(), self.lookup
            encode_objects(items, lookup, self.missing_code, self.unknown_code, codes)
        return codes

    @cached_property
    def cut_array(self) -> NDArray[np.float64]:
        """The cuts as an array."""
        return np.array(self.cuts, dtype=np.float64)

    def label(self, code: int) -> str:
        """Return a short text for a code.

        Examples
        --------
        >>> Test("age", "number", cuts=(40.0,)).label(0)
        'x <= 40'
        """
        if code == self.missing_code:
            return "missing"
        if code == self.unknown_code:
            return "unknown"
        if self.kind == "category":
            return str(self.outcomes[code])
        if not self.cuts:
            return "any"
        if code == len(self.cuts):
            return f"x > {_short(self.cuts[-1])}"
        low = f"{_short(self.cuts[code - 1])} < " if code else ""
        return f"{low}x <= {_short(self.cuts[code])}"


def _short(cut: float) -> str:
    """Return a cut in as few digits as tell it from all others of single precision."""
    texts = (f"{cut:.{digits}g}" for digits in range(6, 10))
    with np.errstate(over="ignore"):
        return next((t for t in texts if np.float32(t) == np.float32(cut)), repr(cut))


def _spellings(outcome: Outcome) -> list[Outcome]:
    """Return what else may stand for an outcome."""
    if isinstance(outcome, str):
        return _numbers_spelled(outcome)
    texts: list[Outcome] = [str(outcome)]
    if isinstance(outcome, bool):
        texts.append(str(outcome).lower())
    elif isinstance(outcome, float) and outcome.is_integer():
        texts.append(str(int(outcome)))
    return texts


def _numbers_spelled(text: str) -> list[Outcome]:
    """Return the number that a text spells in the usual way, "1" but not "01"."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number) == text and math.isfinite(number):
            return [number]
    return []


def _as_number(value: object, name: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidAnswerError(
            f"The test {name!r} shows a number. Got {value!r}. Pass a number, or None "
            "if it is missing."
        ) from None


def _as_numbers(values: Column, name: str) -> NDArray[np.float64]:
    if values.dtype != object:
        return values.astype(np.float64, copy=False)
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is None:
            continue
        try:
            numbers[row] = float(value)
        except (ValueError, OverflowError):
            raise InvalidTableError(
                f"The test {name!r} shows numbers. Got {value!r} in row {row}. Write a "
                "number there, or leave it empty if it is missing."
            ).at(row) from None
    return numbers
