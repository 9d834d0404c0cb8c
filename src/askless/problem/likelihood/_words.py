"""Read words for how likely something is, such as "often", by a legend of numbers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askless.exceptions import DataFileError, InvalidTableError, suggest_name
from askless.problem._frames import list_some

__all__ = ["DEFAULT_LEGEND", "Legend"]

# The probability of the positive outcome. "Never" is not quite 0 and "always" not quite
# 1: people who say so are now and then wrong, and a 0 rules a case out for good. The
# last six words are the frequencies of the Human Phenotype Ontology (80-99 %, 30-79 %,
# 5-29 %, 1-4 %), each by the middle of its range.
DEFAULT_LEGEND = {
    "always": 0.99,
    "almost always": 0.95,
    "very often": 0.9,
    "usually": 0.8,
    "often": 0.7,
    "sometimes": 0.3,
    "seldom": 0.1,
    "rarely": 0.1,
    "very rarely": 0.05,
    "almost never": 0.05,
    "never": 0.01,
    "obligate": 1.0,
    "very frequent": 0.895,
    "frequent": 0.545,
    "occasional": 0.17,
    "very rare": 0.025,
    "excluded": 0.0,
}


class Legend:
    """What words stand for, and which of them were met.

    Parameters
    ----------
    given : mapping of str to float, path of a TOML file, or None
        Word to the probability of the positive outcome; None for words that are common.
        In a file, a line ``often = 0.7`` for each word, under ``[legend]`` or not.

    Examples
    --------
    >>> legend = Legend({"often": 0.75})
    >>> legend.look_up("Often")
    0.75
    >>> legend.describe()
    "Words were read as probabilities: 'often' is 0.75."
    """

    def __init__(self, given: Mapping[str, float] | str | Path | None = None) -> None:
        self.is_default = given is None
        if isinstance(given, (str, Path)):
            given = _read_toml(Path(given))
        words = DEFAULT_LEGEND if given is None else given
        self.words = {_plain(str(w)): _check(w, p) for w, p in words.items()}
        self._met: dict[str, None] = {}

    def look_up(self, text: str) -> float | None:
        """Return what a word stands for, or None if nobody said."""
        word = _plain(text)
        if word in self.words:
            self._met[word] = None
        return self.words.get(word)

    def suggest(self, text: str) -> str:
        """Return what to say of a word that is not in the legend."""
        return (
            f"{suggest_name(_plain(text), self.words)}The words are "
            f"{list_some(self.words, 20)}."
        )

    def describe(self) -> str:
        """Say what the words that were met stand for; nothing if there were none."""
        if not self._met:
            return ""
        met = sorted(self._met, key=lambda word: -self.words[word])
        said = ", ".join(f"{word!r} is {self.words[word]:g}" for word in met)
        remedy = " Give a legend if you mean other numbers." * self.is_default
        return f"Words were read as probabilities: {said}.{remedy}"


def _plain(word: str) -> str:
    return " ".join(word.lower().replace("_", " ").replace("-", " ").split())


def _check(word: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        raise InvalidTableError(
            "A legend must give each word a probability from 0 to 1. Got "
            f"{value!r} for {word!r}. Write 80 % as 0.8."
        )
    return float(value)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataFileError(
            f"A legend must be readable. Got {error.strerror} for {path}. Check the "
            "path."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataFileError(
            f"A legend must be valid TOML. Got: {error} in {path}. Write a line "
            "often = 0.7 for each word, and quote words with a blank."
        ) from error
    words = content.get("legend", content)
    if not isinstance(words, Mapping) or not words:
        raise DataFileError(
            f"A legend must hold a number for each word. Got none in {path}. Write a "
            "line often = 0.7 for each word."
        )
    return dict(words)
