"""The criteria on the weather table, number by number."""

from __future__ import annotations

import numpy as np
import pytest

from askless._core.cost._criteria import SplitCriterion, score_all
from askless._core.cost._workspace import Workspace
from askless.problem import PriceList

OUTLOOK = "sunny sunny over rain rain rain over sunny sunny rain sunny over over rain"
HEAT = "hot hot hot mild cool cool cool mild cool mild mild mild hot mild"
HUMID = "y y y y n n n y n n n y n y"
WINDY = "n y n n n y y n n n y y n y"
PLAY = "no no yes yes yes no yes no yes yes yes yes yes no"


def weather(mistakes=((0, 1), (1, 0)), repeat=1) -> Workspace:
    """Return the 14 days; with `repeat`, each row in so many parts of equal weight."""
    columns = [np.unique(c.split(), return_inverse=True)[1] for c in
               (OUTLOOK, HEAT, HUMID, WINDY)]  # fmt: skip
    codes = np.array(columns, dtype=np.uint8)
    play = np.unique(PLAY.split(), return_inverse=True)[1]
    return Workspace(
        codes,
        codes.max(axis=1).astype(np.int32) + 1,
        np.zeros(4, np.uint8),
        np.arange(15, dtype=np.int64) * repeat,
        np.repeat(play, repeat).astype(np.int32),
        np.full(14 * repeat, 1 / repeat),
        np.array(mistakes, dtype=float),
        PriceList.plain([5, 1, 10, 2]).engine,
    )


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize(
    ("criterion", "w", "scores"),
    [
        ("gain", 1, [0.246750, 0.029223, 0.151836, 0.048127]),
        ("gain-ratio", 1, [0.156428, 0.018773, 0.151836, 0.048849]),
        ("eg2", 0, [0.186531, 0.020462, 0.110982, 0.033922]),
        ("eg2", 0.5, [0.076151, 0.014469, 0.033462, 0.019585]),
        ("eg2", 1, [0.031089, 0.010231, 0.010089, 0.011307]),
        ("idx", 1, [0.049350, 0.029223, 0.015184, 0.024064]),
        ("csid3", 1, [0.012177, 0.000854, 0.002305, 0.001158]),
    ],
)
def test_scores_of_the_weather_table(criterion, w, scores, repeat):
    scored, chosen = score_all(weather(repeat=repeat), SplitCriterion(criterion, w=w))
    assert [one["score"] for one in scored] == pytest.approx(scores, abs=1e-6)
    assert chosen == 0


@pytest.mark.parametrize(
    ("criterion", "chances"),
    [
        ("eg2", [0.495702, 0.163133, 0.160872, 0.180293]),
        ("gain", [0.518453, 0.061400, 0.319026, 0.101121]),
    ],
)
def test_chances_of_the_weather_table(criterion, chances):
    scores = np.array(
        [one["score"] for one in score_all(weather(), SplitCriterion(criterion))[0]]
    )
    assert scores / scores.sum() == pytest.approx(chances, abs=1e-6)


def test_dtmc_on_the_weather_table():
    # Missing a good day costs 30, going out on a bad one 20.
    scored, _ = score_all(weather(((0, 20), (30, 0))), SplitCriterion("dtmc"))
    assert [-one["score"] for one in scored] == [170, 114, 240, 128]


def test_dtmc_on_three_tests():
    # 40 positives and 60 negatives; A1 is right often, A2 is dear, A3 tells nothing.
    y = np.array([1] * 40 + [0] * 60, dtype=np.int32)
    parts = [35, 10], [40, 5], [0, 0]
    codes = np.ones((3, 100), dtype=np.uint8)
    for column, (positive, negative) in zip(codes, parts, strict=True):
        column[:positive] = 0
        column[40 : 40 + negative] = 0
    codes[2] = np.arange(100) % 2
    ws = Workspace(
        codes, np.full(3, 2, np.int32), np.zeros(3, np.uint8),
        np.arange(101, dtype=np.int64), y, np.ones(100),
        np.array([[0.0, 200.0], [600.0, 0.0]]), PriceList.plain([20, 120, 1]).engine,
    )  # fmt: skip
    scored, chosen = score_all(ws, SplitCriterion("dtmc"))
    assert [-one["score"] for one in scored] == [7000, 13000, 12100]
    assert chosen == 0
