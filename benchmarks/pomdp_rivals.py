"""Solvers of POMDPs on tables of likelihoods: point-based value iteration, and POUCT.

The hidden state is the case; which tests were asked is known. A solver is given all
chances and prices; it asks a test or decides, and pays prices and mistakes.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import askless

Floats = NDArray[np.float64]


class CasePomdp:
    """A table as a POMDP: chances of each outcome, prices, losses, first weights."""

    def __init__(self, table: askless.Table) -> None:
        mistakes = table.costs.mistake_matrix(table.classes)
        assert mistakes is not None
        self.weight: Floats = table.prior / table.prior.sum()
        self.price: Floats = np.asarray(table.prices.full, dtype=float)
        self.loss: Floats = mistakes[table.class_ids]
        self.chance: list[Floats] = [
            np.ascontiguousarray(table.possible.outcome_chances(t)[: test.n_levels])
            for t, test in enumerate(table.tests)
        ]

    @property
    def n_tests(self) -> int:
        """How many tests may be asked, each once."""
        return len(self.price)


@dataclass
class _Known:
    """What is known of beliefs once some tests were asked."""

    # Costs by case of policies, and beliefs with what they cost at least.
    alphas: list[Floats] = field(default_factory=list)
    points: list[tuple[Floats, float]] = field(default_factory=list)


class PointBased:
    """Heuristic search value iteration (Smith and Simmons 2005), minimising cost.

    Above, the least of linear functions, each what a policy costs by case. Below, the
    sawtooth over beliefs that were visited. A trial follows the test of the least lower
    bound and the outcome of the widest gap, and backs up on its way to the root. Both
    bounds are kept by the set of tests that were asked.
    """

    def __init__(self, pomdp: CasePomdp) -> None:
        self.pomdp = pomdp
        self.stops = list(pomdp.loss.T)
        self.known: dict[frozenset[int], _Known] = {}

    def solve(self, seconds: float, gap: float = 1e-6) -> tuple[float, float]:
        """Return the cost of the policy that was found, and the bound below."""
        end = time.process_time() + seconds
        root, nothing = self.pomdp.weight, frozenset[int]()
        upper, lower = self.above(nothing, root)[0], self.below(nothing, root)
        while upper - lower > gap * upper and time.process_time() < end:
            self._try(root, nothing, 0.1 * gap * upper, end)
            upper, lower = self.above(nothing, root)[0], self.below(nothing, root)
        return upper, lower

    def above(self, asked: frozenset[int], weight: Floats) -> tuple[float, Floats]:
        """Return the least cost of a known policy, and its cost by case."""
        known = self.known.get(asked)
        alphas = self.stops + (known.alphas if known else [])
        costs = np.stack(alphas) @ weight
        best = int(costs.argmin())
        return float(costs[best]), alphas[best]

    def below(self, asked: frozenset[int], weight: Floats) -> float:
        """Return a lower bound of a belief, by the points that were visited."""
        known = self.known.get(asked)
        if known is None or not known.points:
            return 0.0
        points = np.stack([point for point, _ in known.points])
        values = np.array([value for _, value in known.points])
        ratio = np.divide(
            weight, points, out=np.full_like(points, np.inf), where=points > 0
        )
        return float((ratio.min(axis=1) * values).max())

    def _after(self, weight: Floats, asked: frozenset[int]) -> list[tuple[int, Floats]]:
        left = [t for t in range(self.pomdp.n_tests) if t not in asked]
        return [(t, self.pomdp.chance[t] * weight) for t in left]

    def _try(
        self, weight: Floats, asked: frozenset[int], gap: float, end: float
    ) -> None:
        """Go down to where the gap is small, and back up."""
        path = [(weight, asked)]
        while time.process_time() < end:
            options = self._after(weight, asked)
            if not options:
                break
            lowers = [
                self.pomdp.price[t] * weight.sum()
                + sum(self.below(asked | {t}, part) for part in parts)
                for t, parts in options
            ]
            best = int(np.argmin(lowers))
            if lowers[best] >= self.above(asked, weight)[0]:
                break
            test, parts = options[best]
            asked = asked | {test}
            gaps = [self.above(asked, p)[0] - self.below(asked, p) for p in parts]
            if sum(gaps) <= gap:
                break
            weight = parts[int(np.argmax(gaps))]
            path.append((weight, asked))
        for weight, asked in reversed(path):
            self._back_up(weight, asked)

    def _back_up(self, weight: Floats, asked: frozenset[int]) -> None:
        known = self.known.setdefault(asked, _Known())
        lower = float((self.pomdp.loss.T @ weight).min())
        best, alpha = self.above(asked, weight)
        is_new = False
        for test, parts in self._after(weight, asked):
            paid = self.pomdp.price[test] * weight.sum()
            then = asked | {test}
            found = [self.above(then, part) for part in parts]
            lower = min(lower, paid + sum(self.below(then, part) for part in parts))
            if (cost := paid + sum(value for value, _ in found)) < best - 1e-12:
                best, is_new = cost, True
                alpha = self.pomdp.price[test] + sum(
                    chance * own
                    for chance, (_, own) in zip(
                        self.pomdp.chance[test], found, strict=True
                    )
                )
        if is_new:
            known.alphas.append(alpha)
        if lower > self.below(asked, weight) + 1e-15:
            known.points.append((weight.copy(), lower))


# POUCT of pomdp-py.


def pouct_cost(
    pomdp: CasePomdp, n_simulations: int, most_places: int, explored: float
) -> float:
    """Return what POUCT of pomdp-py costs on average, with all its ways written out.

    At each place, the likeliest first, it plans anew by simulations from the posterior;
    beyond so many places it decides. How much it explores is a share of the dearest
    mistake.
    """
    random.seed(0)
    places = [(-1.0, pomdp.weight, frozenset[int]())]
    cost, n_planned = 0.0, 0
    while places:
        places.sort(key=lambda place: -place[0])
        _, weight, asked = places.pop()
        action = -1
        if n_planned < most_places and len(asked) < pomdp.n_tests:
            action = _plan(pomdp, weight, asked, n_simulations, explored)
            n_planned += 1
        if action < 0:
            cost += float((pomdp.loss.T @ weight).min())
            continue
        cost += float(pomdp.price[action] * weight.sum())
        for part in pomdp.chance[action] * weight:
            if part.sum() > 0:
                places.append((-float(part.sum()), part, asked | {action}))
    return cost


def _plan(
    pomdp: CasePomdp, weight: Floats, asked: frozenset[int], n: int, explored: float
) -> int:
    """Return the test that POUCT asks, -1 if it decides."""
    from pomdp_py import POUCT

    agent = _make_agent(pomdp, weight, asked)
    planner = POUCT(
        max_depth=pomdp.n_tests + 1,
        discount_factor=1.0,
        num_sims=n,
        exploration_const=explored * float(pomdp.loss.max()),
        rollout_policy=agent.policy_model,
    )
    action = planner.plan(agent)
    return -1 if action.what < 0 else int(action.what)


def _make_agent(pomdp: CasePomdp, weight: Floats, asked: frozenset[int]) -> Any:
    """Return an agent of pomdp-py whose belief is a posterior.

    A state is (case, tests asked, is over). Deciding, which is best for the posterior
    there, is the action -1 - class.
    """
    import pomdp_py

    class Thing(pomdp_py.State, pomdp_py.Action, pomdp_py.Observation):  # type: ignore[misc]
        def __init__(self, what: Any) -> None:
            self.what = what

        def __hash__(self) -> int:
            return hash(self.what)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Thing) and self.what == other.what

    rising = [np.cumsum(chance, axis=0) for chance in pomdp.chance]
    n_decisions = pomdp.loss.shape[1]

    class Transition(pomdp_py.TransitionModel):  # type: ignore[misc]
        def sample(self, state: Any, action: Any) -> Any:
            case, done, is_over = state.what
            if is_over or action.what < 0:
                return Thing((case, done, True))
            return Thing((case, done | {action.what}, False))

    class Seen(pomdp_py.ObservationModel):  # type: ignore[misc]
        def sample(self, next_state: Any, action: Any) -> Any:
            if action.what < 0:
                return Thing(-1)
            case = next_state.what[0]
            at = np.searchsorted(rising[action.what][:, case], random.random())
            return Thing(min(int(at), len(rising[action.what]) - 1))

    class Reward(pomdp_py.RewardModel):  # type: ignore[misc]
        def sample(self, state: Any, action: Any, next_state: Any) -> float:
            if state.what[2]:
                return 0.0
            if action.what < 0:
                return -float(pomdp.loss[state.what[0], -1 - action.what])
            return -float(pomdp.price[action.what])

    class Choice(pomdp_py.RolloutPolicy):  # type: ignore[misc]
        def get_all_actions(self, state: Any, history: Any = None) -> list[Any]:
            _, done, is_over = state.what
            if is_over:
                return [Thing(-1)]
            tests = [t for t in range(pomdp.n_tests) if t not in done]
            return [Thing(a) for a in [*tests, *range(-n_decisions, 0)]]

        def rollout(self, state: Any, history: Any = None) -> Any:
            # To decide by what was seen tells far more than to go on at random.
            left = weight
            for action, seen in history or ():
                if action.what >= 0:
                    left = left * pomdp.chance[action.what][seen.what]
            return Thing(-1 - int((left @ pomdp.loss).argmin()))

    shares = weight / weight.sum()
    belief = pomdp_py.Histogram(
        {Thing((i, asked, False)): float(p) for i, p in enumerate(shares) if p > 0}
    )
    return pomdp_py.Agent(belief, Choice(), Transition(), Seen(), Reward())
