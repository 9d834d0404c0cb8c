"""The paper on ACT over again: eight learners, drawn costs, five costs of mistakes.

Results are kept line by line in a file (see ``--results``), so a run can be stopped and
goes on where it was. By default a small share of the protocol is run; ``python
benchmarks/bench_act.py --full`` runs it all. The paper's findings are checked one by
one, and its figures drawn: a finding holds if the means and a Wilcoxon test over the
sets say so, and holds on average if only the means do. Sets of more than 1,000 rows are
represented by 1,000 of them; how many folds of each learner were priced is in the
table. C4.5, IDX, CS-ID3, EG2 and LSID3 decide by majority here, as in the paper.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from act_protocol import (
    EXPERT,
    LEARNERS,
    MISTAKES,
    RATIOS,
    SETS,
    Plan,
    Results,
    results_folder,
    run_plan,
)
from act_report import (
    check_findings,
    draw_figures,
    list_means,
    summarise,
    summarise_expert,
    summarise_uneven,
)
from act_speed import measure_speed
from page import write_page

HERE = Path(__file__).parent
# Sets above this size are represented by so many of their rows.
MAX_ROWS = 1000
ANYTIME = ("breast_cancer_ljubljana", "monk1", "multi_xor", "xor_5")
SAMPLES = (1, 2, 4, 8, 16, 32)
WITHOUT_ICET = tuple(name for name in LEARNERS if name != "icet")


def full_plans() -> list[tuple[str, Plan]]:
    """Return the whole protocol, so that a part of it is a fair sample of all.

    Every part is run on a few folds first, and on all of them later.
    """
    n_folds, some = 10, ("c45", "eg2", "dtmc", "act")

    def parts(learners: tuple[str, ...], fold: int) -> list[tuple[str, Plan]]:
        main = Plan(SETS, 4, MISTAKES, n_folds, learners, MAX_ROWS, only_folds=(fold,))
        return [("main", main), ("expert", replace(main, sets=EXPERT, expert=True))]

    def others(*folds: int) -> list[tuple[str, Plan]]:
        random = Plan(
            SETS, 1, MISTAKES, n_folds, some, MAX_ROWS, gain_correlation=0.0,
            only_folds=folds,
        )  # fmt: skip
        uneven = replace(
            random, mistakes=(500, 5000), gain_correlation=1.0, ratios=RATIOS
        )
        return [("random costs", random), ("uneven mistakes", uneven)]

    return [
        *parts(WITHOUT_ICET, 0),
        *others(0),
        *(
            (f"anytime {r}", Plan(ANYTIME, 4, (5000,), n_folds, ("act",), samples=r))
            for r in SAMPLES
        ),
        *(
            part
            for fold in range(n_folds)
            for learners in (("icet",), WITHOUT_ICET)
            for part in parts(learners, fold)
        ),
        *others(*range(1, n_folds)),
    ]


def quick_plans(quick: bool) -> list[tuple[str, Plan]]:
    """Return a share of it that takes a minute or two."""
    sets = ("hepatitis", "iris", "monk1", "multi_xor", "tae", "xor_5")
    n_folds = 3 if quick else 5
    mistakes = (100, 1000, 10_000)
    return [
        ("main", Plan(sets, 1, mistakes, n_folds, LEARNERS, MAX_ROWS, trials=100)),
        *(
            (
                f"anytime {r}",
                Plan(ANYTIME[2:], 1, (5000,), n_folds, ("act",), samples=r),
            )
            for r in SAMPLES[:4]
        ),
    ]


def run_all(
    plans: list[tuple[str, Plan]], results: Results, minutes: float
) -> pd.DataFrame:
    """Run the plans until the time is over, and return the main part."""
    until = time.time() + 60 * minutes
    for part, plan in plans:
        start = time.time()
        done = run_plan(plan, part, results, until=until)
        print(
            f"{part}: {len(results.lines)} fits, {time.time() - start:.0f} s"
            + ("" if done else ", out of time"),
            flush=True,
        )
    return results.frame("main")


def run(quick: bool) -> list[dict[str, object]]:
    """Return a row for each learner, from a small share of the protocol."""
    full = results_folder() / "act_full.jsonl"
    name = "act_quick" if quick else "act_share"
    # A full run that is there already says more than a share of it.
    is_full = not quick and full.is_file()
    results = Results(full if is_full else results_folder() / f"{name}.jsonl")
    main_part = run_all([] if is_full else quick_plans(quick), results, np.inf)
    print(summarise(main_part).to_string(), "\n")
    return [*list_means(results), *check_findings(results), *measure_speed(quick)]


def main() -> int:
    """Run the protocol from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="the whole protocol")
    parser.add_argument("--report", action="store_true", help="run nothing, show it")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after")
    parser.add_argument("--results", type=Path, help="file of results")
    parser.add_argument("--save", action="store_true", help="keep it for the page")
    parser.add_argument("--figures", type=Path, help="folder to draw figures in")
    arguments = parser.parse_args()
    path = arguments.results or results_folder() / "act_full.jsonl"
    results = Results(path)
    plans = full_plans() if arguments.full else quick_plans(quick=False)
    main_part = run_all([] if arguments.report else plans, results, arguments.minutes)
    print(summarise(main_part).to_string(), "\n")
    print(summarise_expert(results), "\n")
    print(summarise_uneven(results), "\n")
    rows = [*list_means(results), *check_findings(results)]
    for row in rows:
        print(f"{row['met']:10} {row['what']}: {row['found']}")
    if arguments.save:
        rows += measure_speed(quick=False)
        path = HERE / "results" / "act.json"
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        write_page()
    if arguments.figures:
        draw_figures(results, arguments.figures)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    raise SystemExit(main())
