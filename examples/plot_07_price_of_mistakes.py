"""
What a mistake costs decides how much is asked
==============================================

With ``objective="total"``, tests and mistakes are paid from one purse. Where a mistake
is cheap nothing is asked; the dearer it is, the more tests pay for themselves.
"""

# %%

import warnings

import matplotlib.pyplot as plt
import numpy as np

import askless

base = askless.datasets.make_random_table(
    24, 9, n_classes=3, costs="integers", random_state=1
)
prices = np.geomspace(1, 200, 15)
spent, errors = [], []
with warnings.catch_warnings():
    # Where nothing is worth asking, solve says so.
    warnings.simplefilter("ignore", askless.exceptions.DegeneratePolicyWarning)
    for mistake in prices:
        table = base.with_costs(base.costs.with_mistakes(mistake))
        solution = askless.solve(table, objective="total")
        spent.append(solution.expected_cost)
        errors.append(100 * solution.error)

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
axis.semilogx(prices, spent, "o-", color="#3182bd")
axis.set_xlabel("price of a wrong decision")
axis.set_ylabel("spent on tests", color="#3182bd")
other = axis.twinx()
other.plot(prices, errors, "s--", color="#e6550d")
other.set_ylabel("error, %", color="#e6550d")
other.set_ylim(bottom=0)
axis.spines[["top"]].set_visible(False)
other.spines[["top"]].set_visible(False)
plt.show()
