"""
Buying from code, when the shop is flaky
========================================

``run_many`` calls ``fetch`` for what the policy needs and for nothing else. Here a
third of all calls fail.
"""

# %%

import random

import matplotlib.pyplot as plt

import askless

table = askless.datasets.load_questions()
policy = askless.solve(table).policy
answers = table.rows()
luck = random.Random(0)


def fetch(case, test):
    """Look up what a test shows, if the line holds."""
    if luck.random() < 1 / 3:
        raise ConnectionError("the line is down")
    return answers[test][case]


# %%
# Without retries a test that fails is skipped: the case still ends with a decision, but
# not always with the right one.

cases = [i % table.n_cases for i in range(400)]
rights, calls = [], []
for retries in range(6):
    report = policy.run_many(fetch, cases, retries=retries, errors=ConnectionError)
    right = [r.decision == table.case_classes[r.case] for r in report]
    rights.append(100 * sum(right) / len(right))
    calls.append(report.n_calls / len(cases))
print(report)

# %%

figure, axis = plt.subplots(figsize=(4.6, 3), layout="constrained")
axis.bar(range(6), rights, color="#31a354")
for retries, n in enumerate(calls):
    axis.annotate(f"{n:.1f} calls", (retries, 3), ha="center", fontsize=8, color="w")
axis.set_xlabel("retries")
axis.set_ylabel("decided right, %")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
