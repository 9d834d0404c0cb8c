"""The learner as it comes, on twelve sets drawn last of all, most of few rows.

The same as ``run.py frontier``, with the same rivals and the same rule, on the sets
that ``set_lists.py`` calls ``FRESH``. They were drawn when forests and a large booster
with a tree for each class had been added for several classes, and were on neither list
before. Two sets were exchanged before anything ran: one had a single class, and one 19
classes of 115 columns, which takes long. Rows of classes of fewer than twelve are left
out.

With 200 rows to grow on or more, as six of them have, it is 0.37, and 0.30 at the
accurate end.

They ran with eight boosters on folds of two classes before there were twelve (0.54 and
0.42, with 15 points missed). That was decided by nine problems of the first list.

``bench_frontier.py --list fresh`` runs all of them; ``--report`` writes what there is.
"""

from __future__ import annotations

from bench_frontier import QUICK_ROWS, make_rows, run_all


def run(quick: bool) -> list[dict[str, object]]:
    """Run two of the sets; all of them are an option of ``bench_frontier.py``."""
    sets = ("saheart",) if quick else ("saheart", "glass")
    return make_rows(run_all(sets, (0,), QUICK_ROWS, None), sets)
