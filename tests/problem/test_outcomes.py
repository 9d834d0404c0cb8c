"""A test turns what it shows into codes and back."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless.exceptions import InvalidAnswerError, InvalidTableError
from askless.problem import Test
from askless.testing import encode_category, encode_number

BATTERY = Test("battery", "category", outcomes=("flat", "good", "weak"))
FEVER = Test("fever", "number", cuts=(37.0, 38.5))

scalars = (
    st.text(max_size=2)
    | st.sampled_from(["0", "1", "-1", "1.0", "1.5", "01", "True", "true", "nan"])
    | st.integers(-2, 2)
    | st.booleans()
    | st.sampled_from([0.0, 1.0, 1.5, -1.0])
)


@given(st.lists(scalars, unique=True, max_size=8), st.lists(scalars | st.none()))
def test_categories_are_coded_alike_one_by_one_and_as_a_column(outcomes, values):
    test = Test("t", "category", outcomes=tuple(outcomes))
    one_by_one = [test.code_of(value) for value in values]
    column = np.fromiter(values, dtype=object, count=len(values))
    assert test.encode(column).tolist() == one_by_one
    assert one_by_one == [encode_category(value, outcomes) for value in values]


@given(
    st.lists(st.floats(-9, 9, width=32), unique=True, max_size=8).map(sorted),
    st.lists(st.floats() | st.integers(-9, 9) | st.none() | st.booleans()),
)
def test_numbers_are_coded_alike_one_by_one_and_as_a_column(cuts, values):
    test = Test("t", "number", cuts=tuple(cuts))
    one_by_one = [test.code_of(value) for value in values]
    column = np.fromiter(values, dtype=object, count=len(values))
    assert test.encode(column).tolist() == one_by_one
    assert one_by_one == [encode_number(value, cuts) for value in values]


@pytest.mark.parametrize(
    "missing",
    [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")],
)
@pytest.mark.parametrize("test", [BATTERY, FEVER], ids=["category", "number"])
def test_every_kind_of_nothing_is_missing(test, missing):
    assert test.code_of(missing) == test.missing_code == 3


def test_a_category_never_seen_before_is_unknown():
    assert BATTERY.code_of("leaking") == BATTERY.unknown_code == 4
    assert BATTERY.encode(["leaking", "good"]).tolist() == [4, 1]


def test_text_stands_for_numbers_and_booleans():
    test = Test("t", "category", outcomes=(1, 2.0, 2.5, True, False)[1:])
    for text, code in [("2", 0), ("2.0", 0), ("2.5", 1), ("True", 2), ("false", 3)]:
        assert test.code_of(text) == code
    assert Test("t", "category", outcomes=(0, 1)).encode(["1", "0"]).tolist() == [1, 0]


def test_text_of_its_own_goes_before_text_that_stands_for_a_number():
    test = Test("t", "category", outcomes=(1, "1"))
    assert (test.code_of(1), test.code_of("1")) == (0, 1)


def test_a_number_stands_for_its_usual_spelling():
    # A file of new cases may have numbers only where the table had some text too.
    test = Test("t", "category", outcomes=("1", "2.5", "A", "03"))
    assert test.encode([1, 2.5, 3]).tolist() == [0, 1, 5]
    assert test.encode([1.0, None]).tolist() == [0, 4]


@pytest.mark.parametrize("one", [1, 1.0, True, np.int8(1), np.float32(1), np.bool_(1)])
def test_one_is_one_in_every_type(one):
    assert Test("t", "category", outcomes=(0, 1)).code_of(one) == 1


def test_text_may_give_a_number():
    assert FEVER.code_of("38.1") == 1
    assert FEVER.encode(["38.1", " 40 ", None, 36]).tolist() == [1, 2, 3, 0]


def test_text_that_says_nan_is_missing():
    assert FEVER.code_of("nan") == FEVER.encode(["nan", None])[0] == 3


@pytest.mark.parametrize("answer", ["hot", [39], 10**400, b"x"])
def test_an_answer_that_is_no_number_is_refused(answer):
    message = r"The test 'fever' shows a number\. Got .*\. Pass a number, or None"
    with pytest.raises(InvalidAnswerError, match=message):
        FEVER.code_of(answer)


@pytest.mark.parametrize("cell", ["hot", 10**400])
def test_a_cell_that_is_no_number_is_named(cell):
    message = r"The test 'fever' shows numbers\. Got .* in row 1\. Write a number there"
    with pytest.raises(InvalidTableError, match=message):
        FEVER.encode(["37", cell])


def test_an_answer_that_cannot_be_an_outcome_is_refused():
    message = r"An outcome of 'battery' must be text, .* Got list\. Pass one of its"
    with pytest.raises(InvalidAnswerError, match=message):
        BATTERY.code_of(["flat"])


def test_labels_say_what_a_code_means():
    assert [BATTERY.label(code) for code in range(5)] == [
        "flat",
        "good",
        "weak",
        "missing",
        "unknown",
    ]
    assert [FEVER.label(code) for code in range(5)] == [
        "x <= 37",
        "37 < x <= 38.5",
        "x > 38.5",
        "missing",
        "unknown",
    ]
    assert Test("t", "number").label(0) == "any"


def test_labels_of_neighbouring_cuts_differ():
    cut = np.float32(37.0)
    above = np.nextafter(cut, np.float32(99))
    test = Test("t", "number", cuts=(float(cut), float(above)))
    assert test.label(1) == "37 < x <= 37.000004"


def test_labels_of_huge_cuts_are_written():
    assert Test("t", "number", cuts=(1e300,)).label(0) == "x <= 1e+300"


def test_tests_are_equal_by_what_they_are():
    assert Test("t", "number", cuts=(1.0,)) == Test("t", "number", cuts=(1.0,))
    assert Test("t", "number", cuts=(1.0,)) != Test("t", "number", cuts=(2.0,))
    assert len({BATTERY, Test("battery", "category", outcomes=BATTERY.outcomes)}) == 1
