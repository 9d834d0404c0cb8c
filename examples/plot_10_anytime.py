"""
A search that can be stopped at any time
========================================

While it runs, the best policy gets cheaper and the lower bound rises. Where they meet,
the policy is proved to be the best.
"""

# %%

import matplotlib.pyplot as plt

import askless

table = askless.datasets.make_random_table(192, 26, random_state=5)
seen = []
solution = askless.solve(table, method="exact", time_limit=4, callbacks=seen.append)
print(f"{solution.status}: {solution.expected_cost:.3f} tests on average")
seen = [step for step in seen if step.best is not None and step.bound is not None]
seconds = [step.seconds for step in seen]
best, bounds = [step.best for step in seen], [step.bound for step in seen]

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
axis.step(seconds, best, where="post", color="#e6550d", label="best policy")
axis.step(seconds, bounds, where="post", color="#3182bd", label="lower bound")
axis.fill_between(seconds, bounds, best, step="post", color="#9ecae1", alpha=0.4)
axis.set_xlabel("seconds")
axis.set_ylabel("expected tests")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
