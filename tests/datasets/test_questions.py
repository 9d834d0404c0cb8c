"""Twenty questions: every thing can be named."""

import pytest

from askless.datasets import _questions, load_questions
from askless.exceptions import InvalidTableError


def test_every_thing_is_its_own_class_and_no_two_look_the_same():
    table = load_questions()
    assert (table.n_cases, table.n_tests, table.n_classes) == (64, 31, 64)
    assert list(table.case_classes) == list(table.cases)
    assert table.indistinct == []
    assert table.notes == []
    assert not table.has_unknown


def test_questions_are_answered_yes_or_no_at_cost_one():
    table = load_questions()
    assert all(set(test.outcomes) == {"no", "yes"} for test in table.tests)
    assert set(table.costs.costs.values()) == {1.0}
    assert table.prior.tolist() == pytest.approx([1 / 64] * 64)


def test_a_few_answers_are_right():
    rows = load_questions().rows()
    things = load_questions().cases
    bat, piano = things.index("bat"), things.index("piano")
    assert rows["Can it fly?"][bat] == rows["Is it a mammal?"][bat] == "yes"
    assert rows["Is it an animal?"][piano] == "no"
    assert rows["Does it make music?"][piano] == "yes"


def test_an_answer_about_no_listed_thing_is_found(monkeypatch):
    monkeypatch.setitem(_questions._YES, "Is it an animal?", "dog unicorn")
    with pytest.raises(InvalidTableError, match=r"listed thing\. Got \['unicorn'\]"):
        load_questions()
