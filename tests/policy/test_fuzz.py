"""Damaged files, by the thousand: refused in words, or loaded and sound."""

import json
import os

import msgspec
import numpy as np
import pytest

import askless
from askless.exceptions import AsklessError, PolicyFileError
from askless.policy import Tree
from askless.policy._check import check_nodes
from askless.policy._file import _decode, dump, parse
from askless.policy.codec import summarise, to_policy
from campaign.damage import damage_bytes, damage_parts
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import random_rows

SEEDS = {name: dump(make_example(name)) for name in EXAMPLES}
# Each of this many batches damages this many files; fewer where sanitizers watch.
N_BATCHES = 12
N_FILES = 150 if "ASKLESS_SANITIZED" in os.environ else 1000


def mend_summary(content):
    try:
        policy = to_policy(_decode(json.dumps(content).encode()))
        content["summary"] = msgspec.to_builtins(summarise(policy))
    except (AsklessError, ValueError, TypeError):
        return


# What must hold of a damaged file.


def use(policy):
    """Do with a policy what anyone would."""
    rng = np.random.default_rng(0)
    if isinstance(policy, Tree):
        n_classes = 1 if policy.answers_number else len(policy.classes)
        check_nodes(policy.nodes, policy.tests, n_classes)
        assert np.isfinite(policy.expected_cost)
        assert np.isfinite(policy.spent).all()
    rows = random_rows(rng, policy.tests, 4) or {"none": [1] * 4}
    costs = policy.cost(rows)
    assert np.all((costs >= 0) & np.isfinite(costs))
    if policy.answers_number:
        assert np.isfinite(policy.predict(rows)).all()
    else:
        shares = policy.predict_proba(rows)
        assert np.all(shares >= 0)
        assert np.allclose(shares.sum(axis=1), 1.0)
        assert set(policy.predict(rows).tolist()) <= set(policy.classes)
    session = policy.start()
    while session.test is not None:
        session.why()
        session.answer(rows[session.test][0], allow_unseen=True)
    assert session.spent == costs[0]
    assert askless.show(policy)
    assert dump(parse(dump(policy))) == dump(policy)


def examine(damaged):
    """Return how a damaged file was received: "refused", "edited" or "same"."""
    result = "refused"
    try:
        policy = parse(damaged)
    except PolicyFileError:
        pass
    else:
        # Two files of nearly the same may be spliced into the other one.
        is_known = dump(policy) in SEEDS.values()
        assert is_known, "another policy was loaded as if it were whole"
        result = "same"
    try:
        policy = parse(damaged, edited=True)
    except PolicyFileError:
        assert result == "refused", "a whole file was refused as an edited one"
        return result
    use(policy)
    return "edited" if result == "refused" else result


def damaged_files(rng, batch, n_files):
    """Yield damaged files of a batch, each with the name of what it was made from."""
    # In CI every test starts from one seed: each batch must make files of its own.
    rng = rng.spawn(N_BATCHES)[batch]
    for _ in range(n_files):
        name = str(rng.choice(list(SEEDS)))
        raw = SEEDS[name]
        if batch % 2:
            yield name, damage_parts(rng, raw, mend_summary)
        else:
            yield name, damage_bytes(rng, raw, list(SEEDS.values()))


@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_no_damage_gets_past_the_loader(rng, batch):
    received = {"refused": 0, "edited": 0, "same": 0}
    for number, (name, damaged) in enumerate(damaged_files(rng, batch, N_FILES)):
        try:
            received[examine(damaged)] += 1
        except Exception as error:
            error.add_note(
                f"file {number} of batch {batch}, made from {name!r}:\n{damaged!r}"
            )
            raise
    assert sum(received.values()) == N_FILES
    # Some damage must get through, or nothing beyond the first check was tried.
    assert received["refused"] > N_FILES // 10
    assert received["edited"] > N_FILES // 100


def test_every_batch_damages_files_of_its_own(rng):
    n_files = 40
    # The same seed for every batch, as in CI.
    seed = int(rng.integers(2**32))
    batches = [
        {
            damaged
            for _, damaged in damaged_files(np.random.default_rng(seed), batch, n_files)
        }
        for batch in range(N_BATCHES)
    ]
    # A damage may come to nothing, or to the same as another; few do.
    assert all(len(batch) > 0.8 * n_files for batch in batches)
    distinct = set().union(*batches) - set(SEEDS.values())
    assert len(distinct) > 0.8 * n_files * N_BATCHES
