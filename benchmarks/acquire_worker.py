"""Three learners of the literature on buying features, in an environment of its own.

Written anew after their public code, with the settings of its experiments with tables;
what differs is said where it does, and in ``bench_acquire.py``.

gdfs   Greedy dynamic feature selection (Covert and others, 2023): a policy network is
       trained through relaxed choices, at falling temperatures, to choose the feature
       after which a predictor errs least; it buys the same number for every row.
dime   Estimating conditional mutual information (Gadgil and others, 2024): a value
       network learns how much each feature lowers the predictor's loss, as a share of
       the entropy of what it predicts; it buys the best until that is below a
       threshold.
aaco   The acquisition conditioned oracle (Valancius and others, 2024): of many sets of
       features, the one whose loss and price together are least on the training rows
       nearest by what is known; it stops if that set adds nothing.

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

# Of 256 values of a hidden layer, so many are dropped while learning: 30 %.
N_HIDDEN, DROPPED = 128, 77
BATCH, RATE = 128, 1e-3
# Mean costs that rivals are asked for; gdfs buys exactly so many.
COSTS = (3, 5, 8)
# Of gdfs: purchases in training, temperatures, and what scores are divided by.
GDFS_STEPS, TEMPERATURES, SHARPNESS = 35, np.geomspace(1.0, 0.1, 5), 0.2
GDFS_EPOCHS, GDFS_PATIENCE = 250, 2
# Of dime: purchases in training, and how often at random, which falls so many times.
DIME_STEPS, EXPLORE, EXPLORE_FALLS, N_FALLS = 15, 0.05, 0.2, 10
DIME_EPOCHS, DIME_PATIENCE = 250, 5
# Of aaco: prices of a feature, sets that are drawn for each purchase, and neighbours.
PENALTIES = (0.05, 0.02, 0.01)
N_SUBSETS, N_NEIGHBOURS = 1000, 20


class Rows:
    """Rows as tensors: values by normal ranks, 0 where missing, and which are."""

    def __init__(self, file: Any, part: str) -> None:
        values = file[f"X_{part}"]
        known = np.isfinite(values)
        ranks = np.zeros_like(values)
        for i, column in enumerate(file["X_train"].T):
            shares = find_shares(values[:, i], column[np.isfinite(column)])
            normal = torch.special.ndtri(torch.tensor(shares)).numpy()
            ranks[:, i] = np.where(known[:, i], normal, 0.0)
        self.values = torch.tensor(ranks, dtype=torch.float32)
        self.classes = torch.tensor(file[f"y_{part}"], dtype=torch.long)
        self.missing = None
        if not np.isfinite(file["X_train"]).all():
            self.missing = torch.tensor(~known, dtype=torch.float32)

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def n_tests(self) -> int:
        """The number of features that can be bought."""
        return int(self.values.shape[1])

    @property
    def n_shown(self) -> int:
        """The number of inputs of a network."""
        return self.n_tests * (2 if self.missing is None else 3)

    def show(self, rows: Any, mask: Any) -> Any:
        """Return what a network sees of rows: values, what was bought, what lacks."""
        seen = [self.values[rows] * mask, mask]
        if self.missing is not None:
            seen.append(self.missing[rows] * mask)
        return torch.cat(seen, dim=-1)


def find_shares(values: Any, known: Any) -> Any:
    """Return the share of known values below each value, from 0.01 to 0.99."""
    if not len(known):
        return np.full(len(values), 0.5)
    cuts = np.quantile(known, np.linspace(0, 1, 101))
    return np.interp(values, cuts, np.linspace(0.01, 0.99, len(cuts)))


class Dropout(nn.Module):
    """Sets values to 0 while learning, by random bytes: faster than torch's own."""

    def forward(self, values: Any) -> Any:
        """Return the values, some of them 0 and the others larger."""
        if not self.training:
            return values
        words = torch.empty(values.numel() // 8, dtype=torch.int64)
        noise = words.random_(-(2**63), None).view(torch.uint8).view(values.shape)
        return values * ((noise >= DROPPED) * (256 / (256 - DROPPED)))


def make_network(n_in: int, n_out: int) -> nn.Module:
    """Return a network of two hidden layers."""
    return nn.Sequential(
        nn.Linear(n_in, N_HIDDEN), nn.ReLU(), Dropout(),
        nn.Linear(N_HIDDEN, N_HIDDEN), nn.ReLU(), Dropout(),
        nn.Linear(N_HIDDEN, n_out),
    )  # fmt: skip


def batches(n_rows: int) -> list[Any]:
    """Return the rows in random order, in batches; the rest of them is left out."""
    return list(torch.randperm(n_rows)[: n_rows // BATCH * BATCH].split(BATCH))


def draw_masks(n_rows: int, n_tests: int) -> Any:
    """Return random sets of features, of every size alike often."""
    return (torch.rand(n_rows, n_tests) > torch.rand(n_rows, 1)).float()


def mark(choice: Any, n_tests: int) -> Any:
    """Return masks of one feature each."""
    return nn.functional.one_hot(choice, n_tests).float()


def closed(scores: Any, mask: Any) -> Any:
    """Return scores of features, those that were bought out of reach."""
    return scores - 1e6 * mask


def mean_loss(steps: list[Any], classes: Any) -> Any:
    """Return the cross entropy of scores, over rows and steps."""
    losses = [nn.functional.cross_entropy(scores, classes) for scores in steps]
    return torch.stack(losses).mean()


class Training:
    """Optimises networks in smaller steps when their loss stays; keeps the best."""

    def __init__(self, networks: list[nn.Module], patience: int, least: float) -> None:
        self.networks, self.patience = networks, patience
        weights = [weight for network in networks for weight in network.parameters()]
        self.optimiser = torch.optim.Adam(weights, lr=RATE)
        self.rate = torch.optim.lr_scheduler.ReduceLROnPlateau(
            self.optimiser, factor=0.2, patience=patience, min_lr=least
        )
        self.n_bad, self.kept = 0, keep(networks)

    def start_epoch(self) -> None:
        """Switch the networks to learning."""
        for network in self.networks:
            network.train()

    def end_batch(self) -> None:
        """Move by the gradients of a batch."""
        self.optimiser.step()
        self.optimiser.zero_grad()

    def end_epoch(self) -> None:
        """Switch the networks to answering."""
        for network in self.networks:
            network.eval()

    def is_stuck(self, loss: float) -> bool:
        """Note a validation loss; return whether it has not fallen for long."""
        self.rate.step(loss)
        if loss == self.rate.best:
            self.n_bad, self.kept = 0, keep(self.networks)
        else:
            self.n_bad += 1
        return self.n_bad > self.patience + 1

    def go_on(self) -> None:
        """Take large steps again."""
        self.n_bad = 0
        for group in self.optimiser.param_groups:
            group["lr"] = RATE


def keep(networks: list[nn.Module]) -> list[Any]:
    """Return copies of weights."""
    return [copy.deepcopy(network.state_dict()) for network in networks]


def restore(networks: list[nn.Module], kept: list[Any]) -> None:
    """Go back to weights that were kept."""
    for network, state in zip(networks, kept, strict=True):
        network.load_state_dict(state)


def train_predictor(
    train: Rows, valid: Rows, n_classes: int, patience: int, n_epochs: int
) -> tuple[nn.Module, list[Any]]:
    """Return a predictor for any set of features, and its best weights."""
    network = make_network(train.n_shown, n_classes)
    training = Training([network], patience, 1e-6)
    every = torch.arange(len(valid))
    for _ in range(n_epochs):
        training.start_epoch()
        for rows in batches(len(train)):
            shown = train.show(rows, draw_masks(len(rows), train.n_tests))
            nn.functional.cross_entropy(network(shown), train.classes[rows]).backward()
            training.end_batch()
        training.end_epoch()
        with torch.no_grad():
            scores = network(valid.show(every, draw_masks(len(valid), valid.n_tests)))
            loss = nn.functional.cross_entropy(scores, valid.classes)
        if training.is_stuck(float(loss)):
            break
    return network, training.kept


# Greedy dynamic feature selection.


def relax(scores: Any, temperature: float) -> Any:
    """Return choices by scores and chance that gradients pass through."""
    return nn.functional.gumbel_softmax(scores / SHARPNESS, tau=temperature)


def step_gdfs(
    policy: Any, predictor: Any, train: Rows, rows: Any, temperature: float
) -> None:
    """Add the gradients of one batch: the loss sees the relaxed choice of each step."""
    n_steps = min(GDFS_STEPS, train.n_tests)
    mask = torch.zeros(len(rows), train.n_tests)
    for _ in range(n_steps):
        scores = policy(train.show(rows, mask))
        relaxed = torch.maximum(mask, relax(scores, temperature))
        answer = predictor(train.show(rows, relaxed))
        loss = nn.functional.cross_entropy(answer, train.classes[rows])
        (loss / n_steps).backward()
        # What the next step knows is drawn again, among what was not bought.
        drawn = relax(closed(scores.detach(), mask), 1.0)
        mask = torch.maximum(mask, mark(drawn.argmax(dim=1), train.n_tests))


@torch.no_grad()
def check_gdfs(policy: Any, predictor: Any, rows: Rows, temperature: float) -> Any:
    """Return the losses with relaxed choices and with hard ones, over all steps."""
    every = torch.arange(len(rows))
    mask = torch.zeros_like(rows.values)
    soft, hard = [], []
    for _ in range(min(GDFS_STEPS, rows.n_tests)):
        drawn = relax(closed(policy(rows.show(every, mask)), mask), temperature)
        soft.append(predictor(rows.show(every, torch.maximum(mask, drawn))))
        mask = torch.maximum(mask, mark(drawn.argmax(dim=1), rows.n_tests))
        hard.append(predictor(rows.show(every, mask)))
    return mean_loss(soft, rows.classes), mean_loss(hard, rows.classes)


@torch.no_grad()
def walk_gdfs(policy: Any, predictor: Any, rows: Rows, n_steps: int) -> list[Any]:
    """Return the scores of all rows after 1, 2, ... purchases."""
    every = torch.arange(len(rows))
    mask = torch.zeros_like(rows.values)
    found = []
    for _ in range(n_steps):
        choice = closed(policy(rows.show(every, mask)), mask).argmax(dim=1)
        mask = torch.maximum(mask, mark(choice, rows.n_tests))
        found.append(predictor(rows.show(every, mask)))
    return found


def train_gdfs(train: Rows, valid: Rows, predictor: Any) -> Any:
    """Return the policy network, trained together with the predictor."""
    policy = make_network(train.n_shown, train.n_tests)
    networks = [policy, predictor]
    least, best = float("inf"), keep(networks)
    for temperature in TEMPERATURES:
        training = Training(networks, GDFS_PATIENCE, 1e-5)
        for _ in range(GDFS_EPOCHS):
            training.start_epoch()
            for rows in batches(len(train)):
                step_gdfs(policy, predictor, train, rows, temperature)
                training.end_batch()
            training.end_epoch()
            soft, hard = check_gdfs(policy, predictor, valid, temperature)
            if float(hard) < least:
                least, best = float(hard), keep(networks)
            if training.is_stuck(float(soft)):
                break
        restore(networks, training.kept)
    restore(networks, best)
    return policy


def run_gdfs(train: Rows, valid: Rows, test: Rows, n_classes: int) -> list[Any]:
    """Return what gdfs gives with each number of purchases."""
    predictor, kept = train_predictor(train, valid, n_classes, 5, 100)
    restore([predictor], kept)
    policy = train_gdfs(train, valid, predictor)
    steps = walk_gdfs(policy, predictor, test, min(max(COSTS), test.n_tests))
    return [
        point(steps[n - 1], torch.full((len(test),), float(n)), n)
        for n in COSTS
        if n <= len(steps)
    ]


# Conditional mutual information.


def find_worth(value: Any, shown: Any, scores: Any) -> Any:
    """Return how much each feature would tell: a share of what is not known."""
    logs = scores.log_softmax(dim=1)
    entropy = -(logs.exp() * logs).sum(dim=1, keepdim=True)
    return value(shown).sigmoid() * entropy


@torch.no_grad()
def walk_dime(value: Any, predictor: Any, rows: Rows, n_steps: int) -> Any:
    """Return, for each step, the scores of the classes and the worth of the best."""
    every = torch.arange(len(rows))
    mask = torch.zeros_like(rows.values)
    scores, bests = [], []
    for _ in range(n_steps + 1):
        shown = rows.show(every, mask)
        scores.append(predictor(shown))
        told = closed(find_worth(value, shown, scores[-1]), mask)
        best, choice = told.max(dim=1)
        bests.append(best)
        mask = torch.maximum(mask, mark(choice, rows.n_tests))
    return scores, torch.stack(bests, 1)


def step_dime(
    value: Any, predictor: Any, train: Rows, rows: Any, explore: float
) -> None:
    """Add the gradients of one batch: what was bought told so much."""
    n_steps = min(DIME_STEPS, train.n_tests)
    classes = train.classes[rows]
    mask = torch.zeros(len(rows), train.n_tests)
    shown = train.show(rows, mask)
    scores = predictor(shown)
    before = nn.functional.cross_entropy(scores, classes, reduction="none")
    (before.mean() / (n_steps + 1)).backward()
    for _ in range(n_steps):
        told = find_worth(value, shown, scores.detach())
        # The public code may buy a feature again here, and then errs far more.
        is_free = torch.rand(len(rows), 1) <= explore
        wish = torch.where(is_free, torch.rand_like(told), told.detach())
        choice = closed(wish, mask).argmax(dim=1)
        mask = torch.maximum(mask, mark(choice, train.n_tests))
        shown = train.show(rows, mask)
        scores = predictor(shown)
        after = nn.functional.cross_entropy(scores, classes, reduction="none")
        found = told.gather(1, choice[:, None])[:, 0]
        fell = before.detach() - after.detach()
        loss = nn.functional.mse_loss(found, fell) + after.mean()
        (loss / (n_steps + 1)).backward()
        before = after


def train_dime(train: Rows, valid: Rows, predictor: Any) -> Any:
    """Return the value network, trained together with the predictor."""
    value = make_network(train.n_shown, train.n_tests)
    networks = [value, predictor]
    training = Training(networks, DIME_PATIENCE, 1e-6)
    n_steps = min(DIME_STEPS, train.n_tests)
    explore, n_falls = EXPLORE, 0
    for _ in range(DIME_EPOCHS):
        training.start_epoch()
        for rows in batches(len(train)):
            step_dime(value, predictor, train, rows, explore)
            training.end_batch()
        training.end_epoch()
        scores, _ = walk_dime(value, predictor, valid, n_steps)
        if training.is_stuck(float(mean_loss(scores, valid.classes))):
            explore *= EXPLORE_FALLS
            n_falls += 1
            if n_falls == N_FALLS:
                break
            training.go_on()
    restore(networks, training.kept)
    return value


def run_dime(train: Rows, valid: Rows, test: Rows, n_classes: int) -> list[Any]:
    """Return what dime gives with thresholds that cost so much on validation rows."""
    predictor, _ = train_predictor(train, valid, n_classes, 2, 200)
    value = train_dime(train, valid, predictor)
    _, valid_bests = walk_dime(value, predictor, valid, valid.n_tests)
    steps, bests = walk_dime(value, predictor, test, test.n_tests)
    scores = torch.stack(steps, 1)
    found = []
    for wanted in COSTS:
        stops = stop_at(bests, find_threshold(valid_bests, wanted))
        answer = scores[torch.arange(len(test)), stops]
        found.append(point(answer, stops.float(), wanted))
    return found


def find_threshold(bests: Any, wanted: float) -> Any:
    """Return the least threshold with which rows buy no more on average."""
    thresholds = torch.unique(bests)
    low, high = 0, len(thresholds) - 1
    while low < high:
        middle = (low + high) // 2
        if float(stop_at(bests, thresholds[middle]).float().mean()) <= wanted:
            high = middle
        else:
            low = middle + 1
    return thresholds[low]


def stop_at(bests: Any, threshold: Any) -> Any:
    """Return the step at which each row stops: the first that is worth too little."""
    is_low = bests <= threshold
    is_low[:, -1] = True
    return is_low.float().argmax(dim=1)


# The oracle of nearest rows.


def run_aaco(train: Rows, valid: Rows, test: Rows, n_classes: int) -> list[Any]:
    """Return what the oracle gives with several prices of a feature."""
    predictor, kept = train_predictor(train, valid, n_classes, 20, 300)
    restore([predictor], kept)
    with torch.no_grad():
        first = find_first(train, predictor)
        return [
            answer_aaco(train, test, predictor, first, penalty) for penalty in PENALTIES
        ]


def answer_aaco(
    train: Rows, test: Rows, predictor: Any, first: int, penalty: float
) -> dict[str, Any]:
    """Return what the oracle gives with one price of a feature."""
    masks = torch.zeros(len(test), test.n_tests)
    masks[:, first] = 1.0
    for row in range(len(test)):
        buy_aaco(train, test, predictor, masks[row], row, penalty)
    answer = predictor(test.show(torch.arange(len(test)), masks))
    return point(answer, masks.sum(dim=1), penalty)


def find_losses(train: Rows, predictor: Any, near: Any, masks: Any) -> Any:
    """Return the mean loss of some training rows with each mask, at least 0.

    As in the public code, the shares of classes are taken for scores, so that a wrong
    answer that is sure costs no more than 1.
    """
    shown = train.show(near, masks[:, None, :].expand(-1, len(near), -1))
    shares = predictor(shown.flatten(0, 1)).softmax(dim=1)
    classes = train.classes[near].repeat(len(masks))
    losses = nn.functional.cross_entropy(shares, classes, reduction="none")
    least = np.log1p((shares.shape[1] - 1) / np.e)
    return losses.view(len(masks), -1).mean(dim=1) - least


def find_first(train: Rows, predictor: Any) -> int:
    """Return the feature that all rows buy first: the best alone."""
    every = torch.arange(len(train))
    losses = [
        float(find_losses(train, predictor, every, alone[None])[0])
        for alone in torch.eye(train.n_tests)
    ]
    return int(np.argmin(losses))


def buy_aaco(
    train: Rows, test: Rows, predictor: Any, mask: Any, row: int, penalty: float
) -> None:
    """Buy for one row, in place, until the best set of features adds nothing."""
    n_tests = len(mask)
    while True:
        gaps = ((train.values - test.values[row]) ** 2) @ mask
        near = gaps.topk(N_NEIGHBOURS, largest=False).indices
        wanted = find_best_set(train, predictor, near, mask, penalty) - mask
        if not wanted.any():
            return
        left = wanted.nonzero()[:, 0]
        alone = torch.maximum(torch.eye(n_tests)[left], mask)
        mask[left[find_losses(train, predictor, near, alone).argmin()]] = 1.0


def find_best_set(
    train: Rows, predictor: Any, near: Any, mask: Any, penalty: float
) -> Any:
    """Return, of random sets with what was bought, that of least loss and price."""
    n_tests = len(mask)
    sizes = torch.randint(n_tests, (N_SUBSETS, 1))
    drawn = torch.rand(N_SUBSETS, n_tests).argsort(dim=1).argsort(dim=1) < sizes
    masks = torch.maximum(drawn.float(), mask)
    prices = penalty * (masks.sum(dim=1) - mask.sum())
    best, least = mask, float(find_losses(train, predictor, near, mask[None])[0])
    # Small sets first: a set whose price alone is more than the least is not asked.
    for some in prices.argsort().split(50):
        some = some[prices[some] < least]
        if not len(some):
            break
        totals = find_losses(train, predictor, near, masks[some]) + prices[some]
        if float(totals.min()) < least:
            best, least = masks[some[totals.argmin()]], float(totals.min())
    return best


def point(scores: Any, cost: Any, setting: float) -> dict[str, Any]:
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
        parts = [Rows(file, part) for part in ("train", "valid", "test")]
    n_classes = int(max(int(part.classes.max()) for part in parts)) + 1
    start = time.process_time()
    run = {"gdfs": run_gdfs, "dime": run_dime, "aaco": run_aaco}[method]
    points = run(parts[0], parts[1], parts[2], n_classes)
    for found in points:
        found["seconds"] = time.process_time() - start
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
