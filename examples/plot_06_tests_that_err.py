"""
Tests that can err
==================

Fever: 80 % of influenza, 10 % of a cold. After each answer there is a posterior; the
policy stops when no test is worth its price.
"""

# %%

import matplotlib.pyplot as plt

import askless

table = askless.Table.from_likelihoods(
    {
        "fever": {"flu": {"yes": 0.8, "no": 0.2}, "cold": {"yes": 0.1, "no": 0.9},
                  "angina": {"yes": 0.6, "no": 0.4}},
        "throat": {"flu": {"red": 0.3, "fine": 0.7}, "cold": {"red": 0.4, "fine": 0.6},
                   "angina": {"red": 0.95, "fine": 0.05}},
        "smear": {"flu": {"+": 0.02, "-": 0.98}, "cold": {"+": 0.03, "-": 0.97},
                  "angina": {"+": 0.9, "-": 0.1}},
    },
    prior={"flu": 3, "cold": 6, "angina": 1},
    costs=askless.Costs({"fever": 1, "throat": 2, "smear": 8}, mistakes=60),
)  # fmt: skip
solution = askless.solve(table, objective="total")
print(askless.show(solution.policy))
print(f"{solution.total_cost:.2f} in all, {solution.error:.1%} of it wrong decisions")

# %%
# One patient, answer by answer.

session = solution.policy.start()
steps, names = [], ["before"]
steps.append(dict(session.probabilities))
for answer in ("yes", "red", "+"):
    if session.test is None:
        break
    names.append(f"{session.test}: {answer}")
    session.answer(answer)
    steps.append(dict(session.probabilities))
print("Decided:", session.decision, "after paying", session.spent)

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
bottom = [0.0] * len(steps)
for cause, colour in zip(("flu", "cold", "angina"), ("#3182bd", "#9ecae1", "#e6550d"),
                         strict=True):  # fmt: skip
    shares = [step.get(cause, 0.0) for step in steps]
    axis.bar(names, shares, bottom=bottom, label=cause, color=colour)
    bottom = [a + b for a, b in zip(bottom, shares, strict=True)]
axis.set_ylabel("posterior")
axis.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
