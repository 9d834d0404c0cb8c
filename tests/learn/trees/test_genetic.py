"""The genetic search of ICET, on a problem whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from askless.learn.trees._genetic import Genetic


def search(seed: int, n_trials: int, **options) -> tuple[Genetic, list[float]]:
    """Breed strings for few ones; return the population and the best costs."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (20, 40), dtype=np.uint8)
    genetic = Genetic(bits, rng, **{"crossover": 0.6, "mutation": 0.01, **options})
    best, used = [], 0
    while used < n_trials:
        current = genetic.bits
        used += genetic.assess(
            lambda places, current=current: [float(current[p].sum()) for p in places],
            n_trials - used,
        )
        best.append(genetic.best_cost)
        genetic.breed()
    assert used == n_trials
    return genetic, best


def test_the_search_finds_what_is_cheap():
    genetic, best = search(0, 1500)
    assert best[0] > 10
    assert best[-1] <= 4
    assert genetic.best_bits.sum() == genetic.best_cost == best[-1]


def test_the_best_never_gets_worse_and_never_dies():
    for seed in range(5):
        genetic, best = search(seed, 300)
        assert best == sorted(best, reverse=True)
        assert (genetic.bits == genetic.best_bits).all(axis=1).any()


def test_the_same_seed_gives_the_same_search():
    one, other = search(3, 400)[0], search(3, 400)[0]
    assert np.array_equal(one.bits, other.bits)


def test_unchanged_children_keep_their_cost():
    # Nothing crosses or mutates, so only the first generation is new.
    genetic = search(1, 20, crossover=0.0, mutation=0.0)[0]
    assert np.isfinite(genetic.costs).all()
    assert np.array_equal(genetic.costs, genetic.bits.sum(axis=1))


@pytest.mark.parametrize("cost", [0.0, 5.0])
def test_a_population_of_equal_costs_goes_on(cost):
    rng = np.random.default_rng(0)
    genetic = Genetic(rng.integers(0, 2, (6, 24), dtype=np.uint8), rng, 0.6, 0.1)
    for _ in range(5):
        genetic.assess(lambda places: [cost] * len(places), 100)
        genetic.breed()
    assert genetic.bits.shape == (6, 24)
