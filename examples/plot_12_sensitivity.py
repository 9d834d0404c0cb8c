"""
What the answer hangs on
========================

Prices and chances are guesses. Which of them would change the first question, and how
far may they move before they do?
"""

# %%

import matplotlib.pyplot as plt

import askless

table = askless.Table(
    [["dark", "dead", "old"], ["dark", "live", "old"], ["dim", "live", "new"],
     ["dim", "dead", "new"]],
    classes=["fuse", "bulb", "dimmer", "wire"],
    tests=["lamp", "socket", "switch"],
    costs=askless.Costs({"lamp": 1, "socket": 5, "switch": 2}, mistakes=40),
    prior=[2, 5, 1, 1],
)  # fmt: skip
solution = askless.solve(table, objective="total")
sensitivity = solution.sensitivity()
print(sensitivity)

# %%

figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
sensitivity.plot(axis)
plt.show()
