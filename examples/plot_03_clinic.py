"""
Patients to learn from
======================

Examples instead of a table: the blood is drawn once, the laboratory answers late, and a
model that may ask less is nearly as often right.
"""

# %%

import matplotlib.pyplot as plt

import askless

clinic = askless.datasets.make_clinic(3000, random_state=0)
frame, y = clinic.to_frame(), clinic.y
train, test = slice(0, 2000), slice(2000, 3000)

# %%
# Trees of growing depth: what a new patient pays, and how often the decision is wrong.

points = []
for depth in range(9):
    model = askless.GreedyTreeClassifier(clinic.costs, max_depth=depth)
    model.fit(frame[train], y[train])
    result = askless.evaluate(model.policy_, frame[test], y[test])
    points.append((result.expected_cost, 100 * result.error))
everything = model.policy_.prices.cost_of_all()

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
axis.plot(*zip(*points, strict=True), "o-", color="#3182bd")
for depth, point in enumerate(points):
    axis.annotate(f" {depth}", point, fontsize=8)
axis.axvline(everything, color="#999999", linestyle=":")
axis.set_xlabel(f"mean cost of a new patient, by depth (every test: {everything:g})")
axis.set_ylabel("error on new patients, %")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
