"""For tables in which almost every outcome is unknown.

If a test knows the outcome of few cases only, what the true case shows is mostly drawn,
and what helps is to rule out others: the test comes next whose draw rules out most. Now
and then, when the number of tests done is a power of two, the few cases that at least
half of these tests speak about are checked: they are told apart, and the one that is
left is tried until it is contradicted or alone.

The published text of this algorithm was not at hand; this is a reconstruction from its
summary. The decision is right in any case, since it waits until one class is left.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askless._core.unknown._scores import score_tests
from askless._core.unknown._table import Effect
from askless.exceptions import NoPolicyError
from askless.policy import Rule
from askless.policy._rule import RULES, Belief, make_belief
from askless.solve._task import MethodResult, Task
from askless.solve.unknown._expand import expand_beliefs
from askless.solve.unknown._rules import check_task, make_rule, price_sampled

__all__ = ["SparseRule", "grow_sparse"]

# Written out as a tree of at most so many nodes.
MAX_NODES = 2_000


def grow_sparse(task: Task, *, online: bool = False) -> MethodResult:
    """Rule out most by draws, and check the cases that many tests speak about.

    Parameters
    ----------
    task : Task
        What to solve.
    online : bool, default=False
        Return the rule itself, which chooses test by test, instead of its tree.
    """
    check_task(task)
    plain = make_rule(task, "elimination")
    rule = SparseRule(
        plain.tests,
        plain.classes,
        plain.prices,
        rule="elimination",
        case_codes=plain.case_codes,
        case_class=plain.case_class,
        case_weights=plain.case_weights,
        chances=plain.chances,
        mistakes=plain.mistakes,
    )
    if not online:
        try:
            return MethodResult(expand_beliefs(task, rule, MAX_NODES))
        except NoPolicyError:
            pass
    return MethodResult(rule, priced=price_sampled(task, rule))


class SparseRule(Rule):
    """The rule for sparse tables; a belief also notes the members being checked."""

    def _choose(self, state: Belief) -> int | None:
        classes = self.case_class[state.cases]
        if not np.any(classes != classes[0]):
            return None
        chosen = self._check_members(state, self._members(state))
        if chosen is not None:
            return chosen
        weight = self.kernel.weigh_cases(state.cases, state.surprisal)
        number = RULES["elimination", "paper"]
        effects = score_tests(self.kernel, state.cases, weight, number)[1]
        is_open = np.ones(len(self.tests), dtype=bool)
        is_open[list(state.done)] = False
        if not np.any(is_open & (effects == Effect.SURE_TO_TELL)):
            return None
        gone = self._expect_gone(state)
        gains = gone / np.maximum(self.prices.full, 1e-300)
        gains[~is_open | (gone <= 1e-12) | (effects == Effect.TELLS_NOTHING)] = -1.0
        best = float(gains.max())
        if best <= 0:
            return int(np.argmax(is_open & (effects == Effect.SURE_TO_TELL)))
        return int(np.argmax(gains >= best * (1 - 1e-12)))

    def advance(self, state: Belief, code: int) -> Belief:
        """Rule out the cases that cannot show the code; keep the members in mind."""
        members = self._members(state)
        is_check = self._check_members(state, members) is not None
        after = super().advance(state, code)
        kept = set(after.cases.tolist())
        note = tuple(m for m in members if m in kept) if is_check else ()
        return make_belief(after.cases, after.surprisal, after.done, note)

    def _members(self, state: Belief) -> tuple[int, ...]:
        """Return the members being checked, or those to be checked from now on."""
        if state.note:
            return state.note
        n_done = len(state.done)
        if n_done == 0 or n_done & (n_done - 1):
            return ()
        known = np.zeros(len(state.cases), dtype=np.int64)
        for test in state.done:
            known += ~self.possible.is_unknown_in(test, state.cases)
        return tuple(sorted(state.cases[2 * known >= n_done].tolist()))

    def _check_members(self, state: Belief, members: tuple[int, ...]) -> int | None:
        """Return a test that checks the members; None if nothing is left to check."""
        if not members:
            return None
        is_open = np.ones(len(self.tests), dtype=bool)
        is_open[list(state.done)] = False
        first = members[0]
        for other in members[1:]:
            if self.case_class[other] != self.case_class[first]:
                tells = is_open & self.possible.tells_from(first, [other])[:, 0]
                if tells.any():
                    return int(np.argmax(tells))
        if len({int(self.case_class[m]) for m in members}) > 1:
            return None
        others = state.cases[self.case_class[state.cases] != self.case_class[first]]
        gone = self.possible.tells_from(first, others).sum(axis=1)
        counts = gone * (is_open & ~self.possible.is_unknown[:, first])
        return int(np.argmax(counts)) if counts.any() else None

    @cached_property
    def _chances(self) -> NDArray[np.float64]:
        """The chance of each code of each test where the outcome is unknown."""
        most = max(test.n_levels for test in self.tests)
        chances = np.zeros((len(self.tests), most + 2))
        for test, given in enumerate(self.chances):
            n_levels = self.tests[test].n_levels
            chances[test, :n_levels] = given[:n_levels]
        return chances

    def _expect_gone(self, state: Belief) -> NDArray[np.float64]:
        """Return how many cases the draw of each test rules out on average."""
        block = self.case_codes[:, state.cases]
        is_known = ~self.possible.is_unknown[:, state.cases]
        gone = is_known.sum(axis=1).astype(np.float64)
        for code in range(self._chances.shape[1]):
            # Levels of most tests are few; those without a chance take nothing off.
            if self._chances[:, code].any():
                gone -= self._chances[:, code] * (block == code).sum(axis=1)
        return np.asarray(gone)
