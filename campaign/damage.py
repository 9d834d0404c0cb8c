"""Damage files: bytes, numbers, lines and parts, at random and repeatably.

It knows bytes and JSON. It must not know what a file is for, nor what must hold of one.
"""

import copy
import json
import re

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
    if not numbers:
        return flip_bit(rng, raw)
    found = numbers[rng.integers(len(numbers))]
    other = str(rng.choice(ODD_NUMBERS)).encode()
    return raw[: found.start()] + other + raw[found.end() :]


def cross(rng, raw, other):
    """Return the beginning of one file and the end of another."""
    return raw[: rng.integers(len(raw) + 1)] + other[rng.integers(len(other) + 1) :]


BYTE_DAMAGE = [
    flip_bit, flip_bits, insert_bytes, insert_syntax, delete_bytes, duplicate_bytes,
    swap_slices, truncate, swap_lines, drop_line, tweak_number, tweak_number,
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


def damage_bytes(rng, raw, others=()):
    """Return a file with a few bytes, numbers or lines changed.

    Parameters
    ----------
    rng : numpy Generator
    raw : bytes
        A file; not empty.
    others : sequence of bytes
        Files whose ends may take the place of the end of this one.
    """
    if others and rng.random() < 1 / (1 + len(BYTE_DAMAGE)):
        return cross(rng, raw, others[rng.integers(len(others))])
    return BYTE_DAMAGE[rng.integers(len(BYTE_DAMAGE))](rng, raw)


def damage_parts(rng, raw, mend=None):
    """Return a JSON file with one to three of its parts changed.

    ``mend`` is called with the changed content, mostly: it may make a checksum or a
    summary true again, so that what lies behind them is tried too.
    """
    content = json.loads(raw)
    for _ in range(int(rng.integers(1, 4))):
        act = PART_DAMAGE[rng.integers(len(PART_DAMAGE))]
        try:
            act(rng, content)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            # What the damage needs is already damaged.
            continue
    if mend is not None and rng.random() < 0.8:
        mend(content)
    return json.dumps(content).encode()
