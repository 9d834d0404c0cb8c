"""Score one batch of rows, Arrow in and Arrow out: what every engine is handed.

A scorer is made once and shipped to whoever has rows. It must not know where batches
come from or go to.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from askless._extras import import_extra
from askless.exceptions import InvalidOptionError, InvalidTableError, suggest_name
from askless.policy import Policy
from askless.policy._base import number_decisions
from askless.problem._frames import list_some
from askless.run._decide_rows import decide_rows

__all__ = ["ALSO", "Scorer"]

# What can be told of a row besides its decision and its cost.
ALSO = ("probabilities", "bought", "leaf")


class Scorer:
    """A policy, and what is to be told of each row.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide.
    keep : sequence of str
        Columns of the rows that are handed on.
    also : sequence of {"probabilities", "bought", "leaf"}
        What to tell besides the decision and the cost.
    n_jobs : int, optional
        Threads to use for a batch.
    """

    def __init__(
        self,
        policy: Policy,
        keep: Sequence[str] = (),
        also: Sequence[str] = (),
        n_jobs: int | None = None,
    ) -> None:
        self.classes = policy.classes
        # It decides numbers of classes, which become Arrow without a Python object.
        self.policy = policy if policy.answers_number else number_decisions(policy)
        self.asked = policy.columns
        self.keep = _as_names("keep", keep)
        self.also = _as_names("also", also)
        self.n_jobs = n_jobs
        self._check(policy.kind)

    def _check(self, kind: str) -> None:
        for name in self.also:
            if name not in ALSO:
                raise InvalidOptionError(
                    f"also must name some of {list_some(ALSO)}. Got {name!r}. "
                    f"{suggest_name(name, ALSO)}Leave it out for decision and cost."
                )
        if "leaf" in self.also and kind != "tree":
            raise InvalidOptionError(
                f"Rows end in a leaf of a tree. Got a {kind}. Leave 'leaf' out."
            )
        if "probabilities" in self.also and not self.classes:
            raise InvalidOptionError(
                "Probabilities must have classes. Got a model that answers numbers. "
                "Leave 'probabilities' out."
            )
        told = [field.name for field in self.told]
        for name in self.keep:
            if name in told:
                raise InvalidOptionError(
                    f"A kept column must not be called like what is told of a row: "
                    f"{list_some(told)}. Got {name!r}. Rename it."
                )

    @property
    def columns(self) -> list[str]:
        """The columns that must be read: those that can be asked, and those kept."""
        return list(dict.fromkeys([*self.asked, *self.keep]))

    @cached_property
    def _labels(self) -> Any:
        """The classes as an Arrow array; as text if they are of several kinds."""
        arrow = import_arrow()
        if len({type(label) for label in self.classes}) == 1:
            return arrow.array(list(self.classes))
        return arrow.array([str(label) for label in self.classes], arrow.string())

    @cached_property
    def told(self) -> list[Any]:
        """The fields that are told of each row."""
        arrow = import_arrow()
        decided = self._labels.type if self.classes else arrow.float64()
        fields = [
            arrow.field("decision", decided, nullable=False),
            arrow.field("cost", arrow.float64(), nullable=False),
        ]
        if "probabilities" in self.also:
            names = [f"probability_{label}" for label in self.classes]
            fields += [arrow.field(n, arrow.float64(), nullable=False) for n in names]
        if "bought" in self.also:
            fields.append(arrow.field("bought", arrow.list_(arrow.string())))
        if "leaf" in self.also:
            fields.append(arrow.field("leaf", arrow.int32(), nullable=False))
        return fields

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse rows that lack a column."""
        absent = [name for name in self.columns if name not in names]
        if absent:
            raise InvalidTableError(
                "The rows must have every test that the policy may ask for, and the "
                f"columns to keep. Got no column {list_some(absent)}; the columns are "
                f"{list_some(names)}. {suggest_name(absent[0], names)}Add it; its "
                "cells may be empty."
            )

    def schema(self, given: Any) -> Any:
        """Return the schema of what is told of rows of a schema."""
        self.check_columns(given.names)
        kept = [given.field(name) for name in self.keep]
        return import_arrow().schema([*kept, *self.told])

    def score(self, batch: Any) -> Any:
        """Return a record batch with a row for each row of a record batch."""
        arrow = import_arrow()
        self.check_columns(batch.schema.names)
        rows = batch.select(list(self.asked))
        # Without a column there would be no rows.
        X = (
            arrow.Table.from_batches([rows])
            if self.asked
            else {"": np.zeros(batch.num_rows)}
        )
        found = decide_rows(
            self.policy,
            X,
            with_bought="bought" in self.also,
            with_leaf="leaf" in self.also,
            n_jobs=self.n_jobs,
        )
        told = [self._as_labels(found.decision), arrow.array(found.cost)]
        if "probabilities" in self.also:
            shares = self.policy.predict_proba(X, n_jobs=self.n_jobs)
            told += [arrow.array(np.ascontiguousarray(one)) for one in shares.T]
        if "bought" in self.also:
            told.append(arrow.array(found.bought, arrow.list_(arrow.string())))
        if "leaf" in self.also:
            told.append(arrow.array(found.leaf))
        kept = [batch.column(name) for name in self.keep]
        return arrow.RecordBatch.from_arrays(
            [*kept, *told], schema=self.schema(batch.schema)
        )

    def _as_labels(self, decided: Any) -> Any:
        arrow = import_arrow()
        if not self.classes:
            return arrow.array(decided)
        return self._labels.take(arrow.array(decided.astype(np.int32, copy=False)))

    def __getstate__(self) -> dict[str, Any]:
        # What is made of Arrow is made again where it is needed.
        return {k: v for k, v in self.__dict__.items() if k not in ("_labels", "told")}


def import_arrow() -> Any:
    """Return pyarrow, or say how to get it."""
    return import_extra("pyarrow", "parquet", "Scoring batches")


def _as_names(option: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InvalidOptionError(
            f"{option} must be a list of names. Got the text {given!r}. Put it in a "
            f"list: [{given!r}]."
        )
    return tuple(dict.fromkeys(str(name) for name in given))
