"""Orders of tests and the rule for sparse tables, under unknown outcomes."""

from __future__ import annotations

import pytest

import askless
from askless.datasets import make_sparse_table
from askless.policy import Rule, Sequence
from askless.solve._solve import make_task
from askless.solve.unknown import _rules
from askless.solve.unknown._sequences import count_hindsight, find_order
from tests.solve.unknown.tables import draw_unknown, load_wiser, make_toy, solve_quietly


def task_of(table):
    return make_task(table, "expected", "class")


def test_the_toy_asks_two_tests():
    table = make_toy()
    assert find_order(task_of(table), 50, None, 0).tolist() == [0, 1]
    for method in ("non-adaptive", "low-adaptive"):
        solution = askless.solve(table, method=method, random_state=0)
        assert solution.expected_cost == pytest.approx(2)


def test_an_order_tells_every_two_cases_apart(rng):
    for own in rng.spawn(30):
        table = draw_unknown(own, complete=True)
        order = find_order(task_of(table), 3, None, int(own.integers(100)))
        assert len(set(order.tolist())) == len(order)
        kept = askless.Table(
            {name: table.rows()[name] for name in [table.test_names[t] for t in order]},
            table.case_classes,
            alphabet={
                test.name: test.outcomes for test in (table.tests[t] for t in order)
            },
            chances={
                table.test_names[t]: dict(
                    zip(table.tests[t].outcomes, table.chances[t], strict=True)
                )
                for t in order
            },
        )
        assert kept.indistinct == []


def test_skipping_never_costs_more(rng):
    for own in rng.spawn(30):
        table = draw_unknown(own, complete=True)
        fixed = solve_quietly(table, method="non-adaptive", random_state=1)
        skips = solve_quietly(table, method="low-adaptive", random_state=1)
        assert skips.expected_cost <= fixed.expected_cost + 1e-9
        assert fixed.error == pytest.approx(0, abs=1e-12)
        assert skips.error == pytest.approx(0, abs=1e-12)
        if table.prices.full.max() == table.prices.full.min():
            count = count_hindsight(task_of(table), skips.policy)
            price = table.prices.full[0]
            assert count * price <= skips.expected_cost + 1e-9


def test_the_tree_of_an_order_is_the_sequence(rng):
    for own in rng.spawn(20):
        table = draw_unknown(own, complete=True)
        solution = solve_quietly(table, method="non-adaptive", random_state=1)
        order = find_order(task_of(table), 10, None, 1)
        sequence = Sequence.from_table(table, order)
        check = askless.evaluate(sequence, table)
        if all(chances.all() for chances in table.chances):
            # A sequence takes every level for possible where the outcome is unknown.
            assert check.expected_cost == pytest.approx(solution.expected_cost)


def test_the_same_seed_gives_the_same_order():
    table = make_toy()
    one = askless.solve(table, method="non-adaptive", random_state=3)
    two = askless.solve(table, method="non-adaptive", random_state=3)
    assert one.policy.test.tolist() == two.policy.test.tolist()


def test_wiser_costs_what_was_computed():
    table = load_wiser()
    fixed = askless.solve(table, method="non-adaptive", random_state=0, samples=5)
    assert fixed.expected_cost == pytest.approx(11.455, abs=0.25)
    skips = askless.solve(table, method="low-adaptive", random_state=0, samples=5)
    assert skips.expected_cost == pytest.approx(9.827, abs=0.1)
    note = skips.notes[-1]
    assert "hindsight" in note
    assert float(note.split("only ")[1].split()[0]) == pytest.approx(9.178, abs=0.06)


def test_bad_options_are_refused():
    with pytest.raises(askless.exceptions.InvalidOptionError, match="samples"):
        askless.solve(make_toy(), method="non-adaptive", samples=0)


# Sparse tables.


def test_the_sparse_rule_is_never_wrong(rng):
    for own in rng.spawn(40):
        table = draw_unknown(own, complete=True)
        solution = solve_quietly(table, method="sparse")
        check = askless.evaluate(solution.policy, table)
        assert check.error == pytest.approx(0, abs=1e-12)
        assert check.expected_cost == pytest.approx(solution.expected_cost)


def test_a_sparse_table_is_sampled():
    table = make_sparse_table(64, 600, random_state=0)
    assert table.indistinct == []
    solution = askless.solve(table, method="sparse")
    assert isinstance(solution.policy, Rule)
    assert not solution.is_exact
    assert solution.error == 0
    assert solution.margin > 0
    assert solution.status == "feasible"
    assert 8 < solution.expected_cost < 25


def test_a_rule_too_large_for_a_tree_is_asked_online(monkeypatch, tmp_path):
    table = make_sparse_table(16, 60, n_known=3, random_state=0)
    tree = solve_quietly(table, method="elimination")
    monkeypatch.setattr(_rules, "MAX_NODES", 100)
    solution = solve_quietly(table, method="elimination")
    assert isinstance(solution.policy, Rule)
    assert solution.is_exact
    assert solution.expected_cost == pytest.approx(tree.expected_cost)
    assert solution.worst_cost == tree.worst_cost
    monkeypatch.setattr(_rules, "MAX_STATES", 100)
    sampled = solve_quietly(table, method="elimination")
    assert not sampled.is_exact
    assert abs(sampled.expected_cost - tree.expected_cost) <= 1.6 * sampled.margin
    solution.policy.save(tmp_path / "rule.json")
    loaded = askless.load(tmp_path / "rule.json")
    assert loaded.start().test == solution.policy.start().test
    sparse = solve_quietly(table, method="sparse", online=True)
    with pytest.raises(askless.exceptions.PolicyFileError, match="SparseRule"):
        sparse.policy.save(tmp_path / "sparse.json")
