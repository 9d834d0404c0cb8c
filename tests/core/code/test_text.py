"""Text of Arrow is coded as its cells are one by one, in every layout that it has."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless._core.code._text import (
    TextLevels,
    encode_indices,
    encode_text,
    encode_views,
)
from askless.exceptions import InvalidTableError
from askless.problem import Test
from askless.problem._arrow_text import ArrowText, find_arrow_text
from askless.testing import encode_category

NO_BITS = np.zeros(0, dtype=np.uint8)
# Every way in which the bytes of a short text are read, and longer ones that share
# their first eight bytes.
texts = (
    st.text(alphabet="ab", max_size=20)
    | st.text(max_size=10)
    | st.sampled_from(["sameprefix", "sameprefixx", "sameprefiy", "12345678", "é" * 7])
)
cells = st.lists(texts | st.none(), max_size=30)
levels = st.lists(texts, max_size=12, unique=True)
LAYOUTS = [pa.string(), pa.large_string(), pa.string_view()]
INDICES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32()]


def coded(test, column):
    found = find_arrow_text(column)
    assert isinstance(found, ArrowText)
    return test.encode_clean(found).tolist()


def expected(test, values):
    return [encode_category(value, test.outcomes) for value in values]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@given(values=cells, outcomes=levels, cut=st.integers(0, 30), start=st.integers(0, 9))
@settings(max_examples=60)
def test_plain_text_is_coded_as_one_by_one(layout, values, outcomes, cut, start):
    test = Test("t", "category", outcomes=tuple(outcomes))
    # Chunks, some of which begin in the middle of their buffers.
    parts = [pa.array(values[:cut], layout), pa.array(values[cut:], layout)]
    column = pa.chunked_array(parts, layout).slice(start)
    assert coded(test, column) == expected(test, values[start:])


@pytest.mark.parametrize("index", INDICES, ids=str)
@given(values=cells, outcomes=levels, start=st.integers(0, 9))
@settings(max_examples=40)
def test_text_by_a_dictionary_is_coded_as_one_by_one(index, values, outcomes, start):
    test = Test("t", "category", outcomes=tuple(outcomes))
    column = pa.array(values, pa.string()).cast(pa.dictionary(index, pa.string()))
    assert coded(test, column.slice(start)) == expected(test, values[start:])


@given(values=cells, outcomes=st.lists(texts | st.integers(-9, 9), max_size=9))
def test_text_may_stand_for_a_number(values, outcomes):
    test = Test("t", "category", outcomes=tuple(dict.fromkeys(outcomes)))
    values = [*values, "1", "-3", "01"]
    assert coded(test, pa.array(values)) == expected(test, values)


def test_a_dictionary_may_hold_what_is_missing():
    entries = pa.array(["yes", None, "no"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), entries)
    test = Test("t", "category", outcomes=("no", "yes"))
    assert coded(test, column) == [1, 2, 0, 2]


def test_many_levels_take_two_bytes():
    outcomes = tuple(f"level {i}" for i in range(3000))
    test = Test("t", "category", outcomes=outcomes)
    values = [*outcomes, None, "another"]
    assert coded(test, pa.array(values)) == [*range(3000), 3000, 3001]


def test_half_a_surrogate_pair_is_never_shown():
    test = Test("t", "category", outcomes=("\ud800", "a"))
    assert coded(test, pa.array(["a", ""])) == [1, 3]


def test_levels_can_be_sent_elsewhere():
    kept = TextLevels((b"no", b"yes"), (0, 1))
    again = pickle.loads(pickle.dumps(kept))
    assert (again.texts, again.codes) == (kept.texts, kept.codes)


@pytest.mark.parametrize("values", [pa.array([1, 2]), pa.array([["a"]]), ["a"], "a"])
def test_what_is_no_text_of_arrow_is_left_alone(values):
    assert find_arrow_text(values) is None


def broken_columns():
    """Return columns whose cells leave their buffers, with the row that does."""
    offsets = np.array([0, 2, 99, 4], dtype=np.int32)
    plain = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"abcd")]
    )
    views = np.array([[2, 0x6261, 0, 0], [20, 0x6261, 3, 0]], dtype=np.int32)
    viewed = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(views)])
    pointing = pa.DictionaryArray.from_arrays(
        pa.array([0, 7], pa.int8()), pa.array(["ab"]), safe=False
    )
    return [plain, viewed, pointing]


@pytest.mark.parametrize("column", broken_columns(), ids=["plain", "view", "index"])
def test_a_cell_that_leaves_its_buffer_is_refused(column):
    test = Test("lamp", "category", outcomes=("ab",))
    with pytest.raises(InvalidTableError, match="column 'lamp' in row 1 that does not"):
        coded(test, column)


def test_kernels_say_which_cell_is_broken():
    known, codes = TextLevels((b"ab",), (0,)), np.zeros(2, dtype=np.uint8)
    data = np.frombuffer(b"abab", dtype=np.uint8)
    for offsets in ([0, 2, 5], [0, 2, 1], [2, 2, -1]):
        places = np.array(offsets, dtype=np.int64)
        assert encode_text(known, places, data, NO_BITS, 0, 1, 2, codes) == 1
    views = np.array([[2, 0x6261, 0, 0], [-1, 0, 0, 0]], dtype=np.int32)
    assert encode_views(known, views, [], NO_BITS, 0, 1, 2, codes) == 1
    indices = np.array([0, -1], dtype=np.int8)
    entries = np.zeros(1, dtype=np.uint8)
    assert encode_indices(indices, entries, NO_BITS, 0, 1, codes) == 1
