"""Rows are decided as sessions would, with what each of them bought."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.run import decide_rows
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import generators, random_rows, tables_with_policies


def check(policy, rows, n):
    found = decide_rows(policy, rows)
    assert found.decision.tolist() == policy.predict(rows).tolist()
    assert found.cost.tolist() == policy.cost(rows).tolist()
    assert (found.leaf is not None) == (policy.kind in ("tree", "number-tree"))
    for row in range(n):
        session = policy.start()
        while session.test is not None:
            session.answer(rows[session.test][row], allow_unseen=True)
        assert found.bought[row] == session.bought
        assert found.cost[row] == pytest.approx(session.spent)
    fast = decide_rows(policy, rows, with_bought=False)
    assert fast.bought is None
    assert fast.decision.tolist() == found.decision.tolist()


@given(tables_with_policies(), generators(), st.integers(1, 8))
@settings(deadline=None)
def test_rows_buy_what_a_session_buys(pair, rng, n):
    check(pair[1], random_rows(rng, pair[1].tests, n), n)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_policy_decides_rows(name, rng):
    policy = make_example(name)
    check(policy, random_rows(rng, policy.tests, 20), 20)
