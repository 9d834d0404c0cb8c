"""What ours costs at each point of a rival's curve, for ``bench_frontier``."""

from __future__ import annotations

from typing import Any

import numpy as np

from askless.learn.boost._calibrate import fall

# Where a rival is within this of its best validation error.
ACCURATE = 0.015
# By how many standard errors of the change ours must err less than a rival: as many as
# leave both sides with the same error on problems that choices were made on. Learners
# before this one needed more.
MARGIN, MARGIN_BEFORE = 0.5, 0.65


class Matcher:
    """Every model with every threshold, on the rows that ours is chosen by.

    Parameters
    ----------
    models : list
        What ``fit_ours`` returned.
    """

    def __init__(self, models: list[Any]) -> None:
        self.runs: list[tuple[Any, float]] = []
        # The thresholds of one model lie side by side, ascending.
        self.blocks: list[slice] = []
        costs, wrongs = [], []
        for model in models:
            stops, true = model["choose"]["stops"], model["choose"]["true"]
            start = len(self.runs)
            for threshold in model["thresholds"]:
                cost, answer = stops.at(threshold)
                self.runs.append((model, float(threshold)))
                costs.append(cost.mean())
                wrongs.append(answer != true)
            self.blocks.append(slice(start, len(self.runs)))
        self.by_cost = np.argsort(costs, kind="stable")
        self.wrong = np.array(wrongs)

    def choose(self, rival: Any, margin: float) -> Any:
        """Return the cheapest model and threshold that err less than a rival, or None.

        The change of error is taken to fall with the threshold of a model, so that no
        threshold is chosen by a few lucky rows. Where none errs less by the margin, the
        cheapest that errs no more is taken. If the rival's own booster is one of
        ours, and nothing is cheaper, it is run until its answer is settled: losslessly,
        so that it errs exactly as much.
        """
        wrong = rival["choose"]["wrong"]
        # Validation rows come first, and are all that one rival has.
        change = self.wrong[:, : len(wrong)].astype(np.float32) - wrong
        mean = change.mean(axis=1, dtype=float)
        least = margin * change.std(axis=1, dtype=float) / np.sqrt(len(wrong))
        falling = np.concatenate([fall(mean[block]) for block in self.blocks])
        is_less = falling + least <= 1e-9
        if not is_less.any():
            is_less = falling <= 1e-9
        if rival.get("own") is not None:
            is_less[self.blocks[rival["own"]].stop - 1] = True
        found = self.by_cost[is_less[self.by_cost]]
        return self.runs[found[0]] if len(found) else None


def read(model: Any, threshold: float) -> tuple[float, float]:
    """Return the cost and error of a model with a threshold on the test rows."""
    cost, answer = model["test"]["stops"].at(threshold)
    return float(cost.mean()), float(np.mean(answer != model["test"]["true"]))


def compare(
    found: Matcher, curve: list[Any], margin: float = MARGIN
) -> list[dict[str, Any]]:
    """Return what ours costs at each point of a rival's curve."""
    best = min((point["valid"]["error"] for point in curve), default=0.0)
    points = []
    for rival in curve:
        if not rival["test"]["cost"]:
            continue  # buys nothing, like the prior
        chosen = found.choose(rival, margin)
        cost, error = (rival["test"]["cost"], rival["test"]["error"])
        ours = (cost, error) if chosen is None else read(*chosen)
        points.append({
            "ratio": ours[0] / cost,
            "change": ours[1] - error,
            "missed": chosen is None,
            "accurate": bool(rival["valid"]["error"] <= best + ACCURATE),
            "rival": (cost, error),
            "ours": ours,
        })  # fmt: skip
    return points
