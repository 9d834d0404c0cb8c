"""Use an installed Askless as a newcomer would: `python .ci/smoke.py`.

For an environment that holds a wheel, what it depends on, and no extra. Everything is
done with arrays, since neither pandas nor polars is there.
"""

import importlib
import importlib.util
import pkgutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = (
    "anyio", "lightgbm", "matplotlib", "mcp", "onnx", "pandas", "polars", "pyagrum",
    "pyarrow", "starlette", "uvicorn",
    "pyspark", "dask", "ray",
)  # fmt: skip


def check(holds: bool, what: str) -> None:
    """Stop if something does not hold; `assert` would not under `python -O`."""
    if not holds:
        sys.exit(f"smoke test: {what}")


def import_everything() -> None:
    """Import every module but the extras' own, compiled ones included."""
    import askless

    place = Path(askless.__file__).resolve()
    check(ROOT / "src" not in place.parents, f"the checkout was imported: {place}")
    found = [name for name in EXTRAS if importlib.util.find_spec(name)]
    check(not found, f"this environment must have no extra, got {', '.join(found)}")
    compiled = 0
    for module in pkgutil.walk_packages(askless.__path__, "askless."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            layers = ("askless.serve.", "askless.scale.")
            if module.name.startswith(layers) and error.name in EXTRAS:
                continue
            raise
        compiled += not (loaded.__file__ or "").endswith(".py")
    check(compiled > 30, f"only {compiled} compiled modules were found")


def solve_a_table(folder: Path) -> None:
    """Solve, show in every format that needs no extra, save, and load again."""
    import askless

    table = askless.Table(
        [["dark", "dead"], ["dark", "live"], ["dim", "live"]],
        classes=["blown fuse", "broken bulb", "dimmer"],
        tests=["lamp", "socket"],
        costs={"lamp": 1, "socket": 5},
        prior=[2, 5, 1],
    )
    solution = askless.solve(table)
    costs = (solution.expected_cost, solution.worst_cost, solution.lower_bound)
    check(costs == (5.375, 6.0, 5.375), f"expected, worst, bound are {costs}")
    shown = {
        "text": "=> broken bulb",
        "svg": "</svg>",
        "html": "</html>",
        "sql": "SELECT",
        "python": "def ",
        "javascript": "function",
    }
    for format, part in shown.items():
        text = askless.show(solution.policy, format)
        check(part.lower() in text.lower(), f"{format} shows no {part!r}")
    solution.policy.save(folder / "lamp.json")
    policy = askless.load(folder / "lamp.json")
    check(
        policy.predict([["dark", "live"]]).tolist() == ["broken bulb"],
        "the loaded policy decides otherwise",
    )


def solve_by_every_engine() -> None:
    """Tell eight cases apart by three bits, one of them sold twice, and draw a car."""
    import askless

    bits = [[case & 1, case >> 1 & 1, case >> 2, case >> 2] for case in range(8)]
    table = askless.Table(bits, list("abcdefgh"), costs=[1, 2, 3, 4])
    for method in ("greedy", "dectree", "search", "exact", "gbs", "ec2"):
        cost = askless.solve(table, method=method).expected_cost
        check(cost == 6.0, f"{method} costs {cost} where every best policy costs 6")
    unknown = askless.Table(
        [[0, 0, None], [0, 1, 0], [1, 0, 0], [1, 1, 1]], ["a", "b", "c", "d"]
    )
    for method in ("exact", "odtn-r"):
        cost = askless.solve(unknown, method=method).expected_cost
        check(cost >= 2.0, f"{method} costs {cost}: four classes need two bits")
    car = askless.solve(askless.datasets.load_car())
    check(car.lower_bound <= car.expected_cost, "the car costs less than its bound")


def learn_trees() -> None:
    """Learn a tree, a forest and a run of scikit-learn's forest; ask what rows pay."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    import askless

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    costs = [1, 2, 3, 4, 5, 6]
    models = {
        "a tree": askless.CostTreeClassifier(costs, mistakes=50, random_state=0),
        "a forest": askless.BudgetForestClassifier(costs, budget=5, random_state=0),
    }
    for name, model in models.items():
        model.fit(X, y)
        right = float((model.predict(X) == y).mean())
        check(right > 0.7, f"{name} is right on {right:.0%} of its rows")
        paid = float(model.cost(X).mean())
        check(0 < paid < sum(costs), f"{name} pays {paid}")
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    adaptive = askless.AdaptiveEnsemble(forest, costs).fit(X, y)
    check(
        bool((adaptive.predict(X) == forest.predict(X)).all()),
        "a forest that buys one by one decides otherwise than the whole",
    )


def use_the_command(folder: Path) -> None:
    """Run an interview through a pipe, and ask for what is not installed."""
    command = Path(sys.executable).with_name(
        "askless.exe" if sys.platform == "win32" else "askless"
    )
    check(command.exists(), f"there is no command {command}")

    def askless(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(command), *arguments],
            input=typed, capture_output=True, text=True, encoding="utf-8", timeout=300,
            cwd=folder,
        )  # fmt: skip

    ended = askless("ask", "lamp.json", typed="dark\ndead\n")
    check(
        ended.returncode == 0 and "=> blown fuse" in ended.stdout,
        f"the interview ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}",
    )
    ended = askless("show", "lamp.json", "--as", "onnx", "-o", "lamp.onnx")
    check(
        ended.returncode == 1
        and "pip install 'askless[onnx]'" in ended.stderr
        and "Traceback" not in ended.stderr,
        f"a missing extra ended with {ended.returncode}:\n{ended.stderr}",
    )


def miss_an_extra() -> None:
    """See that what needs an extra names it in one sentence."""
    import askless
    from askless.exceptions import MissingExtraError

    policy = askless.solve(askless.Table([[0], [1]], ["even", "odd"])).policy
    try:
        askless.show(policy, "onnx")
    except MissingExtraError as error:
        check("pip install 'askless[onnx]'" in str(error), f"it only said: {error}")
    else:
        check(False, "ONNX was written without the package for it")


def main() -> int:
    """Run every step and say how long it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        steps: list[tuple[str, Callable[[], None]]] = [
            ("import everything", import_everything),
            ("solve, show, save, load", lambda: solve_a_table(folder)),
            ("every engine", solve_by_every_engine),
            ("learn", learn_trees),
            ("the command", lambda: use_the_command(folder)),
            ("a missing extra", miss_an_extra),
        ]
        for what, step in steps:
            start = time.perf_counter()
            step()
            print(f"  {what}: fine ({time.perf_counter() - start:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
