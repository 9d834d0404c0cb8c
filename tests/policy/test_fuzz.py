"""Damaged files, by the thousand: refused in words, or loaded and sound."""

import copy
import json
import re

import msgspec
import numpy as np
import pytest

import askless
from askless.exceptions import AsklessError, PolicyFileError
from askless.policy import Tree
from askless.policy._check import check_nodes
from askless.policy._file import _decode, dump, parse
from askless.policy.codec import summarise, to_policy
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import random_rows

SEEDS = {name: dump(make_example(name)) for name in EXAMPLES}
# Each of this many batches damages this many files.
N_BATCHES = 12
N_FILES = 1000

ODD_NUMBERS = (
    "0", "-0.0", "-1", "1", "2", "3", "7", "255", "256", "65536", "2147483648",
    "1099511627776", "18446744073709551616", "1" + "0" * 40, "0.1", "1e-320", "1e100",
    "1e299", "1.7976931348623157e308", "1e309", "NaN", "null", "true", '""', "[]",
)  # fmt: skip
ODD_VALUES = (
    None, True, False, 0, 1, -1, 2, 2**31, 2**40, 2**70, 0.5, -0.5, 1e-300, 1e290,
    1e308, "", "a", "smear", "\0", [], {}, [[]], [0], [[0, 1]], {"a": 1},
)  # fmt: skip


# Damage to the bytes of a file. Each takes and returns bytes.


def flip_bit(rng, raw):
    damaged = bytearray(raw)
    damaged[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def flip_bits(rng, raw):
    for _ in range(int(rng.integers(2, 20))):
        raw = flip_bit(rng, raw)
    return raw


def insert_bytes(rng, raw):
    at = int(rng.integers(len(raw) + 1))
    return raw[:at] + rng.bytes(int(rng.integers(1, 5))) + raw[at:]


def insert_syntax(rng, raw):
    at = int(rng.integers(len(raw) + 1))
    return raw[:at] + bytes([rng.choice(list(b'{}[]",:0-eE.\\ntf '))]) + raw[at:]


def slice_of(rng, raw):
    start = int(rng.integers(len(raw)))
    return start, min(len(raw), start + int(rng.integers(1, 60)))


def delete_bytes(rng, raw):
    start, end = slice_of(rng, raw)
    return raw[:start] + raw[end:]


def duplicate_bytes(rng, raw):
    start, end = slice_of(rng, raw)
    return raw[:end] + raw[start:]


def swap_slices(rng, raw):
    bounds = sorted(int(rng.integers(len(raw))) for _ in range(4))
    a, b, c, d = bounds
    return raw[:a] + raw[c:d] + raw[b:c] + raw[a:b] + raw[d:]


def truncate(rng, raw):
    return raw[: rng.integers(len(raw))]


def swap_lines(rng, raw):
    lines = raw.split(b"\n")
    i, j = rng.integers(len(lines), size=2)
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def drop_line(rng, raw):
    lines = raw.split(b"\n")
    del lines[rng.integers(len(lines))]
    return b"\n".join(lines)


def tweak_number(rng, raw):
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", raw))
    found = numbers[rng.integers(len(numbers))]
    other = str(rng.choice(ODD_NUMBERS)).encode()
    return raw[: found.start()] + other + raw[found.end() :]


def splice(rng, raw):
    other = SEEDS[str(rng.choice(list(SEEDS)))]
    return raw[: rng.integers(len(raw))] + other[rng.integers(len(other)) :]


BYTE_DAMAGE = [
    flip_bit, flip_bits, insert_bytes, insert_syntax, delete_bytes, duplicate_bytes,
    swap_slices, truncate, swap_lines, drop_line, tweak_number, tweak_number, splice,
]  # fmt: skip


# Damage to the parts of a file. Each changes a decoded file in place.


def places(content, found=None):
    """Return every (container, key) of a decoded file."""
    found = [] if found is None else found
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(items):
        found.append((content, key))
        if isinstance(value, (dict, list)):
            places(value, found)
    return found


def a_place(rng, content):
    every = places(content)
    return every[rng.integers(len(every))]


def drop_part(rng, content):
    holder, key = a_place(rng, content)
    del holder[key]


def retype_part(rng, content):
    holder, key = a_place(rng, content)
    holder[key] = copy.deepcopy(ODD_VALUES[rng.integers(len(ODD_VALUES))])


def copy_part(rng, content):
    source, key = a_place(rng, content)
    holder, place = a_place(rng, content)
    holder[place] = copy.deepcopy(source[key])


def swap_parts(rng, content):
    holder, key = a_place(rng, content)
    other, place = a_place(rng, content)
    part = copy.deepcopy(holder[key])
    holder[key] = copy.deepcopy(other[place])
    # The second place may have been inside the first; then it is out of the file.
    other[place] = part


def duplicate_item(rng, content):
    lists = [h[k] for h, k in places(content) if isinstance(h[k], list) and h[k]]
    chosen = lists[rng.integers(len(lists))]
    chosen.insert(rng.integers(len(chosen) + 1), copy.deepcopy(rng.choice(len(chosen))))
    chosen[-1] = copy.deepcopy(chosen[0])


def add_field(rng, content):
    dicts = [content] + [h[k] for h, k in places(content) if isinstance(h[k], dict)]
    chosen = dicts[rng.integers(len(dicts))]
    names = ["test", "cut", "default", "group", "delayed", "mistakes", "order", "extra"]
    chosen[str(rng.choice(names))] = copy.deepcopy(
        ODD_VALUES[rng.integers(len(ODD_VALUES))]
    )


def nudge_number(rng, content):
    numbers = [
        (h, k)
        for h, k in places(content)
        if isinstance(h[k], (int, float)) and not isinstance(h[k], bool)
    ]
    holder, key = numbers[rng.integers(len(numbers))]
    value = holder[key]
    steps = [value + 1, value - 1, 2 * value, value / 2, 0, -value, value + 1e-12]
    holder[key] = steps[rng.integers(len(steps))]


def some_nodes(rng, content):
    """Return the nodes of a tree, or of one of the trees of a forest."""
    trees = content.get("trees") or [content.get("nodes", [])]
    return trees[rng.integers(len(trees))]


def move_node(rng, content):
    items = some_nodes(rng, content) or content["cases"]
    item = items.pop(rng.integers(len(items)))
    items.insert(rng.integers(len(items) + 1), item)


def change_cost(rng, content):
    test = content["tests"][rng.integers(len(content["tests"]))]
    test["cost"] = float(rng.choice([0.0, 0.5, 9.0, 1e12, 1e299, 1.7e308]))
    if "discounted_cost" in test and rng.random() < 0.5:
        test["discounted_cost"] = test["cost"] * float(rng.choice([0, 0.5, 1, 2]))


def change_flag(rng, content):
    test = content["tests"][rng.integers(len(content["tests"]))]
    test["delayed"] = not test.get("delayed", False)


def change_weights(rng, content):
    for node in some_nodes(rng, content):
        for entry in node["weights"]:
            entry[1] = float(rng.choice([0.0, 5e-324, 1.0, 1e200, 1e298]))
    for case in content.get("cases", []):
        case["weight"] = float(rng.choice([0.0, 5e-324, 1.0, 1e298]))


def change_leaf(rng, content):
    nodes = some_nodes(rng, content)
    node = nodes[rng.integers(len(nodes))]
    labels = sorted(rng.permutation(len(content["classes"]))[: rng.integers(1, 4)])
    node["weights"] = [[int(label), float(rng.integers(3))] for label in labels]
    node["decision"] = int(rng.integers(len(content["classes"])))


def change_codes(rng, content):
    for node in some_nodes(rng, content):
        for entry in node.get("branches", []):
            if rng.random() < 0.3:
                entry[0] = int(rng.integers(4))
    for case in content.get("cases", []):
        case["codes"] = [int(rng.integers(5)) for _ in case["codes"]]


def move_tree(rng, content):
    trees = content["trees"]
    act = rng.integers(4)
    if act == 0:
        trees.append([])
    elif act == 1:
        trees.insert(rng.integers(len(trees) + 1), copy.deepcopy(trees[0]))
    elif act == 2:
        trees[0].extend(trees.pop())
    else:
        content["rule"] = str(rng.choice(["votes", "counts", "votes "]))


PART_DAMAGE = [
    move_tree, move_tree,
    drop_part, retype_part, copy_part, swap_parts, duplicate_item, add_field,
    nudge_number, nudge_number, move_node, change_cost, change_flag, change_weights,
    change_leaf, change_codes,
]  # fmt: skip


def damage_parts(rng, raw):
    """Damage a decoded file; mostly, make its summary true again if that can be."""
    content = json.loads(raw)
    for _ in range(int(rng.integers(1, 4))):
        act = PART_DAMAGE[rng.integers(len(PART_DAMAGE))]
        try:
            act(rng, content)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            # What the damage needs is already damaged.
            continue
    if rng.random() < 0.8:
        mend_summary(content)
    return json.dumps(content).encode()


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
        check_nodes(policy.nodes, policy.tests, len(policy.classes))
        assert np.isfinite(policy.expected_cost)
        assert np.isfinite(policy.spent).all()
    rows = random_rows(rng, policy.tests, 4) or {"none": [1] * 4}
    costs = policy.cost(rows)
    assert np.all((costs >= 0) & np.isfinite(costs))
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


@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_no_damage_gets_past_the_loader(rng, batch):
    # In CI every test starts from one seed: each batch must make files of its own.
    rng = rng.spawn(N_BATCHES)[batch]
    received = {"refused": 0, "edited": 0, "same": 0}
    for number in range(N_FILES):
        name = str(rng.choice(list(SEEDS)))
        raw = SEEDS[name]
        if batch % 2:
            damaged, act = damage_parts(rng, raw), damage_parts
        else:
            act = BYTE_DAMAGE[rng.integers(len(BYTE_DAMAGE))]
            damaged = act(rng, raw)
        try:
            received[examine(damaged)] += 1
        except Exception as error:
            error.add_note(
                f"file {number} of batch {batch}, made from {name!r} by "
                f"{act.__name__}:\n{damaged!r}"
            )
            raise
    assert sum(received.values()) == N_FILES
    # Some damage must get through, or nothing beyond the first check was tried.
    assert received["refused"] > N_FILES // 10
    assert received["edited"] > N_FILES // 100


def test_there_are_enough_damaged_files():
    assert N_BATCHES * N_FILES >= 10_000
