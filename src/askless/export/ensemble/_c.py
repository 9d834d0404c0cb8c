"""Write an ensemble as C99 that needs nothing but the standard library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from askless.exceptions import InvalidOptionError
from askless.export._labels import not_held, summary_line
from askless.export.ensemble._c_text import (
    CASE,
    DEEP,
    DEEP_SCRATCH,
    HEAD,
    JOINT,
    LEAVES,
    LIVE,
    LIVE_SCRATCH,
    NAMES,
    NOT_JOINT,
    OUTCOME_SCRATCH,
    OUTCOMES,
    TYPES,
    WHOLE,
)
from askless.export.ensemble._parts import Leaf, Parts, Whole, to_parts
from askless.policy import Ensemble, Policy
from askless.policy.ensemble._parts import IS_SET, MISSING_LEFT
from askless.problem import Outcome

__all__ = ["to_c"]


INTEGER, REAL = "static const int32_t", "static const double"
TARGETS = {"two classes": "TWO_CLASSES", "classes": "SEVERAL", "number": "NUMBER"}


def to_c(policy: Policy) -> str:
    """Return C that runs an ensemble, test by test, or all of it at once.

    Parameters
    ----------
    policy : Policy
        What to write; an ensemble.

    Notes
    -----
    One file of C99 without dependencies, which allocates nothing; what can be called is
    said at its top. It buys the same tests in the same order as the policy.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import askless
    >>> X, y = [[0, 5], [1, 5], [2, 6], [3, 7]], ["a", "a", "b", "b"]
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> policy = askless.AdaptiveEnsemble(forest, costs=[1, 2]).fit().policy_
    >>> "int askless_next(const askless_case *c)" in to_c(policy)
    True
    """
    if not isinstance(policy, Ensemble):
        raise not_held(policy, "C must be made from an ensemble")
    parts = to_parts(policy)
    is_deep = parts.wholes is None
    by_outcome = parts.is_joint or parts.by_leaves
    scratch = LIVE_SCRATCH if is_deep or by_outcome else ""
    scratch += DEEP_SCRATCH if is_deep else ""
    scratch += OUTCOME_SCRATCH if by_outcome else ""
    pieces = [
        HEAD.format(summary=summary_line(policy).replace("*/", "* /")),
        NAMES,
        _constants(policy, parts),
        _test_tables(parts),
        _tree_tables(parts),
        TYPES.replace("    SCRATCH\n", f"    {scratch}\n" if scratch else ""),
        LIVE if is_deep or by_outcome else "",
        DEEP if is_deep else WHOLE,
        OUTCOMES if by_outcome else "",
        JOINT if parts.is_joint else LEAVES if parts.by_leaves else NOT_JOINT,
        CASE,
    ]
    return "".join(pieces)


def _constants(policy: Ensemble, parts: Parts) -> str:
    output = policy.output
    levels = [test.n_levels for test in parts.tests]
    links = {"one-vs-rest": "ONE_VS_REST", "number": "IDENTITY"}
    endless = float("inf")
    threshold = endless if policy.threshold is None else policy.threshold
    names: dict[str, Any] = {
        "MODEL_TESTS": len(parts.tests),
        "MODEL_TREES": len(parts.trees),
        "N_TESTS": max(len(parts.tests), 1),
        "N_TREES": max(len(parts.trees), 1),
        "N_GROUPS": max([0, *parts.prices.group]) + 1,
        "N_OUTPUTS": parts.n_outputs,
        "N_CLASSES": len(policy.classes),
        "N_KINDS": parts.n_kinds,
        "WIDTH": parts.width,
        "N_CODES": max(sum(levels) + 2 * len(levels), 1),
        "MOST_CODES": max(levels, default=0) + 2,
        "MOST_NODES": max(map(len, parts.trees), default=1),
        "TARGET": TARGETS[parts.target],
        "LINK": links.get(output.link, output.link.upper()),
        "DECIDES_BY": output.decides_by.upper().replace(" ", "_"),
        "DIVISOR": output.divisor,
        "SLOPE": output.slope,
        "IS_SINGLE": output.is_single,
        "IS_COMPLETE": policy.is_complete,
        "IS_VOTE": parts.is_vote,
        "IS_DEEP": parts.wholes is None,
        "THRESHOLD": threshold,
        "VARIES_TOGETHER": policy.varies_together,
        "MAX_COST": endless if policy.max_cost is None else policy.max_cost,
        "SLACK": f"INT64_C({parts.slack})",
        "TOLERANCE": f"INT64_C({parts.tolerance})",
        "UNIT": parts.unit,
        "SPREAD_UNIT": parts.spread_unit,
        "SCORE_UNIT": parts.score_unit,
    }
    lines = "".join(
        f"#define {name} {_number(value)}\n" for name, value in names.items()
    )
    classes = [str(one) for one in policy.classes]
    return (
        f"{lines}\n"
        + _table(
            "const char *const", "askless_tests", _texts(t.name for t in parts.tests)
        )
        + _table("const char *const", "askless_classes", _texts(classes))
        + _table("static const double", "OFFSET", output.offset)
        + _table("static const double", "EAGERNESS", parts.eagerness)
        + _table(
            "static const int64_t", "START", [f"INT64_C({n})" for n in parts.start]
        )
    ).replace("\nconst char", "\nASKLESS_API const char")


def _test_tables(parts: Parts) -> str:
    """Return how values become codes, and what tests charge."""
    texts: list[tuple[str, int]] = []
    numbers: list[tuple[float, int]] = []
    text_start, number_start = [0], [0]
    for test in parts.tests:
        found = list(test.lookup.items()) if test.kind == "category" else []
        spelled = [(name, code) for name, code in found if isinstance(name, str)]
        known = {_double(name, test.name): code for name, code in found
                 if not isinstance(name, str)}  # fmt: skip
        if len(known) + len(spelled) < len(found):
            raise InvalidOptionError(
                "Outcomes in C must differ in double precision. Got two whole numbers "
                f"of {test.name!r} that do not. Write them as text."
            )
        texts += spelled
        numbers += known.items()
        text_start.append(len(texts))
        number_start.append(len(numbers))
    prices, tests = parts.prices, parts.tests
    cuts = [cut for test in tests for cut in test.cuts]
    priced = [price for listed in prices.by_outcome for price in listed]
    return "".join(
        [
            "/* Values become codes: of a number how many cuts are below it, else the "
            "place of\n   the outcome, in any of its spellings; then missing, then "
            "never seen. */\n",
            _table(INTEGER, "N_LEVELS", [test.n_levels for test in tests]),
            _table(INTEGER, "IS_CATEGORY", [test.kind == "category" for test in tests]),
            _table(REAL, "CUTS", cuts),
            _table(INTEGER, "CUT_START", _starts(test.cuts for test in tests)),
            _table(REAL, "NUMBERS", [number for number, _ in numbers]),
            _table(INTEGER, "NUMBER_CODES", [code for _, code in numbers]),
            _table(INTEGER, "NUMBER_START", number_start),
            _table("static const char *const", "TEXTS", _texts(t for t, _ in texts)),
            _table(INTEGER, "TEXT_CODES", [code for _, code in texts]),
            _table(INTEGER, "TEXT_START", text_start),
            "/* What tests charge: in full, once their group is open, and by outcome. "
            "*/\n",
            _table(REAL, "FULL", prices.full),
            _table(REAL, "DISCOUNTED", prices.discounted),
            _table(INTEGER, "GROUP", prices.group),
            _table(INTEGER, "DELAYED", prices.delayed),
            _table(REAL, "PRICED", priced),
            _table(INTEGER, "PRICED_START", _starts(prices.by_outcome)),
        ]
    )


def _double(outcome: Outcome, name: str) -> float:
    try:
        return float(outcome)
    except OverflowError as error:
        raise InvalidOptionError(
            f"Outcomes in C must be doubles. Got {outcome!r} of {name!r}. Write it as "
            "text."
        ) from error


def _tree_tables(parts: Parts) -> str:
    starts = _starts(parts.trees)
    sets: dict[str, int] = {}
    # Of each node: test, cut, right child and flags.
    rows: list[tuple[int, int, int, int]] = []
    weight: list[float] = []
    value: list[float] = []
    users: list[list[int]] = [[] for _ in parts.tests]
    for tree, nodes in enumerate(parts.trees):
        for node in nodes:
            if isinstance(node, Leaf):
                weight.append(node.weight)
                value += node.values
                rows.append((-1, 0, 0, 0))
                continue
            weight.append(0.0)
            value += [0.0] * parts.width
            right = node.right + starts[tree]
            if isinstance(node.cut, str):
                cut = sets.setdefault(node.cut, len(sets))
                rows.append((node.test, cut, right, IS_SET))
            else:
                flags = MISSING_LEFT if node.missing_left else 0
                rows.append((node.test, node.cut, right, flags))
            if tree not in users[node.test][-1:]:
                users[node.test].append(tree)
    names = ("TEST", "CUT", "RIGHT", "FLAGS")
    columns = [[row[i] for row in rows] for i in range(len(names))]
    n_codes = [range(test.n_levels + 2) for test in parts.tests]
    written = [
        "/* The trees, one after another, each in preorder: the left child of a node "
        "is the\n   next one. Codes go left up to CUT, or where a set has an L. */\n",
        _table(INTEGER, "TREE_START", starts),
        _table(INTEGER, "OUTPUT", parts.output),
        *(_table(INTEGER, n, c) for n, c in zip(names, columns, strict=True)),
        _table("static const char *const", "SETS", _texts(sets)),
        _table(REAL, "VALUE", value),
        _table(INTEGER, "USERS", [tree for listed in users for tree in listed]),
        _table(INTEGER, "USER_START", _starts(users)),
    ]
    if parts.wholes is not None:
        written.append(_whole_tables(parts.wholes))
    else:
        written.append(_table(REAL, "WEIGHT", weight))
    if parts.is_joint or parts.by_leaves:
        written.append(_table(INTEGER, "CODE_START", _starts(n_codes)))
    return "".join(written)


def _whole_tables(by_tree: list[list[Whole]]) -> str:
    wholes = [whole for tree in by_tree for whole in tree]
    wide = "static const int64_t"
    return "".join(
        [
            "/* What each subtree amounts to, and how much it waits for its test. */\n",
            _table(wide, "WHOLE_MEAN", [n for w in wholes for n in w.mean]),
            _table(wide, "WHOLE_LOW", [n for w in wholes for n in w.low]),
            _table(wide, "WHOLE_HIGH", [n for w in wholes for n in w.high]),
            _table(wide, "WHOLE_SPREAD", [w.spread for w in wholes]),
            _table(wide, "WHOLE_SCORE", [w.score for w in wholes]),
        ]
    )


def _starts(lists: Iterable[Any]) -> list[int]:
    starts = [0]
    for listed in lists:
        starts.append(starts[-1] + len(listed))
    return starts


def _table(kind: str, name: str, values: Iterable[Any]) -> str:
    """Return an array, in lines of a readable length; never an empty one."""
    empty = '""' if "char" in kind else "0"
    written = [_number(value) for value in values] or [empty]
    lines, line = [], ""
    for text in written:
        if line and len(line) + len(text) > 80:
            lines.append(line)
            line = ""
        line += f" {text},"
    lines.append(line)
    body = "\n".join(f"   {line}" for line in lines)
    return f"{kind} {name}[{len(written)}] = {{\n{body}\n}};\n"


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return value if isinstance(value, str) else repr(value)


def _texts(texts: Iterable[str]) -> list[str]:
    return [_text(text) for text in texts]


def _text(text: str) -> str:
    """Return a string literal, in UTF-8."""
    if "\0" in text:
        raise InvalidOptionError(
            f"Text in C must not hold a zero character. Got {text!r}. Rename it."
        )
    written = []
    for byte in text.encode("utf-8", "surrogatepass"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        written.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(written)}"'
