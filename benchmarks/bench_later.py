"""The learner as it comes, on twelve more sets that no choice was made on.

The same as ``run.py frontier``, with the same rivals and the same rule, on the sets
that ``set_lists.py`` calls ``LATER``: drawn, and run, after the last choice that the
learner of so many rows rests on. A first start, before boosters with a tree for each
class came back, was stopped before anything was looked at. Rows of classes of fewer
than twelve are left out. The mean leans on spectfheart, where 134 rows to grow on are
best decided by next to nothing: without that set it is 0.48, and 0.43 at the accurate
end.

``bench_frontier.py --list later`` runs all of them; ``--report`` writes what there is.
"""

from __future__ import annotations

from bench_frontier import QUICK_ROWS, make_rows, run_all


def run(quick: bool) -> list[dict[str, object]]:
    """Run two of the sets; all of them are an option of ``bench_frontier.py``."""
    sets = ("kc1",) if quick else ("kc1", "yeast")
    return make_rows(run_all(sets, (0,), QUICK_ROWS, None), sets)
