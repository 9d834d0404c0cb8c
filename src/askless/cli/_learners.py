"""Find the learner that ``askless fit`` is asked for, or that suits the target.

The rule: a target with fractions is a number, text and whole numbers are classes. It
must not know how any learner works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from askless.exceptions import InvalidOptionError, UnknownNameError, suggest_name
from askless.problem._column import is_number

if TYPE_CHECKING:
    from askless.learn import Learner

__all__ = ["find_learner", "suit_learner"]

USUAL, USUAL_OF_NUMBERS = "cost-tree", "number-tree"
# More whole numbers than this may be meant as numbers, which is worth a note.
MANY_CLASSES = 20


def find_learner(name: str | None) -> Learner:
    """Return a learner by its name; the usual one if there is none."""
    # Only now, so that something is shown before scikit-learn is there.
    from askless.learn import LEARNERS, NUMBER_LEARNERS

    known = LEARNERS | NUMBER_LEARNERS
    name = USUAL if name is None else name
    if name not in known:
        raise UnknownNameError(
            f"A learner must be one of {', '.join(known)}. Got {name!r}. "
            f"{suggest_name(name, known)}See `askless methods`."
        )
    return known[name]


def suit_learner(
    learner: Learner, method: str | None, target: str, y: Any, notes: list[str]
) -> Learner:
    """Return the learner that suits a target: the one asked for, if any was.

    Parameters
    ----------
    learner : Learner
        The one that was found by name.
    method : str or None
        What was asked for.
    target : str
        The column of the target.
    y : ndarray
        What stands there.
    notes : list of str
        Told what was chosen, and why.
    """
    from askless.learn import NUMBER_LEARNERS

    if learner.name in NUMBER_LEARNERS or not is_number(y):
        return learner
    numbers = np.asarray(y, dtype=np.float64)
    if np.any(numbers != np.floor(numbers)):
        if method is not None:
            raise InvalidOptionError(
                f"{learner.name!r} must have classes: text or whole numbers. Got "
                f"numbers with fractions in {target!r}. Use --method number-tree or "
                "number-boost, or write the classes as text."
            )
        notes.append(
            f"{target!r} has fractions, so a number is learned, by number-tree. "
            "Classes would be text or whole numbers."
        )
        return NUMBER_LEARNERS[USUAL_OF_NUMBERS]
    n_classes = len(np.unique(numbers))
    if method is None and n_classes > MANY_CLASSES:
        notes.append(
            f"{target!r} has {n_classes} different whole numbers, which are read as "
            "classes. If a number is meant, use --method number-tree."
        )
    return learner
