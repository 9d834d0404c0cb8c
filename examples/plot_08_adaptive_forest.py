"""
Somebody's forest, asked less
=============================

A random forest of scikit-learn, as it is, but features are bought one by one. It stops
as soon as no value of the others could change its answer: every prediction stays the
same.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import askless

X, y = load_breast_cancer(return_X_y=True)
train, test = slice(0, 400), slice(400, None)
forest = RandomForestClassifier(50, max_depth=5, random_state=0).fit(X[train], y[train])
adaptive = askless.AdaptiveEnsemble(forest).fit(X[train], y[train])
answers, paid = adaptive.predict_and_cost(X[test])
assert (answers == forest.predict(X[test])).all()
print(f"{paid.mean():.1f} of {X.shape[1]} features on average, every answer the same")

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
axis.hist(paid, bins=np.arange(paid.min(), X.shape[1] + 2) - 0.5, color="#31a354")
axis.axvline(X.shape[1], color="#999999", linestyle=":")
axis.set_xlabel("features bought before the vote was settled (dotted: all of them)")
axis.set_ylabel("patients")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
