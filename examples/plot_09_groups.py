"""
The blood is drawn once
=======================

Tests of a group share a part of their price. A policy that does not know it asks for a
dear test where a second one on the same blood would have done.
"""

# %%

import matplotlib.pyplot as plt

import askless

clinic = askless.datasets.make_clinic(3000, random_state=1)
X, y = clinic.to_frame(), clinic.y
train, test = slice(0, 2000), slice(2000, 3000)
blind = askless.Costs(clinic.costs.costs)
mistakes = 300

# %%
# Both trees are charged by the true prices.

rows = []
for name, costs in (("blind to groups", blind), ("knows groups", clinic.costs)):
    model = askless.ACTClassifier(costs, mistakes, random_state=0)
    model.fit(X[train], y[train])
    result = askless.evaluate(model.policy_, X[test], y[test], costs=clinic.costs)
    rows.append((name, result.expected_cost, mistakes * result.error))
    print(f"{name}: {result.expected_cost:.1f} for tests, {result.error:.1%} wrong")

# %%

figure, axis = plt.subplots(figsize=(4.6, 2.4), layout="constrained")
names, tests, wrong = zip(*rows, strict=True)
axis.barh(names, tests, color="#3182bd", label="tests")
axis.barh(names, wrong, left=tests, color="#fdae6b", label="mistakes")
axis.set_xlabel("cost of a new patient, at true prices")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
