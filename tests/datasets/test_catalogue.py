"""All sets in one list, loaded by one function."""

import gzip

import pytest

from askless.datasets import Examples, list_datasets, load_dataset
from askless.datasets._facts import PUBLIC_SETS
from askless.exceptions import DatasetNotFoundError, UnknownNameError
from askless.problem import Table


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("ASKLESS_DATA", raising=False)


OWN = [info for info in list_datasets() if info.kind != "public"]


@pytest.mark.parametrize("info", OWN, ids=lambda info: info.name)
def test_our_own_sets_have_the_size_that_is_listed(info):
    loaded = load_dataset(info.name)
    sizes = (loaded.n_cases, len(loaded.test_names), len(loaded.classes))
    assert sizes == (info.n_cases, info.n_tests, info.n_classes)
    assert info.available
    assert isinstance(loaded, Table if info.kind == "table" else Examples)


def test_names_are_unique_and_sorted_within_their_part():
    names = [info.name for info in list_datasets()]
    assert len(set(names)) == len(names)
    own = [info.name for info in OWN]
    assert own == sorted(own)
    assert names[len(own) :] == sorted(PUBLIC_SETS)


def test_every_set_has_a_short_description():
    for info in list_datasets():
        assert info.description.endswith(".")
        assert len(info.description) <= 70


def test_only_what_is_here_is_available(tmp_path):
    (tmp_path / "car.csv.gz").write_bytes(gzip.compress(b"a,target\n1,2\n"))
    available = {
        info.name
        for info in list_datasets(folder=tmp_path)
        if info.kind == "public" and info.available
    }
    assert available == {"car_evaluation", "iris", "wdbc", "wine"}


def test_the_clinic_is_always_the_same():
    assert load_dataset("clinic").y.tolist() == load_dataset("clinic").y.tolist()


def test_our_car_goes_before_the_file_of_the_same_name(tmp_path):
    (tmp_path / "car.csv.gz").write_bytes(gzip.compress(b"a,target\n1,2\n3,4\n"))
    assert isinstance(load_dataset("car", folder=tmp_path), Table)
    assert load_dataset("car_evaluation", folder=tmp_path).n_cases == 2


def test_public_sets_are_loaded_too():
    assert load_dataset("iris").n_cases == 150
    with pytest.raises(DatasetNotFoundError, match=r"krk.csv.gz"):
        load_dataset("krk")


@pytest.mark.parametrize(
    ("name", "near"),
    [("synthetic1024", "synthetic_1024"), ("streed_wein", "streed_wine")],
)
def test_a_typing_error_gets_a_suggestion(name, near):
    with pytest.raises(UnknownNameError, match=f"Got '{name}'. Did you mean '{near}'"):
        load_dataset(name)
