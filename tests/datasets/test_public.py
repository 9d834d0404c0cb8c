"""Public sets: read from a folder, taken from scikit-learn, or clearly not found."""

import gzip
import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets

from askless.datasets import load_public
from askless.datasets._facts import PUBLIC_SETS
from askless.exceptions import (
    DatasetNotFoundError,
    InvalidProblemError,
    UnknownNameError,
)

DATA = os.environ.get("ASKLESS_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="ASKLESS_DATA is not set")


@pytest.fixture(autouse=True)
def no_folder(request, monkeypatch):
    """Hide the folder of the environment, but from the tests of real data."""
    if "needs_folder" not in request.fixturenames:
        monkeypatch.delenv("ASKLESS_DATA", raising=False)


@pytest.fixture
def needs_folder():
    """Mark a test that reads the folder of the environment."""


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes files into a folder, and the folder."""

    def write(name, text):
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_a_file_is_read_with_the_class_last_and_unit_costs(folder):
    place = folder("iris.csv.gz", "long,wide,target\n1.5,2,a\n,3,b\n")
    iris = load_public("iris", folder=place)
    assert iris.test_names == ("long", "wide")
    assert iris.columns["long"].tolist() == pytest.approx([1.5, np.nan], nan_ok=True)
    assert iris.columns["wide"].dtype == np.int64
    assert iris.y.tolist() == ["a", "b"]
    assert iris.costs.costs == {"long": 1, "wide": 1}
    assert iris.description == PUBLIC_SETS["iris"].description


def test_the_folder_can_be_named_by_the_environment(folder, monkeypatch):
    place = folder("adult.csv.gz", "age,target\n30,no\n40,yes\n")
    monkeypatch.setenv("ASKLESS_DATA", str(place))
    assert load_public("adult").n_cases == 2


def test_a_file_of_ones_own_is_read_by_its_name(folder):
    place = folder("mine.csv.gz", "a,target\nx,1\ny,0\n")
    mine = load_public("mine", folder=place)
    assert mine.name == "mine"
    assert "mine.csv.gz" in mine.description


def test_prices_groups_and_delays_are_read(folder):
    folder("pima.csv.gz", "age,sugar,insulin,target\n1,2,3,0\n4,5,6,1\n")
    place = folder(
        "pima.costs.csv",
        "test,cost,discounted_cost,group,delayed\n"
        "age,1.0,1.0,,0\nsugar,17.61,15.51,A,1\ninsulin,22.78,20.68,A,1\n",
    )
    costs = load_public("pima", folder=place).costs
    assert costs.costs == {"age": 1.0, "sugar": 17.61, "insulin": 22.78}
    assert costs.groups == {"A": ("sugar", "insulin")}
    assert costs.discounted == {"sugar": 15.51, "insulin": 20.68}
    assert costs.delayed == ("sugar", "insulin")


def test_a_test_without_a_price_is_set_aside_or_priced_by_hand(folder):
    folder("ann_thyroid.csv.gz", "FTI,TSH,target\n1,2,0\n3,4,1\n")
    place = folder(
        "ann_thyroid.costs.csv",
        "test,cost,discounted_cost,group,delayed\nTSH,22.78,20.68,A,1\nFTI,,,,\n",
    )
    thyroid = load_public("ann_thyroid", folder=place)
    assert thyroid.test_names == ("TSH",)
    assert thyroid.extra["FTI"].tolist() == [1, 3]
    # The one test left of a group shares nothing.
    assert (thyroid.costs.groups, thyroid.costs.delayed) == ({}, ("TSH",))
    priced = load_public("ann_thyroid", folder=place, unpriced=5)
    assert priced.costs.costs == {"FTI": 5, "TSH": 22.78}
    assert "FTI" not in priced.extra


def test_numbers_as_groups_without_discounts_are_no_groups(folder):
    folder("nhanes1_mortality10y.csv.gz", "age,iron,cells,target\n1,2,3,0\n4,5,6,1\n")
    place = folder(
        "nhanes1_mortality10y.costs.csv",
        "test,cost,group,source\nage,0,1,x\niron,,,y\ncells,7.18,1,x\n",
    )
    costs = load_public("nhanes1_mortality10y", folder=place).costs
    assert costs.costs == {"age": 0, "cells": 7.18}
    assert costs.groups == {}


def test_a_file_without_any_price_means_unit_costs(folder):
    folder("mine.csv.gz", "a,b,target\nx,1,1\ny,2,0\n")
    place = folder("mine.costs.csv", "test,cost\na,\nb,\n")
    assert load_public("mine", folder=place).costs.costs == {"a": 1, "b": 1}


def test_steps_are_paid_by_their_first_test(folder):
    folder("aslib_sat11_rand.csv.gz", "a,b,c,target\n1,2,3,x\n4,5,6,y\n")
    folder(
        "aslib_sat11_rand.costs.csv",
        "test,step,median_step_seconds,mean_step_seconds,requires\n"
        "a,Pre,0,0.5,\nb,Pre,0,0.5,\nc,CG,4,21.5,Pre\n",
    )
    place = folder(
        "aslib_sat11_rand.instance_costs.csv.gz", "step:Pre,par10:x\n1,2\n3,4\n"
    )
    aslib = load_public("aslib_sat11_rand", folder=place)
    assert aslib.costs.costs == {"a": 0.5, "b": 0.5, "c": 21.5}
    assert aslib.costs.groups == {"Pre": ("a", "b")}
    assert aslib.costs.discounted == {"a": 0, "b": 0}
    assert aslib.extra["par10:x"].tolist() == [2, 4]


def test_ids_are_no_tests(folder):
    place = folder("mq2008.csv.gz", "fold,qid,f1,target\n1,10,0.5,0\n2,11,0.7,1\n")
    ranked = load_public("mq2008", folder=place)
    assert ranked.test_names == ("f1",)
    assert ranked.extra["qid"].tolist() == [10, 11]


def test_priors_are_kept(folder):
    folder("wiser.csv.gz", "t0,t1,target\n0,,a\n1,1,b\n")
    place = folder("wiser_priors.csv", "chemical,prior_1\na,0.25\nb,0.75\n")
    wiser = load_public("wiser", folder=place)
    table = wiser.to_table(prior=wiser.extra["prior_1"])
    assert table.prior.tolist() == [0.25, 0.75]
    assert table.is_unknown.tolist() == [[False, False], [True, False]]


def test_a_set_can_share_the_prices_of_another(folder):
    folder("heart_cleveland_num.csv.gz", "age,target\n1,0\n2,4\n")
    place = folder("heart_cleveland.costs.csv", "test,cost\nage,3.5\n")
    heart = load_public("heart_cleveland_num", folder=place)
    assert heart.costs.costs == {"age": 3.5}


@pytest.fixture
def streed(folder):
    folder("streed_coin.csv.gz", "side,target\n0,0\n1,1\n")
    matrix = {"low": [[0, 5], [9, 0]], "high": [[0, 50], [90, 0]]}
    return folder("streed_misclassification_costs.json", json.dumps({"coin": matrix}))


def test_mistakes_are_read_as_true_class_then_decision(streed):
    coin = load_public("streed_coin", folder=streed, level="high")
    assert coin.costs.mistake_matrix(coin.classes).tolist() == [[0, 50], [90, 0]]
    assert load_public("streed_coin", folder=streed).costs.mistakes is None


def test_mistakes_that_are_not_there_are_missed(streed):
    with pytest.raises(DatasetNotFoundError, match="found no 'middle' ones"):
        load_public("streed_coin", folder=streed, level="middle")


@pytest.mark.parametrize(
    ("name", "level", "match"),
    [
        ("iris", "low", "Only the streed_ sets .* Got level='low' for 'iris'"),
        ("streed_iris", "huge", "one of low, middle, high. Got 'huge'"),
    ],
)
def test_a_level_that_makes_no_sense_is_refused(name, level, match):
    with pytest.raises(UnknownNameError, match=match):
        load_public(name, level=level)


def test_a_file_without_tests_is_refused(folder):
    place = folder("mine.csv.gz", "target\n1\n0\n")
    with pytest.raises(InvalidProblemError, match=r"Got 1 columns in .*mine.csv.gz"):
        load_public("mine", folder=place)


@pytest.mark.parametrize("name", ["iris", "wine", "wdbc"])
def test_three_sets_come_with_scikit_learn(name):
    facts = PUBLIC_SETS[name]
    bundled = load_public(name)
    assert bundled.n_cases == facts.n_cases
    assert len(bundled.columns) == facts.n_tests
    assert len(bundled.classes) == facts.n_classes
    assert bundled.X.dtype == np.float64
    assert not any(" " in test for test in bundled.test_names)


def test_a_set_that_is_not_here_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(
        DatasetNotFoundError,
        match=r"must be a file adult\.csv\.gz .* Looked in .*tmp.* and found none\. "
        r"Set ASKLESS_DATA .* or pass download=True",
    ):
        load_public("adult", folder=tmp_path / "tmp")


def test_without_a_folder_the_variable_is_named():
    with pytest.raises(DatasetNotFoundError, match="ASKLESS_DATA is not set"):
        load_public("adult")


def test_a_set_that_cannot_be_downloaded_says_so():
    with pytest.raises(DatasetNotFoundError, match="cannot download this set"):
        load_public("wiser", download=True)


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(
        UnknownNameError, match=r"Got 'mushrom'. Did you mean 'mushroom'"
    ):
        load_public("mushrom")


def test_a_name_cannot_lead_out_of_the_folder(folder):
    place = folder("mine.csv.gz", "a,target\nx,1\ny,0\n")
    inner = place / "inner"
    inner.mkdir()
    with pytest.raises(UnknownNameError, match=r"Got '../mine'"):
        load_public("../mine", folder=inner)


def fetched_cars(n_cases):
    """Return what scikit-learn gives for a set of categories and a number."""
    codes = np.tile([[0.0, 1.0, 0.5], [np.nan, 0.0, 1.5]], (n_cases // 2, 2))
    names = ["buying", "doors", "x1", "more", "safe", "x2"]
    return SimpleNamespace(
        data=codes,
        feature_names=names,
        target=np.array(["acc", "good"] * (n_cases // 2), dtype=object),
        categories={name: ["low", "high"] for name in names if name[0] != "x"},
    )


def test_a_download_is_decoded(monkeypatch):
    asked = {}

    def fetch(**options):
        asked.update(options)
        return fetched_cars(1728)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    cars = load_public("car_evaluation", download=True)
    assert asked["data_id"] == 40975
    assert cars.columns["buying"].tolist()[:2] == ["low", None]
    assert cars.columns["x1"].tolist()[:2] == [0.5, 1.5]
    assert cars.classes == ("acc", "good")
    assert cars.costs.costs["doors"] == 1


def test_a_download_of_another_size_is_refused(monkeypatch):
    monkeypatch.setattr(
        sklearn.datasets, "fetch_openml", lambda **options: fetched_cars(10)
    )
    with pytest.raises(
        DatasetNotFoundError, match=r"must have 1728 cases .* Got 10 and"
    ):
        load_public("car_evaluation", download=True)


def test_covertype_has_its_own_fetcher(monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_covtype", lambda: fetched_cars(4))
    with pytest.raises(DatasetNotFoundError, match=r"must have 581012 cases .* Got 4"):
        load_public("covertype", download=True)


def test_a_network_that_does_not_answer_is_reported(monkeypatch):
    def fetch(**options):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(DatasetNotFoundError, match="Got OSError: no route to host"):
        load_public("mushroom", download=True)


# Reading it takes a while; its layout is that of the others.
REAL_SETS = [name for name in PUBLIC_SETS if name != "covertype"]


@needs_data
@pytest.mark.parametrize("name", REAL_SETS)
def test_a_real_set_has_the_size_we_state(name, needs_folder):
    facts = PUBLIC_SETS[name]
    # Price all tests, so that none is set aside.
    real = load_public(name, unpriced=1)
    assert real.n_cases == facts.n_cases
    assert len(real.columns) == facts.n_tests
    assert len(real.classes) == facts.n_classes
    assert set(real.costs.costs) == set(real.test_names)


@needs_data
def test_real_mistakes_fit_the_classes(needs_folder):
    with_mistakes = [name for name in REAL_SETS if name.startswith("streed_")]
    assert with_mistakes
    for name in with_mistakes:
        real = load_public(name, level="middle")
        mistakes = real.costs.mistake_matrix(real.classes)
        assert mistakes.shape == (len(real.classes),) * 2
        assert mistakes.max() > 0


@needs_data
def test_real_iris_is_named_as_scikit_learns(needs_folder, monkeypatch):
    real = load_public("iris")
    monkeypatch.delenv("ASKLESS_DATA")
    bundled = load_public("iris")
    assert real.test_names == bundled.test_names
    assert real.classes == bundled.classes
