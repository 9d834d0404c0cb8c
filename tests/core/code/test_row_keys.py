"""Keys of rows against their plain twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from askless._core.code._row_keys import mix_numbers
from askless.testing._reference_keys import plain_row_key

shapes = st.tuples(st.integers(0, 6), st.integers(0, 5))


@pytest.mark.parametrize("width", [32, 64])
@given(data=st.data(), first=st.integers(0, 9))
def test_keys_are_those_of_the_twin(width, data, first):
    floats = st.floats(width=width)
    values = data.draw(arrays(f"f{width // 8}", shapes, elements=floats))
    expected = [plain_row_key(row, first) for row in values.tolist()]
    assert mix_numbers(values, first).tolist() == expected
    assert mix_numbers(np.asfortranarray(values), first).tolist() == expected


def test_columns_add_up():
    values = np.random.default_rng(0).normal(size=(20, 5))
    parts = mix_numbers(values[:, :2]) + mix_numbers(values[:, 2:], 2)
    assert np.array_equal(parts, mix_numbers(values))


def test_all_kinds_of_nan_and_zero_are_the_same():
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64)
    values = np.append(odd.view(np.float64), [np.nan, 0.0, -0.0])
    keys = mix_numbers(values[:, None])
    assert len(set(keys[:3].tolist())) == len(set(keys[3:].tolist())) == 1
