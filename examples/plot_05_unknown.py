"""
Cells that nobody knows
=======================

An empty cell of a table means that either outcome may be seen. Rules that are made for
this ask less; the search says how far each one is from the best.
"""

# %%
# A random table: 40 causes, 16 tests, one cell in five unknown.

import matplotlib.pyplot as plt

import askless

table = askless.datasets.make_random_table(
    40, 20, n_classes=40, unknown=0.15, random_state=3
)
methods = ["gbs", "ec2", "information", "odtn-h", "odtn-r", "elimination", "auto"]
costs = {
    method: askless.solve(table, method=method, stop="clique").expected_cost
    for method in methods
    if method != "auto"
}
best = askless.solve(table, method="auto", stop="clique", time_limit=3)
costs["auto"] = best.expected_cost
print(
    f"auto: {best.expected_cost:.3f} tests, no policy needs less than "
    f"{best.lower_bound:.3f}"
)

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
colours = ["#9ecae1"] * (len(costs) - 1) + ["#08519c"]
axis.barh(list(costs), list(costs.values()), color=colours)
axis.axvline(best.lower_bound, color="#111111", linestyle="--")
axis.set_xlabel("tests on average (dashed: proved lower bound)")
axis.set_xlim(left=best.lower_bound * 0.8)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
