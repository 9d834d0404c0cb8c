"""Draw which method to use: ``python docs/draw_methods.py`` writes images/methods.svg.

The picture is a policy of Askless itself: a table of situations whose classes are the
methods, asked in the order in which a user would think of them.
"""

from __future__ import annotations

from pathlib import Path

import askless

IMAGES = Path(__file__).parent / "images"
TESTS = (
    "you have", "tests err?", "unknown?", "proof?", "what counts", "a model already?",
    "one tree to read?",
)  # fmt: skip
ANY = None
SITUATIONS = (
    ("table", "no", "no", "yes", ANY, ANY, ANY, "auto"),
    ("table", "no", "no", "no time", "average", ANY, ANY, "ec2"),
    ("table", "no", "no", "no time", "worst case", ANY, ANY, "greedy"),
    ("table", "no", "no", "no time", "both", ANY, ANY, "dectree"),
    ("table", "no", "yes", "yes", ANY, ANY, ANY, "exact"),
    ("table", "no", "yes", "no time", ANY, ANY, ANY, "elimination"),
    ("table", "yes", ANY, ANY, ANY, ANY, ANY, 'objective="total"'),
    ("examples", ANY, ANY, ANY, ANY, "yes", ANY, "AdaptiveEnsemble"),
    ("examples", ANY, ANY, ANY, "budget", "no", "no", "BudgetBoostClassifier"),
    ("examples", ANY, ANY, ANY, "mistakes", "no", "yes", "CostTreeClassifier"),
    ("examples", ANY, ANY, ANY, "budget", "no", "yes", "GreedyTreeClassifier"),
    ("examples", ANY, ANY, ANY, "mistakes", "no", "no", "BudgetBoostClassifier"),
)  # fmt: skip


def make_policy() -> askless.Tree:
    """Return the policy: the first question that all situations left have answered."""
    table = askless.Table(
        [row[:-1] for row in SITUATIONS], [row[-1] for row in SITUATIONS], tests=TESTS
    )

    def choose(cases: list[int], asked: list[str]) -> str:
        for place, name in enumerate(TESTS):
            shown = {SITUATIONS[case][place] for case in cases}
            if name not in asked and ANY not in shown and len(shown) > 1:
                return name
        raise LookupError(f"nothing tells situations {list(cases)} apart")

    return askless.Tree.from_rule(table, choose)


if __name__ == "__main__":
    picture = askless.show(make_policy(), "svg", title="Which method?")
    IMAGES.joinpath("methods.svg").write_text(picture, encoding="utf-8")
    print(f"Wrote {IMAGES / 'methods.svg'}")
