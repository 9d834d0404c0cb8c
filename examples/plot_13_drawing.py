"""
A policy on paper
=================

``policy.plot`` draws a tree with matplotlib, to be put beside other figures.
"""

# %%

import matplotlib.pyplot as plt

import askless

table = askless.Table(
    [["noise", "slip", "dry"], ["noise", "slip", "worn"], ["noise", "fine", "fine"],
     ["wobble", "fine", "fine"], ["wobble", "slip", "dry"]],
    ["oil the chain", "new chain", "new bearings", "true the wheel", "oil the chain"],
    tests=["symptom", "gears", "chain"],
    costs={"symptom": 1, "gears": 3, "chain": 2},
    prior=[30, 10, 5, 40, 15],
)  # fmt: skip
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
askless.solve(table).policy.plot(axis)
plt.show()
