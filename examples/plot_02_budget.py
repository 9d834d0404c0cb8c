"""
Error against budget
====================

A budget that no case may exceed is an input. The less may be spent, the more often the
decision is wrong; this is the curve.
"""

# %%

import warnings

import matplotlib.pyplot as plt

import askless

table = askless.datasets.load_questions()
free = askless.solve(table)
print(f"Never wrong: at worst {free.worst_cost:g}, {free.expected_cost:g} on average.")

# %%
# Every budget is solved for itself; what comes out keeps to it.

budgets = range(int(free.worst_cost) + 1)
errors, worst = [], []
with warnings.catch_warnings():
    # The smallest budgets pay for no test at all, and solve says so.
    warnings.simplefilter("ignore", askless.exceptions.DegeneratePolicyWarning)
    for budget in budgets:
        solution = askless.solve(table, budget=budget)
        errors.append(100 * solution.error)
        worst.append(solution.worst_cost)
assert all(paid <= budget for paid, budget in zip(worst, budgets, strict=True))

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
axis.step(budgets, errors, where="post", color="#e6550d")
axis.set_xlabel("budget of each case")
axis.set_ylabel("error, %")
axis.set_ylim(bottom=0)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
