"""Cost at CEGB's own error: the same boosters, bought feature by feature.

The rival is LightGBM's cost-efficient boosting (CEGB) as it comes: every row pays once
for each feature on its paths. Ours are its models run adaptively. For every point of
the rival's curve, ours is the cheapest model and threshold that errs no more on the
validation rows; both are then read on the test rows. Nothing is chosen on test rows.

``python benchmarks/bench_adaptive.py --sets magic adult --seeds 5`` runs a part of it;
``--full`` runs every set with five seeds and all rows that the protocol names.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import askless
from askless.learn._adaptive import compile_source, trace_stops
from askless.learn._budget_boost import _code_columns
from askless.learn._calibrate import threshold_for_loss
from askless.learn.sources import read_lightgbm_text

TRADEOFFS = (0.0, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)
# Costs of mq2008 are drawn from the prices of the Yahoo list.
YAHOO_PRICES = (1.0, 5.0, 20.0, 50.0, 100.0, 150.0, 200.0)
SETS = (
    "magic", "spambase", "miniboone_tiny", "adult", "covertype", "mq2008",
    "ann_thyroid", "heart_cleveland", "hepatitis", "pima", "nhanes1_mortality10y",
    "latent", "cascade",
)  # fmt: skip
# Rows for growing, choosing and testing; in a quick run, fewer of the first.
MOST_ROWS = (20_000, 2_500, 4_000)
QUICK_ROWS = (5_000, 1_500, 2_000)
QUICK_SETS = ("magic", "spambase", "pima", "latent")
# Where the rival is within this of its best validation error.
ACCURATE = 0.015


def make_latent(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """Five causes, each seen through noise 1.5, 0.6 or 0.15 at cost 1, 5 or 40."""
    causes = rng.normal(size=(n, 5))
    noise, prices = (1.5, 0.6, 0.15), (1.0, 5.0, 40.0)
    seen = [causes + s * rng.normal(size=(n, 5)) for s in noise]
    X = np.hstack([*seen, rng.normal(size=(n, 5))])
    y = causes[:, 0] * causes[:, 1] + causes[:, 2:].sum(axis=1) > 0
    return X, y.astype(int), np.repeat([*prices, 1.0], 5)


def make_cascade(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """A cheap test settles most rows; which dear one settles the rest depends on it."""
    X = rng.normal(size=(n, 12))
    which = np.digitize(X[:, 1], [-0.5, 0.5])
    dear = np.choose(which, [X[:, 2], X[:, 3], X[:, 4]])
    y = np.where(np.abs(X[:, 0]) > 0.8, X[:, 0] > 0, dear > 0)
    flip = rng.random(n) < 0.03
    return X, (y ^ flip).astype(int), np.array([1.0, 1.0] + [20.0] * 3 + [5.0] * 7)


def load(name: str, seed: int) -> tuple[Any, Any, Any]:
    """Return a matrix, class numbers and prices."""
    if name in ("latent", "cascade"):
        make = make_latent if name == "latent" else make_cascade
        return make(np.random.default_rng([seed, 7]), 13_000)
    unpriced = 25.92 if name == "ann_thyroid" else 1.0
    data = askless.datasets.load_public(name, unpriced=unpriced)
    columns = {k: np.asarray(v) for k, v in data.columns.items()}
    tests, X = _code_columns(columns, list(columns))
    labels = np.asarray(data.y)
    if name == "mq2008":
        labels = labels.astype(float) > 0
        prices = np.random.default_rng(0).choice(YAHOO_PRICES, X.shape[1])
    else:
        # Groups are left aside here, as the rival knows nothing of them.
        prices = data.costs.price_list(tests).full
    return X, np.unique(labels, return_inverse=True)[1], prices


def split(X: Any, y: Any, seed: int, most: tuple[int, int, int]) -> list[Any]:
    """Return rows for growing, choosing and testing, about 50 to 20 to 30."""
    n = len(y)
    n_valid, n_test = min(most[1], n // 5), min(most[2], 3 * n // 10)
    n_train = min(most[0], n - n_valid - n_test)
    rows, test = train_test_split(
        np.arange(n), test_size=n_test, random_state=seed, stratify=y
    )
    rows, valid = train_test_split(
        rows, test_size=n_valid, random_state=seed, stratify=y[rows]
    )
    train = np.random.default_rng(seed).permutation(rows)[:n_train]
    return [(X[part], y[part]) for part in (train, valid, test)]


def grow(tradeoff: float, parts: Any, prices: Any, n_classes: int) -> str:
    """Return a CEGB model as text."""
    import lightgbm

    options = {
        "objective": "binary" if n_classes == 2 else "multiclass",
        "num_leaves": 8, "learning_rate": 0.1, "min_data_in_leaf": 5,
        "lambda_l2": 0.0 if n_classes == 2 else 1.0, "num_threads": 1,
        "deterministic": True, "force_col_wise": True, "seed": 0, "verbose": -1,
    }  # fmt: skip
    if n_classes > 2:
        options["num_class"] = n_classes
    if tradeoff:
        options["cegb_tradeoff"] = tradeoff / prices.mean()
        options["cegb_penalty_feature_lazy"] = prices.tolist()
    (X, y), (X_valid, y_valid) = parts[:2]
    data = lightgbm.Dataset(X, y, params={"verbose": -1})
    rounds = 300 if n_classes <= 3 else 60
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lightgbm.train(
            options, data, rounds, valid_sets=[data.create_valid(X_valid, y_valid)],
            callbacks=[lightgbm.early_stopping(30, verbose=False)],
        ).model_to_string()  # fmt: skip


def measure_model(tradeoff: float, parts: Any, prices: Any, n_classes: int) -> Any:
    """Return what one booster costs as it comes, and every step of running it."""
    source = read_lightgbm_text(grow(tradeoff, parts, prices, n_classes))
    policy = compile_source(source, prices)
    # As it comes: every feature on a path of some tree, and no other.
    plain = compile_source(source, prices, is_complete=True, bounds="path")
    found = {"tradeoff": tradeoff}
    for name, (X, y) in zip(("valid", "test"), parts[1:], strict=True):
        stops, final = trace_stops(policy, X, 1)
        found[name] = {
            "cost": plain.cost(X).mean(),
            "error": np.mean(final != y),
            "stops": stops,
            "final": final,
            "true": y.astype(float),
        }
    return found


def curve(part: Any) -> Any:
    """Return thresholds, and the mean cost and error of a model at each."""
    finite = part["stops"].reached[np.isfinite(part["stops"].reached)]
    values = (
        np.unique(np.quantile(finite, np.linspace(0, 1, 80))) if len(finite) else []
    )
    points = []
    for threshold in [0.0, *np.nextafter(values, np.inf), np.inf]:
        cost, answer = part["stops"].at(threshold)
        points.append((threshold, cost.mean(), np.mean(answer != part["true"])))
    return points


def read(model: Any, threshold: float) -> tuple[float, float]:
    """Return the cost and error of a model with a threshold on the test rows."""
    cost, answer = model["test"]["stops"].at(threshold)
    return float(cost.mean()), float(np.mean(answer != model["test"]["true"]))


def run_set(name: str, seed: int, most: tuple[int, int, int]) -> dict[str, Any]:
    """Return the ratios of one set and seed."""
    X, y, prices = load(name, seed)
    parts = split(X, y, seed, most)
    n_classes = int(y.max()) + 1
    models = [measure_model(t, parts, prices, n_classes) for t in TRADEOFFS]
    # The rival's curve: what no other of its models beats on the validation rows.
    rival = [
        m for m in models
        if not any(
            o["valid"]["cost"] <= m["valid"]["cost"]
            and o["valid"]["error"] < m["valid"]["error"]
            for o in models
        )
    ]  # fmt: skip
    best = min(m["valid"]["error"] for m in rival)
    curves = [(m, *point) for m in models for point in curve(m["valid"])]
    points = []
    for m in rival:
        allowed = [c for c in curves if c[3] <= m["valid"]["error"]]
        ours, threshold, _, _ = min(allowed, key=lambda c: c[2])
        cost, error = read(ours, threshold)
        points.append({
            "ratio": cost / m["test"]["cost"] if m["test"]["cost"] else 1.0,
            "change": error - m["test"]["error"],
            "accurate": bool(m["valid"]["error"] <= best + ACCURATE),
            "rival": (float(m["test"]["error"]), float(m["test"]["cost"])),
            "ours": (error, cost),
        })  # fmt: skip
    same = [same_model(m) for m in models if m["test"]["cost"] > 0]
    return {"set": name, "seed": seed, "points": points, "same": same}


def same_model(model: Any) -> dict[str, float]:
    """Return what the same model costs run losslessly, and with 0.5 % changed."""
    valid, test = model["valid"], model["test"]
    lossless = read(model, np.inf)[0] / test["cost"]
    is_loss = valid["stops"].answer != valid["final"][:, None]
    # Too few rows to promise half a per cent: the least that they can promise.
    target = max(0.005, 1.0 / (len(valid["final"]) + 1))
    threshold = threshold_for_loss(valid["stops"].worst_threshold(is_loss), target)
    cost, answer = test["stops"].at(np.inf if threshold is None else threshold)
    return {
        "lossless": lossless,
        "early": float(cost.mean() / test["cost"]),
        "changed": float(np.mean(answer != test["final"])),
        "change": float(np.mean(answer != test["true"]) - test["error"]),
    }


def mean_ratio(values: list[float]) -> float:
    """Return the geometric mean; a ratio of nothing to something counts as 0.01."""
    return (
        float(np.exp(np.mean(np.log(np.maximum(values, 0.01))))) if values else np.nan
    )


def summarise(name: str, runs: list[dict[str, Any]]) -> dict[str, object]:
    """Return a row: geometric means over points and seeds of one set."""
    points = [p for r in runs for p in r["points"]]
    accurate = [p for p in points if p["accurate"]]
    same = [s for r in runs for s in r["same"]]
    by_seed = [mean_ratio([p["ratio"] for p in r["points"]]) for r in runs]
    return {
        "set": name,
        "seeds": len(runs),
        "ratio": mean_ratio([p["ratio"] for p in points]),
        "spread": float(np.std(by_seed)),
        "error change pp": 100 * float(np.mean([p["change"] for p in points])),
        "accurate": mean_ratio([p["ratio"] for p in accurate]),
        "its change pp": 100 * float(np.mean([p["change"] for p in accurate])),
        "same, .5 %": mean_ratio([s["early"] for s in same]),
        "changed %": 100 * float(np.mean([s["changed"] for s in same])),
        "lossless": mean_ratio([s["lossless"] for s in same]),
    }


def run_all(
    sets: Any, seeds: int, most: tuple[int, int, int], log: Path | None = None
) -> list[dict[str, object]]:
    """Run sets and seeds; return a row for each set and one of geometric means."""
    rows = []
    for name in sets:
        runs = []
        for seed in range(seeds):
            start = time.perf_counter()
            runs.append(run_set(name, seed, most))
            took = time.perf_counter() - start
            ratio = mean_ratio([p["ratio"] for p in runs[-1]["points"]])
            print(f"  {name}, seed {seed}: {ratio:.3f} ({took:.0f} s)", flush=True)
            if log is not None:
                with log.open("a") as file:
                    file.write(json.dumps(runs[-1]) + "\n")
        rows.append(summarise(name, runs))
    aims = {"ratio": 0.55, "accurate": 0.45, "same, .5 %": 0.5, "lossless": 0.7}
    total: dict[str, object] = {"set": "all", "seeds": seeds}
    for key in list(rows[0])[2:]:
        values = [float(row[key]) for row in rows]  # type: ignore[arg-type]
        finite = [v for v in values if np.isfinite(v)]
        total[key] = mean_ratio(finite) if key in aims else float(np.mean(finite))
    aim: dict[str, object] = {key: "" for key in total} | {"set": "aim"}
    return [*rows, total, aim | {key: f"<= {value}" for key, value in aims.items()}]


def run(quick: bool) -> list[dict[str, object]]:
    """Run a few sets with two seeds; all of it is an option of this file."""
    sets = QUICK_SETS[-2:] if quick else QUICK_SETS
    return run_all(sets, 1 if quick else 2, QUICK_ROWS)


def main() -> None:
    """Run what was asked for, and print the table."""
    from run import print_rows

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=QUICK_SETS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--full", action="store_true", help="all sets, five seeds")
    parser.add_argument("--log", type=Path, help="append each run as a line of JSON")
    arguments = parser.parse_args()
    if arguments.full:
        rows = run_all(SETS, 5, MOST_ROWS, arguments.log)
    else:
        rows = run_all(arguments.sets, arguments.seeds, QUICK_ROWS, arguments.log)
    print_rows(rows)


if __name__ == "__main__":
    main()
