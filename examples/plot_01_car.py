"""
A car that does not start
=========================

Thirty causes, twenty-eight checks, minutes as costs. Which check comes first, and how
much is saved by asking in the right order?
"""

# %%
# The table comes with Askless. A row is a cause, a column a check.

import matplotlib.pyplot as plt
import numpy as np

import askless

table = askless.datasets.load_car()
print(table)

# %%
# ``ec2`` is quick; ``auto``, the default, would go on to prove a bound.

solution = askless.solve(table, method="ec2")
print(askless.show(solution.policy, max_depth=3))

# %%
# What each cause costs to find, from exact evaluation, and what every check together
# would cost.

result = askless.evaluate(solution.policy, table)
order = np.argsort(result.case_cost)
everything = table.prices.cost_of_all()

figure, axis = plt.subplots(figsize=(7, 6), layout="constrained")
axis.barh(np.arange(table.n_cases), result.case_cost[order], color="#3182bd")
axis.set_yticks(np.arange(table.n_cases), [table.cases[i] for i in order], fontsize=7)
axis.axvline(result.expected_cost, color="#111111", linestyle="--")
axis.set_xlabel(
    f"minutes to find it; {result.expected_cost:.1f} on average (dashed), "
    f"{everything:g} for every check"
)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
