"""A sequence asks the same tests in the same order, and rules cases out on the way."""

import numpy as np
import pytest
from hypothesis import given, settings

from askless.exceptions import InvalidPolicyError
from askless.policy import Sequence
from askless.problem import Costs, PriceList, Table, Test
from askless.testing import check_policy, plain_run
from tests.strategies import generators, random_rows, tables_with_policies


@pytest.fixture
def table():
    return Table(
        {"lamp": ["dark", "dark", "dim"], "socket": ["dead", "live", "live"]},
        ["fuse", "bulb", "dimmer"],
        costs={"lamp": 1, "socket": 5},
        prior=[0.2, 0.3, 0.5],
    )


@settings(max_examples=200)
@given(drawn=tables_with_policies(kinds=("sequence",)), rng=generators())
def test_rows_are_run_as_one_case_at_a_time_would_be(drawn, rng):
    _, sequence = drawn
    columns = random_rows(rng, sequence.tests, 12)
    codes = sequence.coding.encode(columns)
    shares = sequence.predict_proba(columns)
    for i, row in enumerate(codes.T.tolist()):
        state = sequence.initial_state()
        asked = []
        while (test := sequence.next_test(state)) is not None:
            asked.append(test)
            state = sequence.advance(state, row[test])
        run = plain_run(sequence, row)
        assert tuple(asked) == run.asked
        assert sequence.class_weights(state).tolist() == list(run.class_weights)
        assert sequence.decision(state) == run.decision
        assert sequence.class_shares(state).tolist() == pytest.approx(
            shares[i].tolist()
        )
    n_asked = [len(plain_run(sequence, row).asked) for row in codes.T.tolist()]
    assert sequence._walk(sequence._encode(columns), sequence.case_weights)[
        0
    ].tolist() == (n_asked)


def test_it_stops_as_soon_as_one_decision_is_left(table):
    rows = [["dim", "live"], ["dark", "dead"]]
    early = Sequence.from_table(table)
    assert early.cost(rows).tolist() == [1.0, 6.0]
    late = Sequence.from_table(table, stops_early=False)
    assert late.cost(rows).tolist() == [6.0, 6.0]
    assert early.predict(rows).tolist() == late.predict(rows).tolist()


def test_it_asks_in_the_given_order(table):
    sequence = Sequence.from_table(table, [1])
    assert sequence.n_steps == 1
    session = sequence.start()
    assert session.test == "socket"
    session.answer("live")
    assert session.decision == "dimmer"
    assert session.probabilities == pytest.approx(
        {"bulb": 0.375, "dimmer": 0.625, "fuse": 0.0}
    )
    assert repr(sequence) == "Sequence(1 tests, 3 cases)"


def test_a_contradiction_keeps_the_last_belief(table):
    sequence = Sequence.from_table(table, [0, 1])
    session = sequence.start()
    session.answer("dim")
    assert session.decision == "dimmer"
    late = Sequence.from_table(table, [0, 1], stops_early=False)
    session = late.start()
    session.answer("dim")
    session.answer("dead")
    assert session.decision == "dimmer"
    assert late.predict([["dim", "dead"]]).tolist() == ["dimmer"]
    assert late.predict_proba([["dim", "dead"]]).tolist() == [[0.0, 1.0, 0.0]]


def test_an_outcome_that_nobody_has_seen_rules_nothing_out(table):
    sequence = Sequence.from_table(table)
    rows = [["blinks", "dead"], [None, "dead"]]
    assert sequence.predict(rows).tolist() == ["fuse", "fuse"]


def test_a_missing_outcome_rules_nothing_out_although_another_is_unknown():
    # Whether the bulb's lamp is dark is unknown; that does not make it the likely one
    # to show nothing at all.
    table = Table(
        {"lamp": ["dark", None, "dim"], "socket": ["dead", "live", "live"]},
        ["fuse", "bulb", "dimmer"],
        prior=[0.2, 0.3, 0.5],
    )
    sequence = Sequence.from_table(table, [0])
    assert sequence.predict_proba([[None, "live"]]).tolist() == [[0.3, 0.5, 0.2]]
    session = sequence.start()
    session.answer(None)
    assert session.probabilities == {"bulb": 0.3, "dimmer": 0.5, "fuse": 0.2}
    check_policy(
        sequence, {"lamp": [None, "dark", "dim", "odd"], "socket": ["live"] * 4}
    )


def test_a_missing_outcome_counts_where_a_case_is_known_to_show_it():
    table = Table(
        {"reply": ["yes", "no", None]}, ["in", "asleep", "out"], missing="outcome"
    )
    sequence = Sequence.from_table(table)
    assert sequence.predict([[None], ["no"]]).tolist() == ["out", "asleep"]


def test_an_unknown_outcome_is_never_ruled_out():
    table = Table({"t": [0, 1, None]}, ["a", "b", "c"], prior=[1, 1, 2])
    sequence = Sequence.from_table(table)
    assert sequence.predict_proba([[0]]).tolist() == [[1 / 3, 0.0, 2 / 3]]


def test_a_delayed_test_orders_the_rest_as_well():
    table = Table(
        np.eye(3, dtype=int),
        ["a", "b", "c"],
        costs=Costs([1, 2, 4], delayed=[1]),
    )
    sequence = Sequence.from_table(table)
    # The first test settles a; b and c order the second and third together.
    assert sequence.cost(np.eye(3, dtype=int)).tolist() == [1.0, 7.0, 7.0]
    session = sequence.start()
    session.answer(0)
    assert session.price == 6.0
    session.answer(1)
    assert (session.decision, session.spent) == ("b", 7.0)


def test_costly_mistakes_decide_otherwise():
    table = Table(
        {"t": [0, 0]},
        ["bomb", "toy"],
        prior=[1, 9],
        costs=Costs([1], mistakes=[[0, 1000], [1, 0]]),
    )
    sequence = Sequence.from_table(table)
    assert sequence.predict([[0]]).tolist() == ["bomb"]
    assert sequence.predict_proba([[0]]).tolist() == [[0.1, 0.9]]


def test_wide_codes_are_run_too():
    values = list(range(300))
    table = Table({"many": values, "t": [v % 2 for v in values]}, values)
    sequence = Sequence.from_table(table, [1, 0])
    rows = {"t": [1, 0], "many": [299, 4]}
    assert sequence.predict(rows).tolist() == [299, 4]
    assert Sequence.from_table(table, [1]).cost(rows).tolist() == [1.0, 1.0]


def make(**changes):
    parts = {
        "order": [0, 1],
        "case_codes": np.zeros((2, 3), dtype=np.uint8),
        "case_class": [0, 1, 1],
        "case_weights": [1.0, 1.0, 1.0],
    }
    tests = (
        Test("x", "category", outcomes=("a", "b")),
        Test("y", "number", cuts=(1.0,)),
    )
    prices = PriceList.plain([1.0, 1.0])
    return Sequence(tests, ("p", "q"), prices, **(parts | changes))


LIES = {
    "twice": ({"order": [0, 0]}, r"each at most once\. Got \[0, 0\]"),
    "not there": ({"order": [0, 2]}, "must ask tests 0 to 1, each at most once"),
    "negative": ({"order": [0, -1]}, "must ask tests 0 to 1, each at most once"),
    "shape": (
        {"case_codes": np.zeros((3, 2), dtype=np.uint8)},
        r"Got the shape \(3, 2\) for 2 tests and 3 cases",
    ),
    "no cases": (
        {
            "case_codes": np.zeros((2, 0), dtype=np.uint8),
            "case_class": [],
            "case_weights": [],
        },
        "for 2 tests and 0 cases",
    ),
    "type": ({"case_codes": np.zeros((2, 3), dtype=int)}, "uint8 or uint16. Got int64"),
    "codes": (
        {"case_codes": np.full((2, 3), 4, dtype=np.uint8)},
        "Codes of 'x' must be at most 3. Got 4",
    ),
    "class": ({"case_class": [0, 1, 2]}, "Cases must be of one of 2 classes"),
    "negative class": ({"case_class": [0, 1, -1]}, "Cases must be of one of 2 classes"),
    "weight": ({"case_weights": [1, 1, -1]}, "Every case must have a weight >= 0"),
    "NaN weight": ({"case_weights": [1, 1, np.nan]}, "must have a weight >= 0"),
    "no weight": ({"case_weights": [0, 0, 0]}, "their sum must be positive"),
    "much weight": ({"case_weights": [1e308] * 3}, r"at most 1e\+300"),
    "few weights": ({"case_weights": [1, 1]}, "Every case must have a weight"),
}


@pytest.mark.parametrize("lie", LIES)
def test_parts_that_are_no_sequence_are_refused(lie):
    changes, message = LIES[lie]
    assert make().n_steps == 2
    with pytest.raises(InvalidPolicyError, match=message):
        make(**changes)


def test_an_order_beyond_the_table_is_refused(table):
    with pytest.raises(InvalidPolicyError, match="must ask tests 0 to 1"):
        Sequence.from_table(table, [0, 7])
