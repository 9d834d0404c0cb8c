"""
Error against cost: which learner?
==================================

One budget says little. ``frontier`` draws the whole curve of each learner, on rows that
it has not seen.
"""

# %%

import matplotlib.pyplot as plt

import askless

clinic = askless.datasets.make_clinic(1500, random_state=2)
X, y = clinic.to_frame(), clinic.y
budgets = [10, 20, 40, 80]
models = {
    "forest": askless.BudgetForestClassifier(n_estimators=30, random_state=0),
    "greedy tree": [askless.GreedyTreeClassifier(max_depth=d) for d in (1, 2, 3, 5, 7)],
    "EG2": [askless.EG2Classifier(cost_weight=w) for w in (0, 0.5, 1)],
}
found = askless.frontier(models, X, y, clinic.costs, budgets=budgets, cv=3)
best = found.best(budget=20)
print(f"For 20: {best.model}, {best.setting}, {best.error:.0%} wrong")

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
for (name, points), colour in zip(
    found.curves().items(), ("#31a354", "#3182bd", "#e6550d"), strict=True
):
    points = sorted(points, key=lambda point: point.cost)
    axis.plot([p.cost for p in points], [100 * p.error for p in points], "o-",
              color=colour, label=name)  # fmt: skip
axis.set_xlabel("mean cost of a new patient")
axis.set_ylabel("error, %")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
