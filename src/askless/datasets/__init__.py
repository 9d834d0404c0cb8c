"""Small problems written for Askless, generators, and loaders of public data sets.

Everything here ends in a :class:`~askless.problem.Table` or in :class:`Examples`. It
does not know who will solve or learn them, so this package imports nothing above
``problem``.
"""

from askless.datasets._car import load_car
from askless.datasets._catalogue import DatasetInfo, list_datasets, load_dataset
from askless.datasets._clinic import make_clinic
from askless.datasets._costs import make_costs
from askless.datasets._cube import make_cube
from askless.datasets._examples import Examples
from askless.datasets._likelihoods import load_likelihoods
from askless.datasets._public import load_public
from askless.datasets._questions import load_questions
from askless.datasets._random import make_random_table
from askless.datasets._synthetic import make_synthetic_1024
from askless.datasets._unknown_tables import make_classifiers, make_sparse_table

__all__ = [
    "DatasetInfo",
    "Examples",
    "list_datasets",
    "load_car",
    "load_dataset",
    "load_likelihoods",
    "load_public",
    "load_questions",
    "make_classifiers",
    "make_clinic",
    "make_costs",
    "make_cube",
    "make_random_table",
    "make_sparse_table",
    "make_synthetic_1024",
]
