"""Ensembles as policies: bounds hold, settled answers are the full model's."""

import copy
import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import askless
from askless._core.ensemble._machine import weigh_prices
from askless._core.ensemble._walk import Walk
from askless.exceptions import (
    InvalidOptionError,
    InvalidPolicyError,
    PolicyFileError,
)
from askless.policy import Output
from askless.problem import PriceList, Test
from askless.testing import check_policy, plain_ensemble_answer, plain_ensemble_state
from tests.policy.random_ensembles import LINKS, random_ensemble, random_rows

SEEDS = st.integers(0, 2**32 - 1)
BOUNDS = ("path", "deep")


def modes_of(rng_seed, **options):
    """Yield one random ensemble with each way to keep bounds that it allows."""

    def make(bounds):
        rng = np.random.default_rng(rng_seed)
        return random_ensemble(rng, bounds=bounds, **options)

    first = make("path")
    yield first
    yield make("deep")
    if not first.answers_number:
        yield make("joint")
    if not first.answers_number and first.trees.value.shape[1] == 1:
        yield make("leaves")
    if first._is_vote:
        yield make("vote")


@given(seed=SEEDS)
def test_lossless_answers_are_the_full_model_s(seed):
    for policy in modes_of(seed):
        X, codes = random_rows(np.random.default_rng(seed), policy, 20)
        full = [plain_ensemble_answer(policy, row) for row in codes]
        # All trees at once, and bought until nothing can change.
        for answers in (policy.predict(X), policy.predict_and_cost(X)[0]):
            if policy.answers_number:
                assert answers.tolist() == full
            else:
                assert [policy.classes.index(a) for a in answers.tolist()] == full


@given(seed=SEEDS)
def test_a_session_pays_what_rows_pay_and_says_the_same(seed):
    for policy in modes_of(seed):
        X, codes = random_rows(np.random.default_rng(seed), policy, 4)
        costs, answers = policy.cost(X), policy.predict(X).tolist()
        for row, cost, answer in zip(codes, costs, answers, strict=True):
            session = policy.start()
            while session.test is not None:
                i = policy.test_names.index(session.test)
                session.answer(X[session.test][_index(codes, row)], allow_unseen=True)
                assert session.log[-1]["test"] == policy.test_names[i]
            assert session.spent == cost
            assert session.decision == answer


@given(seed=SEEDS)
def test_no_row_pays_more_than_a_limit_and_stops_no_earlier_than_it_must(seed):
    for policy in modes_of(seed):
        X, codes = random_rows(np.random.default_rng(seed), policy, 4)
        full = policy.cost(X)
        for most in (0.0, float(np.median(full)), float(full.max())):
            limited = policy.with_stop(max_cost=most)
            costs, answers = limited.cost(X), limited.predict(X).tolist()
            assert (costs <= most).all()
            assert (costs <= full).all()
            for row, cost, answer in zip(codes, costs, answers, strict=True):
                session = limited.start()
                free = policy.start()
                while session.test is not None:
                    value = X[session.test][_index(codes, row)]
                    assert session.test == free.test
                    session.answer(value, allow_unseen=True)
                    free.answer(value, allow_unseen=True)
                assert session.spent == cost
                assert session.decision == answer
                if free.test is not None:
                    # What comes next could have cost too much, whatever it shows.
                    dearest = _dearest_next(policy, free)
                    assert session.spent + dearest > most


def test_a_delayed_order_that_the_limit_allows_is_made():
    """Tests of one group are ordered together: only the first of them pays in full."""
    for policy in modes_of(131922):
        X, _ = random_rows(np.random.default_rng(131922), policy, 4)
        full = policy.cost(X)
        assert full.max() == policy.prices.cost_of_all() < policy.prices.full.sum()
        limited = policy.with_stop(max_cost=float(full.max()))
        assert limited.cost(X).tolist() == full.tolist()


def _dearest_next(policy, session):
    """Return the most that the next test can charge."""
    prices, test = policy.prices, policy.test_names.index(session.test)
    if len(prices.by_outcome.get(test, ())):
        return max(prices.full[test], *prices.by_outcome[test])
    if prices.delayed[test]:
        # Of a group, the first test that is ordered pays in full: any of them.
        return prices.full.sum()
    return prices.full[test]


STOPS = (
    {},
    {"is_complete": True},
    {"threshold": 0.0},
    {"threshold": 0.7},
    {"threshold": 3.0},
    {"threshold": 0.5, "varies_together": True},
)


@given(seed=SEEDS, is_plain=st.booleans())
def test_rows_and_sessions_stop_at_the_same_place_whatever_stops_them(seed, is_plain):
    rng = np.random.default_rng(seed)
    votes = [
        random_ensemble(np.random.default_rng(seed), "votes", bounds, is_plain=is_plain)
        for bounds in ("vote", "path", "deep", "joint")
    ]
    X, codes = random_rows(rng, votes[0], 6)
    full = np.array([_full_sums(votes[1], row) for row in codes])
    for policy in (*votes, *modes_of(seed)):
        if policy not in votes:
            X, codes = random_rows(rng, policy, 3)
        for stop in STOPS:
            stopped = policy.with_stop(**stop)
            decisions, cost = stopped.predict_and_cost(X)
            assert cost.tolist() == stopped.cost(X).tolist()
            assert decisions.tolist() == stopped.predict(X).tolist()
            shares = None
            if not policy.answers_number:
                shares = stopped.predict_proba(X)
            for i, row in enumerate(codes):
                state, spent = _follow(stopped, row)
                assert spent == cost[i]
                assert stopped.answer(state) == decisions[i]
                if shares is not None:
                    assert stopped.class_weights(state).tolist() == shares[i].tolist()
        if policy in votes:
            complete = policy.with_stop(is_complete=True).predict_proba(X)
            assert complete.tolist() == policy.output.probabilities(full).tolist()


def _follow(policy, row):
    """Return where a row ends, step by step, and what it has paid."""
    state, bill = policy.initial_state(), policy.prices.open_bill()
    while (test := policy.next_test(state)) is not None:
        if policy.prices.delayed[test] and not bill.has_paid(test):
            bill.charge_together(policy.tests_ahead(state))
        else:
            bill.charge(test, int(row[test]))
        state = policy.advance(state, int(row[test]))
    return state, bill.spent


@given(seed=SEEDS)
def test_a_state_goes_on_in_any_order_and_as_often_as_wanted(seed):
    rng = np.random.default_rng(seed)
    for policy in modes_of(seed):
        _, codes = random_rows(rng, policy, 1)
        states = [policy.initial_state()]
        while (test := policy.next_test(states[-1])) is not None:
            skips = rng.random() < 0.2
            after = (
                policy.skip(states[-1], paid=bool(rng.integers(2)))
                if skips
                else policy.advance(states[-1], int(codes[0, test]))
            )
            states.append(after)
        for i in rng.permutation(len(states)):
            state, fresh = states[i], policy.state_after(states[i].answers)
            _assert_same_state(state, fresh)
            assert state == fresh
            assert hash(state) == hash(fresh)
            if state.test >= 0:
                # Its walk was taken before; so this one comes from the start.
                for code in range(policy.tests[state.test].n_levels + 2):
                    answers = (*state.answers, (state.test, code))
                    _assert_same_state(
                        policy.advance(state, code), policy.state_after(answers)
                    )


def _assert_same_state(state, other):
    assert state.answers == other.answers
    assert (state.test, state.ahead) == (other.test, other.ahead)
    assert state.raw.tolist() == other.raw.tolist()
    assert state.is_settled == other.is_settled
    assert state.n_waiting == other.n_waiting


def _index(codes, row):
    return int(np.flatnonzero((codes == row).all(axis=1))[0])


@given(seed=SEEDS)
def test_every_step_agrees_with_the_plain_twin(seed):
    rng = np.random.default_rng(seed)
    for policy in modes_of(seed):
        if policy.bounds == "vote":
            continue  # below
        _, codes = random_rows(rng, policy, 1)
        got = policy.initial_state()
        while True:
            plain = plain_ensemble_state(policy, got.answers)
            low, high = policy.bounds_at(got)
            np.testing.assert_allclose(low, plain.low, atol=1e-9)
            np.testing.assert_allclose(high, plain.high, atol=1e-9)
            assert got.n_waiting == plain.n_waiting
            if policy.bounds == "leaves":
                assert got.is_settled == plain.is_settled
            if policy.bounds == "joint" and got.is_settled:
                # Rounding apart, and ties, which the machine leaves open.
                deep = _with_bounds(policy, "deep")
                tree_by_tree = plain_ensemble_state(deep, got.answers)
                assert plain.is_settled or _leads_by_bounds(tree_by_tree)
            if got.n_waiting:
                np.testing.assert_allclose(got.raw, plain.mean, atol=1e-9)
            if got.test < 0:
                break
            assert got.test in plain.wanted
            _assert_best(policy, got, plain.wanted)
            if rng.random() < 0.15:
                got = policy.skip(got)
            else:
                got = policy.advance(got, codes[0, got.test])


def _with_bounds(policy, bounds):
    other = copy.copy(policy)
    other.bounds = bounds
    return other


def _leads_by_bounds(state):
    low, high = state.low, state.high
    if len(low) == 1:
        return low[0] > 0 or high[0] < 0
    first = int(np.argmax(low))
    return all(low[first] >= high[q] for q in range(len(low)) if q != first)


@given(seed=SEEDS)
def test_joint_bounds_are_within_deep_ones_and_cost_no_more_rows_wrong(seed):
    rng = np.random.default_rng(seed)
    link = ("logit", "softmax", "share")[seed % 3]
    deep = random_ensemble(np.random.default_rng(seed), link, bounds="deep")
    joint = random_ensemble(np.random.default_rng(seed), link, bounds="joint")
    X, codes = random_rows(rng, deep, 6)
    assert joint.predict(X).tolist() == deep.predict(X).tolist()
    # The same order of purchases, stopped no later.
    assert (joint.cost(X) <= deep.cost(X)).all()
    assert joint.cost(X).tolist() == joint.cost(X, n_jobs=2).tolist()
    for row in codes[:2]:
        state = joint.initial_state()
        while (test := joint.next_test(state)) is not None:
            theirs = deep.state_after(state.answers)
            ours = joint.bounds_at(state)
            assert (ours[0] >= deep.bounds_at(theirs)[0] - 1e-12).all()
            assert (ours[1] <= deep.bounds_at(theirs)[1] + 1e-12).all()
            assert deep.next_test(theirs) == test
            state = joint.advance(state, int(row[test]))


def _assert_best(policy, state, wanted):
    bill, chosen = policy.prices.open_bill(), state.test
    for step, (test, code) in enumerate(state.answers):
        if code >= 0:
            if policy.prices.delayed[test] and not bill.has_paid(test):
                before = policy.state_after(state.answers[:step])
                bill.charge_together(before.ahead)
            else:
                bill.charge(test, code)
    price = {test: bill.price(test) for test in wanted}
    if price[chosen] == 0:
        return
    assert all(price[test] > 0 for test in wanted)
    best = max(amount / price[test] for test, amount in wanted.items())
    assert wanted[chosen] / price[chosen] >= best * (1 - 1e-6) - 1e-6


@given(seed=SEEDS)
def test_bounds_hold_for_every_completion_and_never_widen(seed):
    rng = np.random.default_rng(seed)
    for policy in modes_of(seed):
        _, codes = random_rows(rng, policy, 6)
        for row in codes[:2]:
            state, before = policy.initial_state(), None
            while (test := policy.next_test(state)) is not None:
                low, high = now = policy.bounds_at(state)
                if before is not None:
                    assert (low >= before[0] - 1e-12).all()
                    assert (high <= before[1] + 1e-12).all()
                before = now
                known = dict(state.answers)
                for other in codes:
                    mixed = [known.get(i, c) for i, c in enumerate(other)]
                    full = _full_sums(policy, mixed)
                    assert (full >= low - 1e-9).all()
                    assert (full <= high + 1e-9).all()
                state = policy.advance(state, int(row[test]))


def _full_sums(policy, codes):
    answers = tuple((i, int(c)) for i, c in enumerate(codes))
    return np.array(plain_ensemble_state(policy, answers).low)


@given(seed=SEEDS)
def test_votes_are_bounded_as_paths_are(seed):
    rng = np.random.default_rng(seed)
    path = random_ensemble(np.random.default_rng(seed), "votes", bounds="path")
    vote = random_ensemble(np.random.default_rng(seed), "votes", bounds="vote")
    X, codes = random_rows(rng, path, 10)
    assert vote.predict(X).tolist() == path.predict(X).tolist()
    # Rows walked tree by tree in blocks buy what rows run one by one buy.
    _, cost, n_bought = vote.run_rows(X, with_means=True)
    assert vote.cost(X).tolist() == cost.tolist()
    assert vote.run_rows(X, with_means=False)[2].tolist() == n_bought.tolist()
    assert vote.cost(X).tolist() == vote.cost(X, n_jobs=2).tolist()
    state = vote.initial_state()
    while (test := vote.next_test(state)) is not None:
        plain = plain_ensemble_state(path, state.answers)
        low, high = vote.bounds_at(state)
        np.testing.assert_allclose(low, plain.low, atol=1e-9)
        np.testing.assert_allclose(high, plain.high, atol=1e-9)
        np.testing.assert_allclose(state.raw, plain.mean, atol=1e-3)
        state = vote.advance(state, int(codes[0, test]))


@given(seed=SEEDS)
def test_packed_votes_buy_what_rows_one_by_one_buy(seed):
    rng = np.random.default_rng(seed)
    policy = random_ensemble(rng, "votes", bounds="vote", is_plain=True)
    X, codes = random_rows(rng, policy, 21)
    engine, machine = policy.prices.engine, policy.machine
    values, _, _ = policy._rows(X)
    raw_codes = np.ascontiguousarray(codes, dtype=np.int32)
    one_by_one = machine.run_rows(engine, values, None, np.inf, False, True, 1)
    for rows in ((values, None), (None, raw_codes)):
        for n_jobs, is_packed in ((1, True), (2, True), (1, False)):
            raw, cost, n_bought = machine.run_rows(
                engine, *rows, np.inf, False, False, n_jobs, is_packed
            )
            assert cost.tolist() == one_by_one[1].tolist()
            assert n_bought.tolist() == one_by_one[2].tolist()
            full = [plain_ensemble_answer(policy, row) for row in codes]
            assert policy.output.decide(raw).tolist() == full


def assert_remembered_runs_are_the_same(policy, X):
    """Run rows with trees remembered, and worked out again for each row."""
    engine, machine = policy.prices.engine, policy.machine
    values, codes, _ = policy._rows(X)
    for threshold, most, is_complete in (
        (np.inf, np.inf, False),
        (np.inf, np.inf, True),
        (1.0, np.inf, False),
        (np.inf, 3.0, False),
    ):
        plain, *others = (
            machine.run_rows(
                engine, values, codes, threshold, is_complete, True, n_jobs, is_packed,
                most=most,
            )
            for n_jobs, is_packed in ((1, False), (1, True), (2, True))
        )  # fmt: skip
        for other in others:
            for a, b in zip(plain, other, strict=True):
                assert np.array_equal(a, b)
    plain, packed = (
        machine.trace_rows(engine, values, codes, 1, is_packed, with_sums=True)
        for is_packed in (False, True)
    )
    for a, b in zip(plain, packed, strict=True):
        assert np.array_equal(a, b)
    complete = machine.run_rows(engine, values, codes, np.inf, True, True, 1, False)
    assert np.array_equal(complete[0], machine.answer_rows(values, codes, 1))


@given(seed=SEEDS)
def test_remembered_trees_buy_what_rows_one_by_one_buy(seed):
    for policy in modes_of(seed):
        if policy.bounds != "vote":
            rng = np.random.default_rng(seed)
            assert_remembered_runs_are_the_same(policy, random_rows(rng, policy, 20)[0])


@pytest.mark.parametrize("most_leaves", [8, 20, 50])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_remembered_trees_of_any_size_buy_the_same(n_classes, most_leaves, rng):
    X = rng.normal(size=(400, 7)).round(2)
    score = X[:, :3].sum(axis=1) + X[:, 3] * X[:, 4]
    y = np.digitize(score, [0.0, 1.0][: n_classes - 1])
    model = GradientBoostingClassifier(
        n_estimators=12, max_depth=None, max_leaf_nodes=most_leaves, random_state=0
    ).fit(X, y)
    policy = askless.AdaptiveEnsemble(model, bounds="joint").fit().policy_
    new = rng.normal(size=(150, 7))
    assert_remembered_runs_are_the_same(policy, new)
    assert policy.predict(new).tolist() == model.predict(new).tolist()


@pytest.mark.parametrize("bounds", ["deep", "joint"])
@pytest.mark.parametrize("link", ["logit", "softmax"])
@pytest.mark.parametrize(("depth", "n_rows"), [(3, 1_200), (5, 200)])
def test_many_purchases_end_at_the_same_step(bounds, link, depth, n_rows, rng):
    """Rows are looked at a few steps at a time: they must go back to the right one."""
    sizes = (16, 40, depth)
    policy = random_ensemble(rng, link, bounds, sizes=sizes)
    X, codes = random_rows(rng, policy, n_rows)
    _, cost, n_bought = policy.run_rows(X)
    assert len(set(n_bought.tolist())) > 4
    assert_remembered_runs_are_the_same(policy, X)
    full = [plain_ensemble_answer(policy, row) for row in codes[:50]]
    assert policy.predict_and_cost(X)[0].tolist()[:50] == full
    # So does a session, which remembers nothing.
    for row in range(5):
        state, spent = _follow(policy, codes[row])
        assert (len(state.answers), spent) == (n_bought[row], cost[row])


@pytest.mark.parametrize(
    ("seed", "link", "depth", "row"),
    [(96, "softmax", 3, 283), (393, "logit", 3, 21),
     (158, "softmax", 5, 156), (1891, "logit", 5, 60)],
)  # fmt: skip
def test_a_row_is_settled_though_another_leads_later(seed, link, depth, row):
    """Means of trees, each on its own, may lie outside of what joint bounds allow.

    By them another class leads after some more purchases, and nothing is settled there:
    a row that is looked at only then would go on.
    """
    rng = np.random.default_rng(seed)
    policy = random_ensemble(rng, link, "joint", sizes=(16, 40, depth))
    X, codes = random_rows(rng, policy, 1200 if depth == 3 else 200)
    full = plain_ensemble_answer(policy, codes[row])
    # Step through the row to its end, past where it is settled.
    walk = Walk(policy.machine, policy.prices.engine)
    answers, settled, leaders = [], [], []
    while (stand := walk.stand(np.inf, np.inf, True))[0] >= 0:
        test, raw, _, is_settled, _ = stand
        plain = plain_ensemble_state(policy, answers)
        settled.append(is_settled)
        leaders.append(int(policy.output.decide(raw[None, :])[0]))
        if is_settled:
            assert plain.is_settled
            assert leaders[-1] == full
        answers.append((test, int(codes[row, test])))
        walk.buy(*answers[-1])
    first = settled.index(True)
    later = [leader != full for leader in leaders[first:]].index(True) + first
    assert not settled[later]
    values, all_codes, _ = policy._rows(X)
    for is_packed in (False, True):
        _, _, n_bought = policy.machine.run_rows(
            policy.prices.engine, values, all_codes, np.inf, False, True, 1, is_packed
        )
        assert n_bought[row] == first
    assert_remembered_runs_are_the_same(policy, X)


# Doubles hold neither the inverse of some, nor that of others times what waits.
TINY_PRICES = (0.0, 5e-324, 1e-320, 1e-308, 1e-300, 1e-290, 1e-100, 1.0)


@given(seed=SEEDS, is_plain=st.booleans())
def test_prices_near_zero_are_compared_without_overflow(seed, is_plain):
    for policy in modes_of(seed, is_plain=is_plain, amounts=TINY_PRICES):
        X, _ = random_rows(np.random.default_rng(seed), policy, 9)
        for row, cost in enumerate(policy.cost(X).tolist()):
            session = policy.start()
            while session.test is not None:
                session.answer(X[session.test][row], allow_unseen=True)
            assert session.spent == cost


def test_a_price_near_zero_is_dearer_than_nothing():
    prices = PriceList.plain([1e-320, 0.0, 2.0, 1e-200]).engine
    assert weigh_prices(prices).tolist() == [1 / 1e-270, np.inf, 0.5, 1e200, 0.0]
    weighed = weigh_prices(prices, [1.0, 0.5, 4.0, 1.0])
    assert weighed.tolist() == [1 / 1e-270, np.inf, 2.0, 1e200, 0.0]


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_packed_votes_run_many_rows_of_many_tests(share_missing, rng):
    X = rng.normal(size=(3000, 80)).astype(np.float32)
    X[rng.random(X.shape) < share_missing] = np.nan
    y = rng.integers(0, 8, 3000) * (np.nan_to_num(X[:, 70]) > 0)
    forest = RandomForestClassifier(12, random_state=0).fit(X, y)
    policy = (
        askless.AdaptiveEnsemble(
            forest, costs=rng.integers(0, 5, 80).tolist(), bounds="vote"
        )
        .fit()
        .policy_
    )
    values, _, _ = policy._rows(X)
    packed, plain = (
        policy.machine.run_rows(
            policy.prices.engine, values, None, np.inf, False, False, 1, is_packed
        )
        for is_packed in (True, False)
    )
    for a, b in zip(packed, plain, strict=True):
        assert (a == b).all()
    assert (policy.predict(X) == forest.predict(X)).all()


@pytest.mark.parametrize("link", LINKS)
def test_nothing_depends_on_threads_or_on_what_else_is_asked(link, rng):
    policy = random_ensemble(rng, link)
    X, _ = random_rows(rng, policy, 300)
    raw, cost, n_bought = policy.run_rows(X)
    again = policy.run_rows(X, n_jobs=2)
    for a, b in zip((raw, cost, n_bought), again, strict=True):
        assert a.tolist() == b.tolist()
    assert policy.run_rows(X, with_means=False)[1].tolist() == cost.tolist()
    trace = policy.trace(X)
    last = trace.n_steps - 1
    assert trace.cost[np.arange(300), last].tolist() == cost.tolist()


@given(seed=SEEDS)
def test_stopping_early_stops_where_the_trace_says(seed):
    rng = np.random.default_rng(seed)
    policy = random_ensemble(rng)
    X, _ = random_rows(rng, policy, 10)
    trace = policy.trace(X)
    threshold = float(rng.exponential(2.0))
    early = policy.with_stop(threshold=threshold)
    for row, cost in enumerate(early.cost(X)):
        n = trace.n_steps[row]
        stops = np.flatnonzero(trace.z[row, :n] >= threshold)
        assert cost == trace.cost[row, stops[0] if len(stops) else n - 1]


@given(seed=SEEDS)
def test_a_trace_is_as_sure_as_the_plain_twin_both_ways(seed):
    rng = np.random.default_rng(seed)
    for policy in modes_of(seed):
        if policy.bounds == "vote":
            continue  # the twin has no votes
        X, codes = random_rows(rng, policy, 1)
        trace, state = policy.trace(X), policy.initial_state()
        for step in range(int(trace.n_steps[0]) - 1):
            plain = plain_ensemble_state(policy, state.answers)
            leading = sorted(plain.mean, reverse=True)
            lead = leading[0] - leading[1] if len(leading) > 1 else abs(leading[0])
            lead = 1.0 if policy.answers_number else lead
            for z, deviation in (
                (trace.z[0, step], plain.variance**0.5),
                (trace.z_together[0, step], plain.deviation),
            ):
                if deviation > 1e-6:
                    assert z * deviation == pytest.approx(lead, rel=1e-4, abs=1e-6)
            state = policy.advance(state, codes[0, state.test])


@given(seed=SEEDS)
def test_a_trace_has_the_sums_of_a_walk_and_of_the_plain_twin(seed):
    rng = np.random.default_rng(seed)
    for policy in modes_of(seed):
        X, codes = random_rows(rng, policy, 9)
        trace, bare = policy.trace(X, with_sums=True), policy.trace(X)
        assert bare.sums is None
        for with_sums, without in zip(trace[:-1], bare[:-1], strict=True):
            assert np.array_equal(with_sums, without)
        again = policy.trace(X, n_jobs=2, with_sums=True)
        assert np.array_equal(again.sums, trace.sums)
        for row in range(2):
            state = policy.initial_state()
            for step in range(int(trace.n_steps[row])):
                found = trace.sums[row, step]
                assert found == pytest.approx(state.raw, rel=1e-5, abs=1e-5)
                if policy.bounds != "vote":  # the twin has no votes
                    plain = plain_ensemble_state(policy, state.answers).mean
                    assert found == pytest.approx(plain, rel=1e-4, abs=1e-4)
                if step + 1 < trace.n_steps[row]:
                    state = policy.advance(state, codes[row, state.test])
            # What comes after the end is nothing.
            assert not trace.sums[row, trace.n_steps[row] :].any()


def test_running_to_the_end_buys_whatever_a_leaf_depends_on(rng):
    policy = random_ensemble(rng, "logit")
    complete = policy.with_stop(is_complete=True)
    X, codes = random_rows(rng, policy, 30)
    assert (complete.cost(X) >= policy.cost(X) - 1e-12).all()
    sums = np.array([_full_sums(policy, row) for row in codes])
    np.testing.assert_allclose(complete.run_rows(X)[0], sums, atol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_an_ensemble_is_a_policy(link, rng):
    policy = random_ensemble(rng, link)
    if link != "number":
        check_policy(policy, random_rows(rng, policy, 20)[0])


def test_skipping_leaves_a_test_open(rng):
    policy = random_ensemble(rng, "softmax")
    session = policy.start()
    while session.test is not None:
        session.skip()
    assert session.spent == 0
    assert session.decision in policy.classes
    beforehand = policy.class_shares(policy.initial_state())
    assert list(session.probabilities.values()) == beforehand.tolist()


def test_a_number_is_settled_within_its_tolerance(rng):
    for child in rng.spawn(20):
        policy = random_ensemble(child, "number", tolerance=0.5)
        X, codes = random_rows(child, policy, 20)
        full = np.array([plain_ensemble_answer(policy, row) for row in codes])
        assert np.all(np.abs(policy.predict(X) - full) <= 0.5 + 1e-9)


def test_parts_that_do_not_fit_are_refused(rng):
    policy = random_ensemble(rng, "logit")
    trees = policy.trees
    for name, value in [
        ("right", trees.right * 0 + 10**6),
        ("test", trees.test * 0 + 99),
        ("value", np.full_like(trees.value, np.inf)),
        ("weight", trees.weight * 0),
        ("output", trees.output + 5),
        ("tree_start", trees.tree_start[:-1]),
    ]:
        broken = dataclasses.replace(trees, **{name: value})
        if name in ("right", "test") and (trees.test < 0).all():
            continue
        with pytest.raises(InvalidPolicyError):
            type(policy)(
                policy.tests, policy.classes, policy.prices, trees=broken,
                output=policy.output,
            )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"threshold": -1.0}, "threshold must be >= 0"),
        ({"tolerance": 1.0}, "unless the decision is a number"),
        ({"bounds": "vote"}, "leaves that name one"),
        ({"bounds": "loose"}, "bounds must be"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, match, rng):
    with pytest.raises(InvalidOptionError, match=match):
        random_ensemble(rng, "logit", **options)


def test_joint_bounds_are_for_classes(rng):
    with pytest.raises(InvalidOptionError, match="classes to decide between"):
        random_ensemble(rng, "number", bounds="joint")


def test_an_answer_must_be_whole():
    with pytest.raises(InvalidPolicyError, match="must have one sum"):
        Output("logit", (0.0, 0.0))
    with pytest.raises(InvalidPolicyError, match="the divisor and the slope positive"):
        Output("logit", (0.0,), divisor=0.0)


@pytest.mark.parametrize("link", LINKS)
def test_a_file_runs_like_the_ensemble_it_was_saved_from(link, rng, tmp_path):
    policy = random_ensemble(rng, link, tolerance=0.25 * (link == "number"))
    X, _ = random_rows(rng, policy, 50)
    for stop in (
        {},
        {"threshold": 1.5},
        {"threshold": 0.5, "varies_together": True},
        {"is_complete": True},
    ):
        saved = policy.with_stop(**stop)
        saved.save(tmp_path / "ensemble.json")
        loaded = askless.load(tmp_path / "ensemble.json")
        for a, b in zip(saved.run_rows(X), loaded.run_rows(X), strict=True):
            assert a.tolist() == b.tolist()
        assert loaded.predict(X).tolist() == saved.predict(X).tolist()
        assert loaded.bounds == saved.bounds
        assert loaded.varies_together == saved.varies_together


def test_a_test_of_too_many_cuts_cannot_be_saved(rng, tmp_path):
    policy = random_ensemble(rng, "logit")
    many = Test("many", "number", cuts=tuple(map(float, range(70_000))))
    tests = (*policy.tests, many)
    wide = type(policy)(
        tests, policy.classes, PriceList.plain([1.0] * len(tests)), trees=policy.trees,
        output=policy.output,
    )  # fmt: skip
    with pytest.raises(PolicyFileError, match="fewer than 65,534 cuts"):
        wide.save(tmp_path / "wide.json")
