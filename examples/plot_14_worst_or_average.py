"""
The worst case or the average?
==============================

Both at once can rarely be had. ``objective="both"`` lists every trade-off, each with
its own policy, and proves that there are no others.
"""

# %%

import matplotlib.pyplot as plt

import askless

table = askless.datasets.make_random_table(
    48, 16, n_classes=4, costs="integers", random_state=11
)
solution = askless.solve(table, objective="both")
for point in solution.pareto:
    print(f"worst {point.worst_cost:g}, expected {point.expected_cost:.3f}")

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
axis.plot(
    [point.worst_cost for point in solution.pareto],
    [point.expected_cost for point in solution.pareto],
    "o-", color="#756bb1",
)  # fmt: skip
axis.set_xlabel("worst cost")
axis.set_ylabel("expected cost")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
