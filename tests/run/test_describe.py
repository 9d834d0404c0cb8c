"""What an interview shows, as plain data, is the same for every screen."""

import json

import pytest

import askless
from askless.run import Interview, describe


@pytest.fixture
def interview():
    table = askless.Table(
        [["dark", "dead"], ["dark", "live"], ["dim", "live"]],
        ["fuse", "bulb", "dimmer"],
        tests=["lamp", "socket"],
        costs={"lamp": 1, "socket": 5},
    )
    return Interview(askless.solve(table).policy)


def test_a_question_says_all_that_is_shown(interview):
    shown = describe(interview)
    assert (shown["event"], shown["test"], shown["kind"]) == (
        "question",
        "lamp",
        "category",
    )
    assert (shown["price"], shown["price_at_most"]) == (1.0, 1.0)
    assert (shown["spent"], shown["left_at_worst"]) == (0.0, 6.0)
    assert shown["outcomes"] == ["dark", "dim"]
    assert shown["ordered"] == ["lamp"]
    assert [one["share"] for one in shown["likely"]] == pytest.approx([1 / 3] * 3)
    after = {b["label"]: (b["outcomes"], b["test"]) for b in shown["branches"]}
    assert after == {"dark": (["dark"], "socket"), "dim": (["dim"], None)}
    assert shown["why"] == interview.session.why()


def test_a_decision_says_all_that_is_shown(interview):
    interview.answer("dark")
    interview.unsure()
    shown = describe(interview)
    assert (shown["event"], shown["decision"]) == ("decision", "fuse")
    assert (shown["certainty"], shown["n_unanswered"]) == (0.5, 1)
    assert (shown["spent"], shown["cost_of_all"]) == (6.0, 6.0)
    assert [entry["test"] for entry in shown["path"]] == ["lamp", "socket"]
    assert len(shown["likely"]) == 2


def test_all_of_it_can_be_written_as_json_and_nothing_is_changed(interview):
    while True:
        before = interview.session.log
        shown = describe(interview)
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown
        assert describe(interview) == shown
        assert interview.session.log == before
        if interview.is_over:
            break
        interview.answer("dark" if interview.session.test == "lamp" else "dead")
