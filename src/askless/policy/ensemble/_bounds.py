"""Which ways to keep bounds an ensemble allows, and which one suits it.

This module must not know how bounds are kept.
"""

from __future__ import annotations

import numpy as np

from askless.exceptions import InvalidOptionError
from askless.policy.ensemble._output import Output
from askless.policy.ensemble._parts import IS_SET, MODES, EnsembleTrees
from askless.problem import Test

__all__ = ["check_bounds", "choose_bounds", "fits_in_words", "names_one_class"]

# Ensembles of more nodes (times values of a leaf) keep no deep states: such a state is
# made again after every purchase, which takes longer than a purchase is worth there.
DEEP_NODES = 50_000
# A word of bits holds the classes that a vote may still name.
MOST_VOTED = 64
# Trees of so many leaves at most are looked up in tables, which is fast whatever the
# bounds are.
SMALL_LEAVES = 8
# Leaves as bits of a word: of a tree, bytes of the words of all outcomes, and how often
# they change from one outcome to the next. The machine has the same limits.
MOST_LEAVES = 64
MOST_BYTES = 67_108_864
MOST_RUNS = 4_194_304
MOST_TESTS = 32_768


def choose_bounds(
    trees: EnsembleTrees,
    output: Output,
    tests: tuple[Test, ...],
    *,
    is_settled_only: bool,
) -> str:
    """Return the bounds that suit an ensemble.

    Parameters
    ----------
    trees, output, tests
        Those of the ensemble.
    is_settled_only : bool
        Whether nothing ends a case but that its decision is settled. Else the expected
        sums and how sure they are count as well, and deep states know them better.
    """
    is_booster = trees.value.shape[1] == 1 and not output.is_number
    if (
        is_settled_only
        and is_booster
        and trees.most_leaves > SMALL_LEAVES
        and fits_in_words(trees, tests)
    ):
        return "leaves"
    if trees.value.size <= DEEP_NODES:
        return "joint" if is_booster else "deep"
    return "vote" if names_one_class(trees, output) else "path"


def check_bounds(
    bounds: str, trees: EnsembleTrees, output: Output, tests: tuple[Test, ...]
) -> None:
    """Raise an error unless an ensemble allows a way to keep bounds."""
    if bounds not in ("auto", *MODES):
        raise InvalidOptionError(
            "bounds must be 'auto', 'path', 'leaves', 'deep', 'joint' or 'vote'. Got "
            f"{bounds!r}. Leave it out."
        )
    if bounds == "vote" and not names_one_class(trees, output):
        raise InvalidOptionError(
            "bounds='vote' must have leaves that name one of at most "
            f"{MOST_VOTED} classes. Got other leaves. Leave it out."
        )
    if bounds in ("joint", "leaves") and output.is_number:
        raise InvalidOptionError(
            f"bounds={bounds!r} must have classes to decide between. Got a model that "
            "answers numbers. Leave it out."
        )
    if bounds == "leaves" and not fits_in_words(trees, tests):
        raise InvalidOptionError(
            f"bounds='leaves' must have trees of at most {MOST_LEAVES} leaves with one "
            f"value each, and words of at most {MOST_BYTES:,} bytes for all outcomes. "
            f"Got trees of up to {trees.most_leaves} leaves, or more outcomes. Leave "
            "it out."
        )


def names_one_class(trees: EnsembleTrees, output: Output) -> bool:
    """Return whether every leaf names one class, so that sums are counts."""
    values = trees.value[trees.is_leaf]
    return (
        output.link == "share"
        and 1 < output.n_outputs <= MOST_VOTED
        and values.shape[1] == output.n_outputs
        and not any(output.offset)
        and bool(np.all((values == 0) | (values == 1)))
        and bool(np.all(values.sum(axis=1) == 1))
    )


def fits_in_words(trees: EnsembleTrees, tests: tuple[Test, ...]) -> bool:
    """Return whether the leaves that each outcome leaves can be kept as bits of words.

    A word for each outcome of a test and each tree that asks it, of 1, 4 or 8 bytes.
    """
    most = trees.most_leaves
    if trees.value.shape[1] != 1 or most > MOST_LEAVES or len(tests) >= MOST_TESTS:
        return False
    n_codes = np.array([test.n_levels + 2 for test in tests], dtype=np.int64)
    n_users = np.diff(trees.users(len(tests))[1])
    word_bytes = 1 if most <= 8 else 4 if most <= 32 else 8
    if int(n_codes @ n_users) * word_bytes > MOST_BYTES:
        return False
    # A cut adds a run of outcomes; a set may part all of them. What is missing is one
    # more.
    inner = ~trees.is_leaf
    is_set = (trees.flags[inner] & IS_SET) > 0
    added = np.where(is_set, n_codes[trees.test[inner]], 1)
    return int(added.sum() + 2 * n_users.sum()) <= MOST_RUNS
