"""Three learners of the literature on buying features, in an environment of its own.

Written from memory of their papers; neither these nor their code were at hand.

gdfs   Greedy dynamic feature selection (Covert and others, 2023): a policy network is
       trained through relaxed choices, at falling temperatures, to choose the feature
       after which a predictor errs least; it buys the same number for every row.
dime   Estimating conditional mutual information (Gadgil and others, 2024): a value
       network learns how much each feature lowers the predictor's loss, which is at
       most the entropy of what it predicts; it buys the best for its price until that
       is below a threshold.
aaco   The acquisition conditioned oracle (Valancius and others, 2024): of many sets of
       features, the one whose loss and price together are least on the training rows
       nearest by what is known; it stops if that set is empty.

``acquire_worker.py FILE METHOD SEED`` reads rows from a file of numpy and prints a line
of JSON for each point. It needs torch and numpy, and nothing of Askless.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from typing import Any

import numpy as np
import torch
from torch import nn

N_HIDDEN = 128
BATCH = 256
MOST_BOUGHT = 12
# Mean costs that rivals are asked for; gdfs buys exactly so many.
COSTS = (3, 5, 8)
TEMPERATURES = (2.0, 0.8, 0.3, 0.1)
EXPLORE = (0.3, 0.1, 0.03)
PENALTIES = (0.05, 0.02, 0.008, 0.003)
N_SUBSETS, N_NEIGHBOURS, MOST_ROWS = 100, 5, 400


class Rows:
    """Rows as tensors: values by normal ranks, and which are missing."""

    def __init__(self, file: Any, part: str, edges: Any) -> None:
        values = file[f"X_{part}"]
        known = np.isfinite(values)
        ranks = np.zeros_like(values)
        for i, cuts in enumerate(edges):
            shares = np.interp(values[:, i], cuts, np.linspace(0.01, 0.99, len(cuts)))
            ranks[:, i] = np.where(known[:, i], _normal(shares), 0.0)
        self.values = torch.tensor(ranks, dtype=torch.float32)
        self.missing = torch.tensor(~known, dtype=torch.float32)
        self.classes = torch.tensor(file[f"y_{part}"], dtype=torch.long)

    def __len__(self) -> int:
        return len(self.classes)

    def show(self, rows: Any, mask: Any) -> Any:
        """Return what a network sees of rows: values, what was bought, what lacks."""
        seen = self.values[rows] * mask
        return torch.cat([seen, mask, self.missing[rows] * mask], dim=-1)


def _normal(shares: Any) -> Any:
    return torch.special.ndtri(torch.tensor(shares)).numpy()


def find_edges(values: Any) -> list[Any]:
    """Return the quantiles of each column, by which values are ranked."""
    shares = np.linspace(0, 1, 101)
    found = []
    for column in values.T:
        known = column[np.isfinite(column)]
        found.append(np.quantile(known, shares) if len(known) else np.array([0.0, 1.0]))
    return found


def make_network(n_in: int, n_out: int) -> nn.Module:
    """Return a network of two hidden layers."""
    return nn.Sequential(
        nn.Linear(n_in, N_HIDDEN), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(N_HIDDEN, N_HIDDEN), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(N_HIDDEN, n_out),
    )  # fmt: skip


def batches(n_rows: int) -> list[Any]:
    """Return the rows in random order, in batches."""
    return list(torch.randperm(n_rows).split(BATCH))


def draw_masks(n_rows: int, n_tests: int) -> Any:
    """Return random sets of features, of every size alike often."""
    sizes = torch.randint(0, n_tests + 1, (n_rows, 1))
    return (torch.rand(n_rows, n_tests).argsort(dim=1) < sizes).float()


class Stopper:
    """Keeps the best of a network, and says when it no longer gets better."""

    def __init__(self, networks: list[nn.Module], patience: int) -> None:
        self.networks, self.patience = networks, patience
        self.best, self.left, self.kept = float("inf"), patience, self._copy()

    def _copy(self) -> list[Any]:
        return [copy.deepcopy(network.state_dict()) for network in self.networks]

    def is_over(self, loss: float) -> bool:
        """Note a validation loss; return whether to stop."""
        if loss < self.best - 1e-4:
            self.best, self.left, self.kept = loss, self.patience, self._copy()
        else:
            self.left -= 1
        return self.left <= 0

    def restore(self) -> None:
        """Go back to the best."""
        for network, state in zip(self.networks, self.kept, strict=True):
            network.load_state_dict(state)


def train_predictor(train: Rows, valid: Rows, n_classes: int) -> nn.Module:
    """Return a predictor for any set of features, trained with random masks."""
    n_tests = train.values.shape[1]
    network = make_network(3 * n_tests, n_classes)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    masks = draw_masks(len(valid), n_tests)
    stopper = Stopper([network], 12)
    every = torch.arange(len(valid))
    for _ in range(200):
        network.train()
        for rows in batches(len(train)):
            shown = train.show(rows, draw_masks(len(rows), n_tests))
            loss = nn.functional.cross_entropy(network(shown), train.classes[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        network.eval()
        with torch.no_grad():
            scores = network(valid.show(every, masks))
            loss = nn.functional.cross_entropy(scores, valid.classes)
        if stopper.is_over(float(loss)):
            break
    stopper.restore()
    network.eval()
    return network


# Greedy dynamic feature selection.


def closed(scores: Any, mask: Any) -> Any:
    """Return scores of features, those that were bought out of reach."""
    return scores - 1e6 * mask


@torch.no_grad()
def walk_gdfs(policy: Any, predictor: Any, rows: Rows, n_steps: int) -> list[Any]:
    """Return the scores of all rows after 1, 2, ... purchases."""
    every = torch.arange(len(rows))
    mask = torch.zeros_like(rows.values)
    found = []
    for _ in range(n_steps):
        choice = closed(policy(rows.show(every, mask)), mask).argmax(dim=1)
        mask = mask.scatter(1, choice[:, None], 1.0)
        found.append(predictor(rows.show(every, mask)))
    return found


def train_gdfs(train: Rows, valid: Rows, predictor: Any) -> tuple[Any, Any]:
    """Return the policy network and the predictor, trained together."""
    n_tests = train.values.shape[1]
    policy = make_network(3 * n_tests, n_tests)
    n_steps = min(max(COSTS), n_tests)
    stopper = Stopper([policy, predictor], 4)
    for temperature in TEMPERATURES:
        weights = [*policy.parameters(), *predictor.parameters()]
        optimiser = torch.optim.Adam(weights, lr=1e-3)
        stopper.left = stopper.patience
        for _ in range(25):
            policy.train()
            predictor.train()
            for rows in batches(len(train)):
                mask = torch.zeros(len(rows), n_tests)
                for _ in range(n_steps):
                    scores = closed(policy(train.show(rows, mask)), mask)
                    soft = nn.functional.gumbel_softmax(scores, tau=temperature)
                    # The loss sees the relaxed choice, the next step the hard one.
                    relaxed = torch.maximum(mask, soft)
                    answer = predictor(train.show(rows, relaxed))
                    loss = nn.functional.cross_entropy(answer, train.classes[rows])
                    (loss / n_steps).backward()
                    choice = soft.detach().argmax(dim=1)
                    mask = mask.scatter(1, choice[:, None], 1.0)
                optimiser.step()
                optimiser.zero_grad()
            policy.eval()
            predictor.eval()
            steps = walk_gdfs(policy, predictor, valid, n_steps)
            losses = [nn.functional.cross_entropy(s, valid.classes) for s in steps]
            if stopper.is_over(float(sum(losses)) / n_steps):
                break
        stopper.restore()
    policy.eval()
    predictor.eval()
    return policy, predictor


def run_gdfs(train: Rows, valid: Rows, test: Rows, predictor: Any) -> list[Any]:
    """Return what gdfs gives with each number of purchases."""
    policy, predictor = train_gdfs(train, valid, predictor)
    steps = walk_gdfs(policy, predictor, test, min(max(COSTS), test.values.shape[1]))
    return [
        point(test, steps[n - 1], torch.full((len(test),), float(n)), n)
        for n in COSTS
        if n <= len(steps)
    ]


# Conditional mutual information.


def worth(value: Any, predictor: Any, shown: Any, mask: Any) -> tuple[Any, Any]:
    """Return how much each feature would tell, and the scores of the classes."""
    scores = predictor(shown)
    shares = scores.softmax(dim=1)
    entropy = -(shares * shares.clamp_min(1e-9).log()).sum(dim=1, keepdim=True)
    return value(shown).sigmoid() * entropy.detach() * (1 - mask), scores


@torch.no_grad()
def walk_dime(value: Any, predictor: Any, rows: Rows) -> tuple[Any, Any]:
    """Return, for each step, the scores of the classes and the worth of the best."""
    every = torch.arange(len(rows))
    mask = torch.zeros_like(rows.values)
    scores, bests = [], []
    for _ in range(min(MOST_BOUGHT, mask.shape[1]) + 1):
        told, answer = worth(value, predictor, rows.show(every, mask), mask)
        best, choice = told.max(dim=1)
        scores.append(answer)
        bests.append(best)
        mask = mask.scatter(1, choice[:, None], 1.0)
    return torch.stack(scores, 1), torch.stack(bests, 1)


def train_dime(train: Rows, valid: Rows, predictor: Any) -> tuple[Any, Any]:
    """Return the value network and the predictor, trained together."""
    n_tests = train.values.shape[1]
    value = make_network(3 * n_tests, n_tests)
    stopper = Stopper([value, predictor], 5)
    for explore in EXPLORE:
        weights = [*value.parameters(), *predictor.parameters()]
        optimiser = torch.optim.Adam(weights, lr=1e-3)
        stopper.left = stopper.patience
        for _ in range(30):
            value.train()
            predictor.train()
            for rows in batches(len(train)):
                step_dime(value, predictor, train, rows, explore)
                optimiser.step()
                optimiser.zero_grad()
            value.eval()
            predictor.eval()
            scores, _ = walk_dime(value, predictor, valid)
            losses = nn.functional.cross_entropy(
                scores.flatten(0, 1),
                valid.classes.repeat_interleave(scores.shape[1]),
            )
            if stopper.is_over(float(losses)):
                break
        stopper.restore()
    value.eval()
    predictor.eval()
    return value, predictor


def step_dime(
    value: Any, predictor: Any, train: Rows, rows: Any, explore: float
) -> None:
    """Add the gradients of one batch: what was bought told so much."""
    n_tests = train.values.shape[1]
    n_steps = min(max(COSTS), n_tests)
    classes = train.classes[rows]
    mask = torch.zeros(len(rows), n_tests)
    for _ in range(n_steps):
        told, before = worth(value, predictor, train.show(rows, mask), mask)
        best = closed(told.detach(), mask).argmax(dim=1)
        other = closed(torch.rand(len(rows), n_tests), mask).argmax(dim=1)
        choice = torch.where(torch.rand(len(rows)) < explore, other, best)
        mask = mask.scatter(1, choice[:, None], 1.0)
        after = predictor(train.show(rows, mask))
        loss_after = nn.functional.cross_entropy(after, classes, reduction="none")
        loss_before = nn.functional.cross_entropy(before, classes, reduction="none")
        fell = (loss_before - loss_after).detach()
        found = told.gather(1, choice[:, None])[:, 0]
        loss = ((found - fell) ** 2).mean() + loss_after.mean()
        (loss / n_steps).backward()


def run_dime(train: Rows, valid: Rows, test: Rows, predictor: Any) -> list[Any]:
    """Return what dime gives with thresholds that cost so much on validation rows."""
    value, predictor = train_dime(train, valid, predictor)
    _, valid_bests = walk_dime(value, predictor, valid)
    scores, bests = walk_dime(value, predictor, test)
    found = []
    for wanted in COSTS:
        thresholds = torch.unique(valid_bests)
        low, high = 0, len(thresholds) - 1
        while low < high:  # the least threshold within the cost
            middle = (low + high) // 2
            if float(stop_at(valid_bests, thresholds[middle]).mean()) <= wanted:
                high = middle
            else:
                low = middle + 1
        stops = stop_at(bests, thresholds[low]).long()
        answer = scores[torch.arange(len(test)), stops]
        found.append(point(test, answer, stops.float(), wanted))
    return found


def stop_at(bests: Any, threshold: Any) -> Any:
    """Return the step at which each row stops: the first that is worth too little."""
    is_low = bests < threshold
    is_low[:, -1] = True
    return is_low.float().argmax(dim=1).float()


# The oracle of nearest rows.


@torch.no_grad()
def run_aaco(train: Rows, _: Rows, test: Rows, predictor: Any) -> list[Any]:
    """Return what the oracle gives with several prices of a feature."""
    some = torch.arange(min(MOST_ROWS, len(test)))
    found = []
    for penalty in PENALTIES:
        masks = torch.zeros(len(some), test.values.shape[1])
        for row in some.tolist():
            buy_aaco(train, test, predictor, masks[row], row, penalty)
        answer = predictor(test.show(some, masks))
        found.append(point(test, answer, masks.sum(dim=1), penalty))
    return found


def buy_aaco(
    train: Rows, test: Rows, predictor: Any, mask: Any, row: int, penalty: float
) -> None:
    """Buy for one row, in place, until the best set of more features is empty."""
    n_tests = len(mask)
    for _ in range(min(MOST_BOUGHT, n_tests)):
        gaps = ((train.values - test.values[row]) ** 2 * mask).sum(dim=1)
        if mask.any():
            near = gaps.topk(N_NEIGHBOURS, largest=False).indices
        else:
            near = torch.randint(0, len(train), (50,))
        subsets = draw_subsets(mask)
        known = torch.maximum(subsets, mask)[:, None, :].expand(-1, len(near), -1)
        shown = train.show(near, known)
        scores = predictor(shown.flatten(0, 1))
        classes = train.classes[near].repeat(len(subsets))
        losses = nn.functional.cross_entropy(scores, classes, reduction="none")
        totals = losses.view(len(subsets), -1).mean(dim=1)
        totals += penalty * subsets.sum(dim=1)
        best = subsets[totals.argmin()]
        if not best.any():
            return
        wanted = best.nonzero()[:, 0]
        alone = torch.maximum(torch.eye(n_tests)[wanted], mask)
        shown = train.show(near, alone[:, None, :].expand(-1, len(near), -1))
        scores = predictor(shown.flatten(0, 1))
        losses = nn.functional.cross_entropy(
            scores, train.classes[near].repeat(len(wanted)), reduction="none"
        )
        mask[wanted[losses.view(len(wanted), -1).mean(dim=1).argmin()]] = 1.0


def draw_subsets(mask: Any) -> Any:
    """Return sets of features that were not bought: none, each alone, and others."""
    left = (mask == 0).nonzero()[:, 0]
    others = torch.zeros(N_SUBSETS, len(mask))
    sizes = torch.randint(2, max(3, min(8, len(left)) + 1), (N_SUBSETS, 1))
    drawn = torch.rand(N_SUBSETS, len(left)).argsort(dim=1).argsort(dim=1) < sizes
    others[:, left] = drawn.float()
    return torch.cat([torch.zeros(1, len(mask)), torch.eye(len(mask))[left], others])


def point(rows: Rows, scores: Any, cost: Any, setting: float) -> dict[str, Any]:
    """Return a point: what the rows paid, and the shares of their classes."""
    return {
        "setting": setting, "cost": float(cost.mean()),
        "shares": np.round(scores.softmax(dim=1).numpy().astype(float), 6).tolist(),
    }  # fmt: skip


def main() -> None:
    """Train what was asked for, and print its points."""
    path, method, seed = sys.argv[1:4]
    torch.set_num_threads(1)
    torch.manual_seed(int(seed))
    with np.load(path) as file:
        edges = find_edges(file["X_train"])
        parts = [Rows(file, part, edges) for part in ("train", "valid", "test")]
    n_classes = int(max(int(part.classes.max()) for part in parts)) + 1
    start = time.process_time()
    predictor = train_predictor(parts[0], parts[1], n_classes)
    run = {"gdfs": run_gdfs, "dime": run_dime, "aaco": run_aaco}[method]
    points = run(*parts, predictor)
    for found in points:
        found["seconds"] = time.process_time() - start
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
