"""The learner as it comes, on twelve more sets that no choice was made on.

The same as ``run.py frontier``, with the same rivals and the same rule, on the sets
that ``set_lists.py`` calls ``LATER``. They were drawn when trees came that all classes
share, and had run with that version only (0.41 and 0.40; 0.48 and 0.43 without
spectfheart, where 134 rows to grow on are best decided by next to nothing; without it
this version has 0.45 and 0.38). Rows of classes of fewer than twelve are left out.

``bench_frontier.py --list later`` runs all of them; ``--report`` writes what there is.
"""

from __future__ import annotations

from bench_frontier import QUICK_ROWS, make_rows, run_all


def run(quick: bool) -> list[dict[str, object]]:
    """Run two of the sets; all of them are an option of ``bench_frontier.py``."""
    sets = ("kc1",) if quick else ("kc1", "yeast")
    return make_rows(run_all(sets, (0,), QUICK_ROWS, None), sets)
