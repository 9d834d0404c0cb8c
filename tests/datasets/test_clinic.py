"""The clinic: the same seed gives the same patients, and they look as documented."""

import numpy as np
import pytest

from askless.datasets import make_clinic
from askless.exceptions import InvalidOptionError


def test_the_same_seed_gives_the_same_patients():
    one, two = make_clinic(300, random_state=5), make_clinic(300, random_state=5)
    other = make_clinic(300, random_state=6)
    # As text, because NaN is not equal to itself.
    assert str(one.X.tolist()) == str(two.X.tolist())
    assert one.y.tolist() == two.y.tolist()
    assert one.y.tolist() != other.y.tolist()


def test_a_generator_goes_on_drawing():
    rng = np.random.default_rng(0)
    assert make_clinic(50, random_state=rng).y.tolist() != (
        make_clinic(50, random_state=rng).y.tolist()
    )


def test_scikit_learns_random_states_are_taken():
    one = make_clinic(50, random_state=np.random.RandomState(3))
    two = make_clinic(50, random_state=np.random.RandomState(3))
    assert one.y.tolist() == two.y.tolist()


def test_it_has_the_documented_parts():
    clinic = make_clinic(2000, random_state=0)
    assert clinic.classes == ("anaemia", "cold", "heart failure", "pneumonia")
    assert len(clinic.test_names) == 14
    kinds = {name: column.dtype.kind for name, column in clinic.columns.items()}
    assert [name for name, kind in kinds.items() if kind == "O"] == [
        "onset",
        "cough",
        "ankle_swelling",
        "chest_sound",
        "chest_xray",
    ]
    assert set(kinds.values()) == {"O", "f"}
    assert "no medical use" in clinic.description


def test_shares_of_classes_and_missing_values_are_as_documented():
    clinic = make_clinic(20_000, random_state=1)
    shares = [np.mean(clinic.y == name) for name in clinic.classes]
    assert shares == pytest.approx([0.20, 0.45, 0.15, 0.20], abs=0.02)
    missing = {
        name: np.mean([value is None or value != value for value in column.tolist()])
        for name, column in clinic.columns.items()
    }
    assert {name for name, share in missing.items() if share > 0} == {
        "onset",
        "temperature",
        "oxygen",
        "crp",
        "bnp",
    }
    assert all(share < 0.12 for share in missing.values())


def test_numbers_stay_within_bounds():
    columns = make_clinic(5000, random_state=2).columns
    assert np.nanmax(columns["oxygen"]) <= 100
    assert np.nanmin(columns["age"]) >= 18
    assert np.nanmin(columns["crp"]) >= 1


def test_blood_tests_share_the_drawing_and_most_are_delayed():
    costs = make_clinic(10, random_state=0).costs
    assert costs.groups == {"blood": ("haemoglobin", "white_cells", "crp", "bnp")}
    assert [costs.costs[t] - costs.discounted[t] for t in costs.discounted] == [6] * 4
    assert set(costs.delayed) == {"white_cells", "crp", "bnp"}


def test_missing_a_dangerous_illness_costs_most():
    clinic = make_clinic(100, random_state=0)
    mistakes = clinic.costs.mistake_matrix(clinic.classes)
    assert np.diag(mistakes).tolist() == [0, 0, 0, 0]
    at = clinic.classes.index
    assert mistakes[at("heart failure"), at("cold")] == mistakes.max()
    assert mistakes[at("cold"), at("pneumonia")] < mistakes[at("pneumonia"), at("cold")]


def test_a_clinic_without_patients_is_refused():
    with pytest.raises(InvalidOptionError, match=r"n_cases must be at least 1. Got 0"):
        make_clinic(0)
