"""Public tables of tests that can err are read from a folder."""

import gzip
import os

import numpy as np
import pytest

from askless.datasets import load_likelihoods
from askless.datasets._likelihoods import LIKELIHOOD_SETS
from askless.exceptions import DatasetNotFoundError, UnknownNameError

DATA = os.environ.get("ASKLESS_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="ASKLESS_DATA is not set")


@needs_data
@pytest.mark.parametrize("name", LIKELIHOOD_SETS)
def test_a_public_table_has_the_size_that_is_said(name):
    table = load_likelihoods(name, mistakes=50)
    size = f"{table.n_cases} cases, {table.n_tests} tests"
    assert LIKELIHOOD_SETS[name].endswith(f"{size}.")
    assert table.n_classes == table.n_cases
    assert table.has_likelihoods
    assert table.costs.mistakes == 50
    drawn = np.random.default_rng(0).integers(1, 11, table.n_tests)
    assert table.prices.full.tolist() == drawn.tolist()
    for test in range(table.n_tests):
        assert np.allclose(table.possible.outcome_chances(test).sum(axis=0), 1)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "likelihoods"
    place.mkdir()
    rows = (
        b"case,test,outcome,probability\na,x,y,0.8\na,x,n,0.2\nb,x,y,0.1\nb,x,n,0.9\n"
    )
    (place / "child.likelihoods.csv.gz").write_bytes(gzip.compress(rows))
    return tmp_path


def test_a_table_is_looked_for_in_the_folder(folder, monkeypatch):
    assert load_likelihoods("child", folder=folder).prior.tolist() == [0.5, 0.5]
    (folder / "likelihoods" / "child.cases.csv").write_text("case,prior\nb,3\na,1\n")
    monkeypatch.setenv("ASKLESS_DATA", str(folder))
    table = load_likelihoods("child")
    assert table.cases == ("b", "a")
    assert table.prior.tolist() == [0.75, 0.25]
    assert np.allclose(table.likelihoods[0], [[0.9, 0.2], [0.1, 0.8]])


def test_what_is_not_there_is_said(folder, monkeypatch):
    with pytest.raises(DatasetNotFoundError, match=r"Looked in .* and found none"):
        load_likelihoods("hepar2", folder=folder)
    monkeypatch.delenv("ASKLESS_DATA", raising=False)
    with pytest.raises(DatasetNotFoundError, match="ASKLESS_DATA is not set"):
        load_likelihoods("hepar2")
    with pytest.raises(UnknownNameError, match="Did you mean 'hepar2'"):
        load_likelihoods("hepar", folder=folder)
    with pytest.raises(UnknownNameError):
        load_likelihoods("../likelihoods/child", folder=folder)
