"""Find out which columns of a LightGBM model were categories of a frame.

The text of a model lists the outcomes of all category columns of the frame, in the
order of the columns, and the columns that LightGBM took for categories. A category that
is ordered, or that ``categorical_feature`` leaves out, is a number to LightGBM: the
position of its outcome. Nothing says which column that was; but the lists keep the
order of the columns, and a column must hold what its list can stand for. Where that
leaves one way, it is the way.
"""

from __future__ import annotations

import json
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from askless.learn.sources._source import refuse
from askless.problem import Outcome

__all__ = ["find_categories"]


def find_categories(
    text: str, infos: list[str], used: Collection[int]
) -> dict[int, tuple[Outcome, ...]]:
    """Return the outcomes of the columns that were categories.

    Parameters
    ----------
    text : str
        The end of the model's text.
    infos : list of str
        What the text says of each column: its range, its numbers, or "none".
    used : collection of int
        The columns that some tree asks for; what the others were does not matter.

    Examples
    --------
    >>> end = 'pandas_categorical:[["s", "m", "l"]]'
    >>> find_categories(end, ["[-0.5:3]", "[0:2]"], used={0, 1})
    {1: ('s', 'm', 'l')}
    """
    lines = [x for x in text.split("\n") if x.startswith("pandas_categorical:")]
    listed = json.loads(lines[-1].partition(":")[2]) if lines else None
    if not listed:
        return {}
    found = _category_columns(text)
    may_be = _list_places(infos, [len(names) for names in listed], found)
    categories: dict[int, tuple[Outcome, ...]] = {}
    for names, places in zip(listed, may_be, strict=True):
        columns = np.flatnonzero(places).tolist()
        if not columns:
            refuse(
                "Every categorical feature of a LightGBM model that was fitted on a "
                "frame must be a category column of it",
                f"{len(listed)} category columns in the frame and {len(found)} "
                "categorical features in the model, which do not fit",
                "Leave categorical_feature out, or give it no frame",
            )
        if len(columns) == 1:
            categories[columns[0]] = tuple(names)
        elif not set(columns).isdisjoint(used):
            refuse(
                "It must be clear which column of a LightGBM model an ordered category "
                "was, since the model keeps positions and not names",
                f"the columns {columns}, any of which may have been the category "
                f"{names[:4]}",
                "Fit it on unordered categories, or turn whole numbers beside the "
                "category into floats or into categories",
            )
    return categories


def _category_columns(text: str) -> list[int]:
    start = "[categorical_feature: "
    lines = [x for x in text.split("\n") if x.startswith(start)]
    listed = lines[0].removeprefix(start).rstrip("]") if lines else ""
    return sorted(int(column) for column in listed.split(",") if column)


def _list_places(
    infos: list[str], sizes: list[int], found: list[int]
) -> list[NDArray[np.bool_]]:
    """Return which columns each list of outcomes may be of, keeping their order.

    No categorical feature may be left without a list, so a list cannot be of a column
    beyond one that no earlier list is of.
    """
    fits = np.array(
        [[_has_codes(info, size) for info in infos] for size in sizes], dtype=bool
    )
    must = np.zeros(len(infos), dtype=bool)
    must[found] = True
    ahead = _reach(fits, must)
    behind = _reach(fits[::-1, ::-1], must[::-1])[::-1, ::-1]
    return list(ahead & behind)


def _reach(fits: NDArray[np.bool_], must: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where each list can be if all lists and features before it have a place.

    Column c can hold a list if the one before it is at or beyond the last categorical
    feature before c.
    """
    n_lists, n_columns = fits.shape
    reached = np.zeros_like(fits)
    last = -1
    before = []
    for column in range(n_columns):
        before.append(last)
        last = column if must[column] else last
    for i in range(n_lists):
        for column in np.flatnonzero(fits[i]).tolist():
            if i == 0:
                reached[i, column] = before[column] < 0
            else:
                reached[i, column] = reached[
                    i - 1, max(before[column], 0) : column
                ].any()
    return reached


def _has_codes(info: str, n_outcomes: int) -> bool:
    """Return whether a column holds positions among so many outcomes, or nothing."""
    if info == "none":
        return True
    if info.startswith("["):
        low, high = map(float, info.strip("[]").split(":"))
        return low.is_integer() and high.is_integer() and 0 <= low <= high < n_outcomes
    # -1 stands for missing ones.
    return all(int(code) < n_outcomes for code in info.split(":"))
