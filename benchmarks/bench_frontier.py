"""The learner as it comes, on sets that no choice was made on.

``BudgetBoostClassifier`` with its defaults against LightGBM's cost-efficient boosting
(CEGB) with a dense grid of trade-offs, as many rounds, and trees of 8 and of 31 leaves;
a cascade of LightGBM models on growing sets of columns, which stops once it is sure
enough; a budgeted and a plain random forest. ``set_lists.py`` has two lists of sets:
choices were made on the first, the second is only reported. It had run with seven
versions before: one without the second way to be sure (0.52 and 0.44), one that left
out half of the boosters of more than three classes, chosen on sets of the first list
that have few numbers (0.53 and 0.47), one that left out only some of them, above 1,500
rows, where a fit would take too long (0.51 and 0.43), one whose fold boosters buy their
first feature together, with a bagged booster of several classes that was chosen on
cubes (``make_cube``; 0.50 and 0.42), one with naive Bayes and blends with it, a forest
of whole trees, and an order of purchases that was learned on the rows to choose on
(0.49 and 0.41), one without that order, with half as many boosters (0.50 and 0.41), and
one in which all classes share the trees of most boosters where there are more than
three (0.50 and 0.41).

In this version boosters of LightGBM and of Askless are both there for any number of
rows, bagged ones are of Askless, and only the best are grown on folds, for as many
rounds as the booster that is kept. With several classes there are two forests, a large
booster with a tree for each class, and blends of naive Bayes with boosters. All of it
was chosen on sets of the first list, and on cubes. Sets of 1,500 to 5,000 rows and more
than three classes ran again when these blends came; nothing had been looked at. Then
eight boosters were grown on folds, and the list gave 0.51 and 0.43, with 9 points
missed, more than before. So more boosters on folds were tried on nine small problems of
the first list: twelve of two classes cost less there, and the two sets of that kind
ran again. One set of the first list, optdigits, has the rows of digits in it.

For every point of a rival's curve, ours is the cheapest model and moment to stop that
errs less on the rows to choose on, by 0.5 standard errors of the change, or errs no
more if none does. The row "margin 0.65" has what versions before were compared by.
Nothing is chosen on test rows, and both are read there. The change is taken to fall
with what a model buys, and where rows are few, both sides are judged on the growing
rows too, each run by models grown without it. Some of CEGB's boosters are among ours:
run until the answer is settled, they err exactly as CEGB does. A rival's point that
none of ours reaches when choosing counts as a ratio of 1, and is told as missed. Ratios
are geometric means over the points of a set and its seeds, then over sets, with an
interval of 95 % from set to set; the median over sets stands beside. "accurate" are the
points where CEGB is within 1.5 points of its best. Prices are 1 with even seeds and
drawn from 1 to 100 with odd ones. There are 300 rounds on both sides, 100 where there
are more than three classes; of ours that share their trees 150, each of one tree for
all classes. Which models are grown, and how large the margin is, was chosen on problems
drawn from sets of the first list.

Budgets: eight a run, from the cheapest that buys something to what the most accurate
choice costs. "over" are those that the test rows exceed by more than two standard
errors; "spent" is the mean share of the budget that is spent where half as much money
again would lower the error by half a point when choosing.

"lost" are points where ours is no cheaper and errs no less. The last row says what was
asked for. What is paid for the confidence in a budget is large where rows are few.

``bench_frontier.py --list reported`` goes on where it was stopped; ``--report`` writes
what there is. Sets that have not run yet are not in the table. ``run.py later`` and
``run.py fresh`` have twelve sets more each.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import adaptive_protocol as protocol
import numpy as np
from adaptive_report import mean_ratio
from bench_adaptive import read_results
from frontier_match import MARGIN_BEFORE, Matcher, compare
from set_lists import CHOSEN_ON, FRESH, LATER, REPORTED, draw_prices, read_set
from sklearn.model_selection import StratifiedKFold

from askless import BudgetBoostClassifier, BudgetForestClassifier
from askless.learn import PlainForestClassifier
from askless.learn.boost._calibrate import trace_stops
from askless.learn.boost._compile import compile_source
from askless.learn.rivals._cegb import run_to_leaves
from askless.learn.sources import read_lightgbm_text

HERE = Path(__file__).parent
DENSE = (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25, 0.5)
LARGE = (0.0005, 0.002, 0.008, 0.03, 0.12)
RIVALS = ("CEGB", "cascade", "BudgetRF", "forest")
LISTS = {
    "chosen": CHOSEN_ON, "reported": REPORTED, "later": LATER, "fresh": FRESH,
}  # fmt: skip
ROWS = (4_000, 1_000, 2_000)
QUICK_ROWS = (1_200, 400, 600)
N_BUDGETS = 8
ASKED = {
    "set": "asked", "CEGB": "0.50", "CEGB: error, points": "0", "accurate": "0.45",
    "its error, points": "0", "cascade": "below 1", "BudgetRF": "below 1",
    "forest": "below 1", "missed": "0", "budgets over": "5 %", "spent": "0.90",
}  # fmt: skip
# Shares of the price of everything that the stages of a cascade may cost, and how sure
# a stage must be to stop.
STAGES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
SURE = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.999)


def load(name: str, seed: int, most: tuple[int, int, int]) -> tuple[list[Any], Any]:
    """Return rows for growing, choosing and testing, and prices."""
    if name in CHOSEN_ON:
        return protocol.load(name, seed, most)
    X, y = read_set(name)
    return protocol.split(X, y, seed, most), draw_prices(X.shape[1], seed)


def fit_ours(parts: Any, prices: Any, seed: int, rounds: int) -> tuple[Any, list[Any]]:
    """Return our learner, and its models with every step on the rows to choose on."""
    (X, y), (X_valid, y_valid), (X_test, y_test) = parts
    boost = BudgetBoostClassifier(prices, n_estimators=rounds, random_state=seed)
    boost.fit(X, y, X_valid=X_valid, y_valid=y_valid)
    found = boost._candidates
    assert found is not None
    models = []
    for model, stops, thresholds in zip(
        found.models, found.stops, found.thresholds, strict=True
    ):
        choose = {"stops": stops, "true": found.true}
        test = {"stops": trace_stops(model, X_test, 1)[0], "true": y_test.astype(float)}
        models.append({"choose": choose, "thresholds": thresholds, "test": test})
    return boost, models


def list_folds(boost: Any, parts: Any) -> list[Any]:
    """Return rows to grow on and rows left out, of each fold that ours is chosen on."""
    groups = boost._candidates.groups
    if groups is None:
        return []
    seed = boost.random_state
    folds = StratifiedKFold(int(groups.max()), shuffle=True, random_state=seed)
    X, y = parts[0]
    return [((X[a], y[a]), (X[b], y[b])) for a, b in folds.split(X, y)]


def on_folds(measure: Any, parts: Any, folds: list[Any]) -> list[Any]:
    """Return the points of a rival, compared on the folds of ours as well."""
    found = measure(parts)
    wrong = [[point["valid"]["wrong"]] for point in found]
    for grow, left in folds:
        alike = measure([grow, parts[1], left])
        for known, point in zip(wrong, alike, strict=True):
            known.append(point["test"]["wrong"])
    for known, point in zip(wrong, found, strict=True):
        point["choose"] = {"wrong": np.concatenate(known)}
    return found


def measure_cegb(
    parts: Any, prices: Any, n_classes: int, rounds: int, boost: Any
) -> list[Any]:
    """Return the points of CEGB as it comes, compared on the folds of ours as well.

    Boosters that ours has grown, too, are not grown again: they are the same.
    """
    ours = boost._candidates
    known = {
        (plan.n_leaves, plan.tradeoff): i
        for i, plan in enumerate(ours.plans)
        if plan.family == "boost" and not plan.is_own
    }
    folds = list_folds(boost, parts)
    found = []
    for leaves, tradeoffs in ((8, DENSE), (31, LARGE)):
        for tradeoff in tradeoffs:
            own = known.get((leaves, tradeoff))
            if own is not None:
                policy = ours.models[own]
                wrong = ours.stops[own].at(np.inf)[1] != ours.true
            else:
                options = protocol.list_options(tradeoff, prices, n_classes)
                options["num_leaves"] = leaves
                policy, wrong = _grow_cegb(options, rounds, parts, prices, folds)
            plain = run_to_leaves(policy)
            point = {
                part: protocol.measure(*_decide(plain, X), y)
                for part, (X, y) in zip(("valid", "test"), parts[1:], strict=True)
            }
            found.append(point | {"choose": {"wrong": wrong}, "own": own})
    return found


def _grow_cegb(
    options: Any, rounds: int, parts: Any, prices: Any, folds: list[Any]
) -> tuple[Any, Any]:
    """Return a booster, and where it, and others like it on folds, are wrong."""
    booster = protocol.boost(options, rounds, parts[0], parts[1])
    X, y = parts[1]
    wrong = [_two_columns(booster.predict(X)).argmax(axis=1) != y]
    for grow, (X_left, y_left) in folds:
        alike = protocol.boost(options, rounds, grow, parts[1])
        wrong.append(_two_columns(alike.predict(X_left)).argmax(axis=1) != y_left)
    text = booster.model_to_string()
    policy = compile_source(read_lightgbm_text(text), prices, stops_early=True)
    return policy, np.concatenate(wrong)


def _decide(policy: Any, X: Any) -> tuple[Any, Any]:
    raw, cost, _ = policy.run_rows(X)
    return policy.output.decide(raw), cost


def measure_cascade(parts: Any, prices: Any, n_classes: int, rounds: int) -> list[Any]:
    """Return the points of LightGBM models on growing sets of columns."""
    options = protocol.list_options(0.0, prices, n_classes) | {"num_leaves": 31}
    whole = protocol.boost(options, rounds, parts[0], parts[1])
    worth = whole.feature_importance("gain") / np.maximum(prices, 1e-9)
    order = np.argsort(-worth, kind="stable")
    spent = np.cumsum(prices[order])
    stages = []
    for share in STAGES:
        n_kept = max(1, int(np.count_nonzero(spent <= share * prices.sum() + 1e-9)))
        columns = order[:n_kept]
        grow = [(X[:, columns], y) for X, y in parts[:2]]
        model = protocol.boost(options, rounds, *grow)
        shares = [_two_columns(model.predict(X[:, columns])) for X, _ in parts[1:]]
        stages.append((spent[n_kept - 1], shares))
    found = []
    for sure in SURE:
        point = {}
        for i, part in enumerate(("valid", "test")):
            y = parts[1 + i][1]
            cost, answer = np.zeros(len(y)), np.full(len(y), -1)
            for n, (price, shares) in enumerate(stages):
                is_open = answer < 0
                is_last = n == len(stages) - 1
                stops = is_open & (is_last | (shares[i].max(axis=1) >= sure))
                cost[is_open] = price
                answer[stops] = shares[i].argmax(axis=1)[stops]
            point[part] = protocol.measure(answer, cost, y)
        found.append(point)
    return found


def _two_columns(shares: Any) -> Any:
    return np.column_stack([1 - shares, shares]) if shares.ndim == 1 else shares


def measure_budget_forest(parts: Any, prices: Any, seed: int) -> list[Any]:
    """Return the points of a budgeted forest."""
    (X, y), valid, _ = parts
    forest = BudgetForestClassifier(
        prices, budget=float(prices.sum()) + 1.0, n_estimators=40, random_state=seed
    ).fit(X, y, X_valid=valid[0], y_valid=valid[1])
    path = protocol.thin(forest.path(), 12)
    return [_measure_forest(forest.policy_at(p), parts, float) for p in path]


def measure_plain_forest(parts: Any, prices: Any, seed: int) -> list[Any]:
    """Return the points of a plain forest: one for each number of trees."""
    X, y = parts[0]
    plain = PlainForestClassifier(prices, n_estimators=40, random_state=seed)
    plain.fit(X.astype(np.float32), y)
    first = plain.policy_.first_trees
    return [_measure_forest(first(n), parts, np.float32) for n in protocol.PLAIN_TREES]


def _measure_forest(forest: Any, parts: Any, kind: Any) -> dict[str, Any]:
    return {
        part: protocol.measure(*forest.predict_and_cost(X.astype(kind)), y)
        for part, (X, y) in zip(("valid", "test"), parts[1:], strict=True)
    }


def measure_rivals(
    parts: Any, prices: Any, n_classes: int, rounds: int, boost: Any
) -> dict[str, list[Any]]:
    """Return the curve of each rival."""
    seed, folds = boost.random_state, list_folds(boost, parts)

    def cascade(some: Any) -> list[Any]:
        return measure_cascade(some, prices, n_classes, rounds)

    def forest(some: Any) -> list[Any]:
        return measure_plain_forest(some, prices, seed)

    # A path of its own on every fold: validation rows are all that it has.
    budget = on_folds(lambda some: measure_budget_forest(some, prices, seed), parts, [])
    curves = {
        "CEGB": measure_cegb(parts, prices, n_classes, rounds, boost),
        "cascade": on_folds(cascade, parts, folds),
        "BudgetRF": budget,
        "forest": on_folds(forest, parts, folds),
    }
    prior = protocol.measure_prior(parts)
    return {
        rival: [p for p in protocol.front([*points, prior]) if p is not prior]
        for rival, points in curves.items()
    }


def measure_budgets(boost: Any, models: list[Any]) -> list[dict[str, float]]:
    """Return what the test rows spend with several budgets."""
    found = boost._candidates
    free = found.choose(boost._goal(None))[1].cost
    least = min(point.cost for point in boost.path() if point.cost > 0)
    if not 0 < least < free:
        return []
    budgets = np.geomspace(1.1 * least, free, N_BUDGETS)
    rows = []
    for budget in budgets.tolist():
        policy, point = found.choose(boost._goal(budget))
        more = found.choose(boost._goal(1.5 * budget))[1]
        which = [
            model.trees is policy.trees
            and model.varies_together == policy.varies_together
            for model in found.models
        ].index(True)
        test = models[which]["test"]
        cost, answer = test["stops"].limit(point.max_cost).at(point.threshold)
        stderr = cost.std() / np.sqrt(len(cost) - 1)
        rows.append({
            "budget": budget, "spent": float(cost.mean()), "stderr": float(stderr),
            "error": float(np.mean(answer != test["true"])), "family": point.family,
            "helps": bool(point.error - more.error >= 0.005),
        })  # fmt: skip
    return rows


def run_set(name: str, seed: int, most: tuple[int, int, int]) -> dict[str, Any]:
    """Return what one set and seed give."""
    start = time.process_time()
    parts, prices = load(name, seed, most)
    n_classes = int(max(y.max() for _, y in parts)) + 1
    rounds = 300 if n_classes <= 3 else 100
    boost, models = fit_ours(parts, prices, seed, rounds)
    fitted = time.process_time() - start
    curves = measure_rivals(parts, prices, n_classes, rounds, boost)
    ours = Matcher(models)
    return {
        "set": name, "seed": seed, "rows": [len(y) for _, y in parts],
        "points": {rival: compare(ours, curve) for rival, curve in curves.items()},
        "points with the margin before": {
            rival: compare(ours, curve, MARGIN_BEFORE)
            for rival, curve in curves.items()
        },
        "budgets": measure_budgets(boost, models),
        "fit_seconds": fitted, "seconds": time.process_time() - start,
    }  # fmt: skip


def make_rows(runs: list[dict[str, Any]], sets: Any) -> list[dict[str, object]]:
    """Return a row for each set, and rows of all of them."""
    rows = _rows_of_sets(runs, sets)
    if not rows:
        return []
    spent = [s for run in runs for s in _spent(run)]
    mean = _average(rows, "geometric mean", spent)
    median = _average(rows, "median", spent, is_median=True)
    before = [run | {"points": run["points with the margin before"]} for run in runs]
    wide = _average(
        _rows_of_sets(before, sets), f"margin {MARGIN_BEFORE:g}, geometric mean", spent
    )
    return [*rows, mean, median, wide, dict.fromkeys(rows[0], "") | ASKED]


def _rows_of_sets(runs: list[dict[str, Any]], sets: Any) -> list[dict[str, Any]]:
    by_set = [(name, [run for run in runs if run["set"] == name]) for name in sets]
    return [_summarise(name, some) for name, some in by_set if some]


def _average(
    rows: list[dict[str, Any]], title: str, spent: list[float], is_median: bool = False
) -> dict[str, object]:
    """Return one row of all sets: means, or medians."""
    found: dict[str, object] = dict.fromkeys(rows[0], "") | {"set": title}
    middle = np.nanmedian if is_median else np.nanmean
    for key in rows[0]:
        if key in ("accurate", *RIVALS):
            values = [row[key] for row in rows if np.isfinite(row[key])]
            found[key] = float(np.median(values)) if is_median else _interval(values)
        elif key.endswith("points"):
            found[key] = float(middle([row[key] for row in rows]))
        elif key in ("missed", "budgets over", "lost") and not is_median:
            pairs = [str(row[key]).split(" of ") for row in rows]
            found[key] = " of ".join(str(sum(int(p[i]) for p in pairs)) for i in (0, 1))
        elif key == "spent":
            found[key] = float(middle(spent)) if spent else float("nan")
    return found


def _interval(values: list[float]) -> str:
    """Return a geometric mean, and where it lies in 95 % from set to set."""
    logs = np.log(np.clip(values, 0.01, 100))
    half = 1.96 * logs.std(ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else 0
    low, middle, high = np.exp([logs.mean() - half, logs.mean(), logs.mean() + half])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def _spent(run: dict[str, Any]) -> list[float]:
    return [b["spent"] / b["budget"] for b in run["budgets"] if b["helps"]]


def _summarise(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    points = {r: [p for run in runs for p in run["points"][r]] for r in RIVALS}
    accurate = [p for p in points["CEGB"] if p["accurate"]]
    every = [p for rival in RIVALS for p in points[rival]]
    budgets = [b for run in runs for b in run["budgets"]]
    over = sum(b["spent"] > b["budget"] + 2 * b["stderr"] for b in budgets)
    spent = [s for run in runs for s in _spent(run)]
    row: dict[str, Any] = {
        "set": name,
        "rows": "/".join(f"{n:,}" for n in runs[0]["rows"]),
        "seeds": len(runs),
    }
    for rival in RIVALS:
        row[rival] = mean_ratio([p["ratio"] for p in points[rival]])
        change = [p["change"] for p in points[rival]]
        row[f"{rival}: error, points"] = 100 * float(np.mean(change or [np.nan]))
        if rival == "CEGB":
            row["accurate"] = mean_ratio([p["ratio"] for p in accurate])
            change = [p["change"] for p in accurate]
            row["its error, points"] = 100 * float(np.mean(change or [np.nan]))
    row["missed"] = f"{sum(p['missed'] for p in every)} of {len(every)}"
    lost = sum(p["ratio"] >= 1 and p["change"] >= 0 for p in every)
    row["lost"] = f"{lost} of {len(every)}"
    row["budgets over"] = f"{over} of {len(budgets)}"
    row["spent"] = float(np.mean(spent)) if spent else float("nan")
    return row


def run_all(sets: Any, seeds: Any, most: Any, results: Path | None) -> list[Any]:
    """Run what a file lacks; return all runs."""
    runs = read_results(results)
    done = {(run["set"], run["seed"]) for run in runs}
    for seed in seeds:
        for name in sets:
            if (name, seed) in done:
                continue
            runs.append(run_set(name, seed, most))
            # Nothing but the time: reported sets are looked at in the report alone.
            took = runs[-1]["seconds"]
            print(f"  {name}, seed {seed} ({took:.0f} s)", flush=True)
            if results is not None:
                results.parent.mkdir(parents=True, exist_ok=True)
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(runs[-1]) + "\n")
    return runs


def run(quick: bool) -> list[dict[str, object]]:
    """Run two sets that choices were made on; the reported ones are an option."""
    sets = ("pima",) if quick else ("pima", "spambase")
    return make_rows(run_all(sets, (0,), QUICK_ROWS, None), sets)


def report(runs: list[dict[str, Any]], sets: Any, name: str) -> None:
    """Print the table, and keep it for the page."""
    from run import print_rows

    rows = make_rows(runs, sets)
    print_rows(rows)
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / f"{name}.json").write_text(json.dumps(rows, indent=1))


def main() -> None:
    """Run what was asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", choices=tuple(LISTS), default="chosen")
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1))
    parser.add_argument("--results", type=Path, default=None)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    sets = LISTS[arguments.list]
    path = arguments.results or HERE / "results" / f"frontier_{arguments.list}.jsonl"
    if arguments.report:
        is_named = arguments.list in ("later", "fresh")
        name = arguments.list if is_named else "frontier"
        report(read_results(path), sets, name)
        return
    run_all(arguments.sets or sets, arguments.seeds, ROWS, path)


if __name__ == "__main__":
    main()
