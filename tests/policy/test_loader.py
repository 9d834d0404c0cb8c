"""The loader fears no file: every lie is found and named."""

import copy
import json
import os
import re

import pytest

from askless.exceptions import InvalidPolicyError, PolicyFileError
from askless.policy import load
from askless.policy._file import _decode, _digest, dump, parse
from tests.policy.examples import EXAMPLES, make_example

TREE = json.loads(dump(make_example("groups")))
NUMBERS = json.loads(dump(make_example("numbers")))
PRICED = json.loads(dump(make_example("outcome prices")))
SEQUENCE = json.loads(dump(make_example("sequence")))
FOREST = json.loads(dump(make_example("forest")))


def changed(content, change):
    """Return the bytes of a file after a change, with a digest that fits again."""
    content = copy.deepcopy(content)
    change(content)
    raw = json.dumps(content).encode()
    try:
        content["digest"] = _digest(_decode(raw))
    except PolicyFileError:
        return raw
    return json.dumps(content).encode()


def put(*path):
    """Return a change that puts the last argument at the place that the others name."""
    *way, last, value = path

    def change(content):
        for key in way:
            content = content[key]
        content[last] = value

    return change


def drop(*path):
    *way, last = path

    def change(content):
        for key in way:
            content = content[key]
        del content[last]

    return change


def refuses(raw, message):
    with pytest.raises(PolicyFileError, match=message) as caught:
        parse(raw)
    assert isinstance(caught.value, InvalidPolicyError)
    with pytest.raises(PolicyFileError, match=message):
        parse(raw, edited=True)


def first_leaf(content):
    return next(i for i, node in enumerate(content["nodes"]) if "test" not in node)


LEAF = first_leaf(TREE)
CUT = next(i for i, node in enumerate(NUMBERS["nodes"]) if "cut" in node)
NUMBER = NUMBERS["nodes"][CUT]["test"]

SCHEMA_LIES = {
    "no format": (TREE, drop("format"), "missing required field `format`"),
    "other format": (TREE, put("format", "sklearn"), r"Invalid enum value 'sklearn'"),
    "other version": (TREE, put("version", 0), r"Invalid enum value 0"),
    "version as text": (TREE, put("version", "1"), r"Expected `int`, got `str`"),
    "other kind": (TREE, put("kind", "hedge"), "Invalid enum value 'hedge'"),
    "unknown field": (TREE, put("notes", []), "contains unknown field `notes`"),
    "unknown field of a node": (
        TREE,
        put("nodes", 0, "code", "import os"),
        "unknown field `code`",
    ),
    "unknown field of a test": (
        TREE,
        put("tests", 0, "url", ""),
        "unknown field `url`",
    ),
    "no classes": (TREE, drop("classes"), "missing required field `classes`"),
    "class of no kind": (TREE, put("classes", 0, None), r"got `null` - at `\$.classes"),
    "nested class": (TREE, put("classes", 0, ["a"]), r"got `array` - at `\$.classes"),
    "empty name": (
        TREE,
        put("tests", 0, "name", ""),
        r"length >= 1 - at `\$.tests\[0\]",
    ),
    "kind of a test": (TREE, put("tests", 0, "kind", "image"), "enum value 'image'"),
    "negative cost": (TREE, put("tests", 0, "cost", -1), r"`float` >= 0.0"),
    "cost as text": (TREE, put("tests", 0, "cost", "3"), "Expected `float`, got `str`"),
    "no cost": (TREE, drop("tests", 0, "cost"), "missing required field `cost`"),
    "negative discount": (TREE, put("tests", 1, "discounted_cost", -1), ">= 0.0"),
    "negative mistake": (TREE, put("mistakes", 0, 1, -5), r"`float` >= 0.0"),
    "negative weight": (
        TREE,
        put("nodes", 0, "weights", 0, 1, -0.5),
        r">= 0.0 - at `\$.nodes\[0\].weights",
    ),
    "node without weights": (TREE, put("nodes", 0, "weights", []), "length >= 1"),
    "negative class": (TREE, put("nodes", 0, "weights", 0, 0, -1), "`int` >= 0"),
    "negative test": (TREE, put("nodes", 0, "test", -1), "`int` >= 0"),
    "fractional test": (TREE, put("nodes", 0, "test", 0.5), "Expected `int"),
    "negative child": (TREE, put("nodes", 0, "branches", 0, 1, -1), "`int` >= 0"),
    "branch of three": (TREE, put("nodes", 0, "branches", 0, [0, 1, 2]), "length 2"),
    "negative decision": (TREE, put("nodes", 0, "decision", -1), "`int` >= 0"),
    "no summary": (TREE, drop("summary"), "missing required field `summary`"),
    "negative case weight": (SEQUENCE, put("cases", 0, "weight", -1), ">= 0.0"),
    "negative code": (SEQUENCE, put("cases", 0, "codes", 0, -1), "`int` >= 0"),
    "negative order": (SEQUENCE, put("order", 0, -1), "`int` >= 0"),
    "stops_early as number": (SEQUENCE, put("stops_early", 1), "Expected `bool`"),
}


@pytest.mark.parametrize("lie", SCHEMA_LIES)
def test_what_does_not_follow_the_schema_is_refused(lie):
    content, change, message = SCHEMA_LIES[lie]
    refuses(changed(content, change), r"must follow its schema\. Got: .*" + message)


LIES = {
    # The shape of the tree.
    "cycle": (
        TREE,
        put("nodes", 0, "branches", 0, 1, 0),
        "Got a branch to node 0 where node 1 should come",
    ),
    "two parents": (
        TREE,
        put("nodes", 0, "branches", 1, 1, 1),
        r"Nodes must be in preorder: .* Got a branch to node 1 where",
    ),
    "out of order": (
        TREE,
        lambda c: c["nodes"][0]["branches"].reverse(),
        "must stand for its outcomes, ascending|Nodes must be in preorder",
    ),
    "moved node": (
        TREE,
        lambda c: c["nodes"].append(c["nodes"].pop(1)),
        "Nodes must be in preorder",
    ),
    "branch to nowhere": (
        TREE,
        put("nodes", 0, "branches", 1, 1, 10_000),
        "Got a branch to node 10000 where",
    ),
    "missing node": (TREE, lambda c: c["nodes"].pop(), "must have .* branches"),
    "node too many": (
        TREE,
        lambda c: c["nodes"].append(c["nodes"][-1]),
        "must have .* branches",
    ),
    "leaf with branches": (
        TREE,
        lambda c: c["nodes"][0].pop("test"),
        "A leaf must have no branches",
    ),
    "test without branches": (
        TREE,
        put("nodes", LEAF, "test", 0),
        "A leaf must have no branches, and any other node some",
    ),
    "wrong default": (
        TREE,
        put("nodes", 0, "default", 2),
        "The default branch must be one of the node's own",
    ),
    "no default": (
        TREE,
        drop("nodes", 0, "default"),
        r"The default branch must be one of the node's own; .* Got -1 at node 0",
    ),
    "default of a leaf": (TREE, put("nodes", LEAF, "default", 0), "a leaf has -1"),
    "branch out of range": (
        TREE,
        put("nodes", 0, "branches", 1, 0, 3),
        "must stand for its outcomes, ascending",
    ),
    "test out of range": (TREE, put("nodes", 0, "test", 4), "ask one of 4 tests, or"),
    "cut not there": (
        NUMBERS,
        put("nodes", CUT, "cut", 99),
        "only where the test has a cut",
    ),
    "cut of a category": (TREE, put("nodes", 0, "cut", 0), "only where the test has a"),
    "cut at a leaf": (TREE, put("nodes", LEAF, "cut", 0), "A leaf must have no cut"),
    "cut with other branches": (
        NUMBERS,
        put("nodes", CUT, "branches", 1, 0, 2),
        "A node with a cut must have two branches, 0 and 1",
    ),
    "class out of range": (
        TREE,
        put("nodes", 0, "weights", -1, 0, 3),
        "Weights must be of one of 3 classes",
    ),
    "class listed twice": (
        TREE,
        put("nodes", 0, "weights", 1, 0, 0),
        "A node must list each class once",
    ),
    "decision out of range": (TREE, put("nodes", 0, "decision", 3), "one of 3 classes"),
    "weights without end": (
        TREE,
        put("nodes", 0, "weights", 0, 1, 1e305),
        r"add up to at most 1e\+300",
    ),
    "no weight at all": (
        TREE,
        lambda c: [n.update(weights=[[0, 0.0]]) for n in c["nodes"]],
        "Some leaf must have a weight, or costs have no mean",
    ),
    # Indices that fit no array.
    "test 2**40": (TREE, put("nodes", 0, "test", 2**40), "Indices must fit in 32 bits"),
    "child 2**40": (TREE, put("nodes", 0, "branches", 0, 1, 2**40), "fit in 32 bits"),
    "code 2**40": (TREE, put("nodes", 0, "branches", 0, 0, 2**40), "fit in 32 bits"),
    "cut 2**40": (NUMBERS, put("nodes", CUT, "cut", 2**40), "fit in 32 bits"),
    "default 2**40": (TREE, put("nodes", 0, "default", 2**40), "fit in 32 bits"),
    "decision 2**40": (TREE, put("nodes", 0, "decision", 2**40), "fit in 32 bits"),
    "class 2**40": (TREE, put("nodes", 0, "weights", 0, 0, 2**40), "fit in 32 bits"),
    "child 10**30": (TREE, put("nodes", 0, "branches", 0, 1, 10**30), "fit in 32 bits"),
    "order 2**40": (
        SEQUENCE,
        put("order", 0, 2**40),
        "The order must name tests 0 to 2",
    ),
    "code of a case 2**40": (
        SEQUENCE,
        put("cases", 0, "codes", 0, 2**40),
        "within the test's outcomes",
    ),
    "class of a case 2**40": (
        SEQUENCE,
        put("cases", 0, "label", 2**40),
        "Cases must be of one of 3 classes",
    ),
    # Tests and prices.
    "test twice": (
        TREE,
        put("tests", 1, "name", TREE["tests"][0]["name"]),
        "Tests must have different names",
    ),
    "outcome twice": (
        TREE,
        put("tests", 0, "outcomes", ["+", "+"]),
        "Every outcome of 'smear' must be listed once",
    ),
    "outcomes 1 and true": (
        TREE,
        put("tests", 0, "outcomes", [1, True]),
        "Every outcome of 'smear' must be listed once",
    ),
    "outcome of 70 bits": (
        TREE,
        put("tests", 0, "outcomes", ["+", 2**70]),
        "Every outcome of 'smear' must fit in 64 bits",
    ),
    "class of 70 bits": (
        TREE,
        put("classes", ["a", "b", -(2**70)]),
        "Every class must fit in 64 bits",
    ),
    "class twice": (
        TREE,
        put("classes", ["a", "b", "a"]),
        "Every class must be listed",
    ),
    "cuts descend": (
        NUMBERS,
        lambda c: c["tests"][NUMBER]["cuts"].reverse(),
        "Cuts must ascend. Got others for test 'age'",
    ),
    "cut twice": (
        NUMBERS,
        lambda c: put("cuts", 1, c["tests"][NUMBER]["cuts"][0])(c["tests"][NUMBER]),
        "Cuts must ascend",
    ),
    "number with outcomes": (
        NUMBERS,
        put("tests", NUMBER, "outcomes", [1, 2]),
        "A number must have no outcomes",
    ),
    "category with cuts": (
        TREE,
        put("tests", 0, "cuts", [1.0]),
        "A category must have no cuts",
    ),
    "too many outcomes": (
        TREE,
        put("tests", 0, "outcomes", list(range(65_535))),
        "at most 65,534 outcomes",
    ),
    "too many cuts": (
        NUMBERS,
        put("tests", NUMBER, "cuts", [float(i) for i in range(65_534)]),
        "fewer than 65,534 cuts",
    ),
    "group without discount": (
        TREE,
        drop("tests", 1, "discounted_cost"),
        "a group and a discounted cost, or neither. Got one of them for 'iron'",
    ),
    "discount without group": (
        TREE,
        put("tests", 0, "discounted_cost", 1),
        "a group and a discounted cost, or neither",
    ),
    "discount above the cost": (
        TREE,
        put("tests", 1, "discounted_cost", 8),
        "A discounted cost must not be above the cost",
    ),
    "price for no outcome": (
        PRICED,
        put("tests", 0, "cost_by_outcome", [1.0]),
        "a price for each outcome and no group. Got otherwise for 'flag'",
    ),
    "price by outcome in a group": (
        PRICED,
        lambda c: c["tests"][0].update(group="g", discounted_cost=1),
        "a price for each outcome and no group",
    ),
    "price by outcome of a number": (
        NUMBERS,
        put("tests", NUMBER, "cost_by_outcome", [1.0, 2.0]),
        "a price for each outcome and no group",
    ),
    "price by outcome and delay": (
        PRICED,
        put("tests", 1, "delayed", True),
        "Prices by outcome cannot be combined with delayed tests",
    ),
    "prices without end": (
        TREE,
        lambda c: [t.update(cost=1.7e308) for t in c["tests"]],
        r"all together at most 1e\+300",
    ),
    "ragged mistakes": (
        TREE,
        put("mistakes", 0, [0, 1]),
        "mistakes must have 3 rows and columns",
    ),
    "few mistakes": (TREE, put("mistakes", [[0]]), "mistakes must have 3 rows"),
    "mistakes when right": (
        TREE,
        put("mistakes", 0, 0, 1),
        "with a diagonal of zeros",
    ),
    # Forests.
    "forest without trees": (FOREST, drop("trees"), "Got no trees"),
    "forest of nothing": (FOREST, put("trees", 0, []), "Got a tree without any"),
    "forest with nodes": (
        FOREST,
        lambda content: content.update(nodes=content["trees"][0]),
        "A forest must have trees, and no objective, nodes, .* Got nodes",
    ),
    "forest with cases": (
        FOREST,
        put("cases", SEQUENCE["cases"]),
        "A forest must have trees, .* Got cases",
    ),
    "tree with trees": (TREE, put("trees", [[]]), "A tree must have nodes"),
    "tree with a rule": (TREE, put("rule", "counts"), "Got rule"),
    "sequence with trees": (
        SEQUENCE,
        put("trees", FOREST["trees"]),
        "A sequence must have cases, and no objective, nodes, trees, .* Got trees",
    ),
    "branch into the next tree": (
        FOREST,
        lambda content: content["trees"][0][0]["branches"].__setitem__(
            -1, [1, len(content["trees"][0])]
        ),
        "Nodes must be in preorder",
    ),
    "trees run together": (
        FOREST,
        lambda content: content["trees"][0].extend(content["trees"].pop()),
        "Nodes must be in preorder|must have \\d+ branches",
    ),
    "weightless tree": (
        FOREST,
        lambda content: [
            entry.__setitem__(1, 0.0)
            for node in content["trees"][1]
            for entry in node["weights"]
        ],
        "Some leaf must have a weight",
    ),
    # Parts of another kind.
    "tree without nodes": (TREE, drop("nodes"), "A tree must have nodes"),
    "tree with cases": (
        TREE,
        put("cases", SEQUENCE["cases"]),
        "A tree must have nodes, and no order, cases",
    ),
    "tree with an order": (TREE, put("order", [0]), "and no order, cases"),
    "tree that stops": (TREE, put("stops_early", False), "Got stops_early"),
    "sequence with nodes": (
        SEQUENCE,
        put("nodes", TREE["nodes"]),
        "A sequence must have cases, and no objective, nodes",
    ),
    "sequence without cases": (SEQUENCE, drop("cases"), "A sequence must have cases"),
    "sequence called a tree": (SEQUENCE, put("kind", "tree"), "A tree must have nodes"),
    "tree called a sequence": (TREE, put("kind", "sequence"), "A sequence must have"),
    # Sequences.
    "test asked twice": (SEQUENCE, put("order", [2, 0, 0]), "each at most once"),
    "test not there": (SEQUENCE, put("order", [2, 0, 3]), "must name tests 0 to 2"),
    "few codes": (
        SEQUENCE,
        put("cases", 0, "codes", [0]),
        "a code for each test of the",
    ),
    "many codes": (SEQUENCE, put("cases", 0, "codes", [0] * 4), "a code for each test"),
    "code out of range": (
        SEQUENCE,
        put("cases", 0, "codes", 1, 4),
        "Codes of 'lamp' must be at most 3. Got 4",
    ),
    "case of no class": (SEQUENCE, put("cases", 0, "label", 3), "one of 3 classes"),
    "no case weighs": (
        SEQUENCE,
        lambda c: [case.update(weight=0.0) for case in c["cases"]],
        "their sum must be positive",
    ),
    "cases without end": (
        SEQUENCE,
        put("cases", 0, "weight", 1e301),
        "Every case must have a weight >= 0",
    ),
    # The summary.
    "wrong expected cost": (
        TREE,
        put("summary", "expected_cost", 1.0),
        r"summary of a policy file must be true\. Got expected_cost 1.0, and it is",
    ),
    "wrong worst cost": (
        TREE,
        put("summary", "worst_cost", 1e9),
        "Got worst_cost 1000000000.0, and it is",
    ),
    "wrong number of nodes": (TREE, put("summary", "n_nodes", 1), "Got n_nodes 1, and"),
    "wrong number of tests": (TREE, put("summary", "n_tests", 5), "Got n_tests 5, and"),
    "wrong number of classes": (
        TREE,
        put("summary", "n_classes", 2),
        "Got n_classes 2",
    ),
    "cheaper test": (TREE, put("tests", 0, "cost", 1), "summary .* must be true"),
    "wrong cost of a sequence": (
        SEQUENCE,
        put("summary", "worst_cost", 0.0),
        "Got worst_cost 0.0, and it is",
    ),
}


# These are worked out again for a file that was edited by hand.
SUMMARY_LIES = (
    "wrong expected cost", "wrong worst cost", "wrong number of nodes",
    "wrong number of tests", "wrong number of classes", "cheaper test",
    "wrong cost of a sequence",
)  # fmt: skip


@pytest.mark.parametrize("lie", [lie for lie in LIES if lie not in SUMMARY_LIES])
def test_a_structural_lie_is_found_whatever_the_digest_says(lie):
    content, change, message = LIES[lie]
    refuses(changed(content, change), message)


@pytest.mark.parametrize("lie", SUMMARY_LIES)
def test_a_summary_that_is_not_true_is_refused_unless_edited(lie):
    content, change, message = LIES[lie]
    raw = changed(content, change)
    with pytest.raises(PolicyFileError, match=message):
        parse(raw)
    # What was edited by hand is worked out again.
    policy = parse(raw, edited=True)
    assert dump(parse(dump(policy))) == dump(policy)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_cannot_hold_is_refused(number):
    for field in ("cost", "expected_cost", "weight"):
        raw = json.dumps(SEQUENCE)
        raw = re.sub(rf'("{field}": )[0-9.]+', rf"\g<1>{number}", raw, count=1)
        assert number in raw
        refuses(raw.encode(), "schema|valid JSON")


@pytest.mark.parametrize("n_digits", [50, 5000])
def test_a_number_of_too_many_digits_is_refused(n_digits):
    raw = json.dumps(TREE).replace('"decision": 0', f'"decision": {"9" * n_digits}', 1)
    with pytest.raises(PolicyFileError, match=r"fit in 32 bits|out of range"):
        parse(raw.encode(), edited=True)


# What is no JSON at all.

WHOLE = dump(make_example("groups"))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"null" b"null",
        b"not json",
        b"\x80\x04\x95pickle",
        b"\x1f\x8b\x08\x00gzip",
        WHOLE[: len(WHOLE) // 2],
        WHOLE[:-2],
        WHOLE + b"}",
        WHOLE.replace(b"smear", b"sm\xffear"),
        WHOLE.replace(b"smear", b"sm\xed\xa0\x80ear"),
        WHOLE.replace(b'"smear"', b'"sm\\ud800ear"'),
        WHOLE.decode().encode("utf-16"),
        b"\xef\xbb\xbf" + WHOLE,
    ],
    ids=[
        "empty", "blank", "open", "two", "text", "pickle", "gzip", "half", "cut short",
        "too long", "bad utf-8", "surrogate", "half a pair", "utf-16", "mark",
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(raw):
    refuses(raw, "whole and valid JSON|must follow its schema")


@pytest.mark.parametrize("raw", [b"null", b"[]", b"1", b'"x"', b"{}", b"true"])
def test_json_of_another_shape_is_refused(raw):
    refuses(raw, "must follow its schema")


DEPTH = 200_000


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * DEPTH,
        b"[" * DEPTH + b"]" * DEPTH,
        b'{"format":' * DEPTH,
        b'{"extra":' + b"[" * DEPTH + b"]" * DEPTH + b"}",
        WHOLE.replace(b'"a"', b"[" * DEPTH + b"]" * DEPTH, 1),
        WHOLE.replace(b'"branches":[', b'"branches":[' + b"[" * DEPTH, 1),
    ],
    ids=["open", "closed", "objects", "unknown field", "class", "branches"],
)
def test_json_nested_without_end_is_refused(raw):
    refuses(raw, "whole and valid JSON|must follow its schema")


# The digest.


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_whose_digest_does_not_match_is_refused_unless_edited(name):
    content = json.loads(dump(make_example(name)))
    content["tests"][0]["name"] = "renamed"
    raw = json.dumps(content).encode()
    with pytest.raises(PolicyFileError, match="digest of a policy file must match"):
        parse(raw)
    policy = parse(raw, edited=True)
    assert policy.test_names[0] == "renamed"
    assert dump(parse(dump(policy))) == dump(policy)


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "0" * 64, "md5:x"])
def test_a_file_without_the_right_digest_is_refused(digest):
    raw = json.dumps(TREE | {"digest": digest}).encode()
    with pytest.raises(PolicyFileError, match="load it with edited=True and save it"):
        parse(raw)
    assert dump(parse(raw, edited=True)) == WHOLE


def test_layout_and_order_of_fields_are_free():
    shuffled = dict(reversed(TREE.items()))
    for options in ({"indent": 4}, {"separators": (",", ":")}, {"ensure_ascii": False}):
        assert dump(parse(json.dumps(shuffled, **options).encode())) == WHOLE


# Files.


def test_the_path_is_in_every_message(tmp_path):
    path = tmp_path / "policy.json"
    path.write_bytes(b"{}")
    with pytest.raises(PolicyFileError, match=re.escape(f"(in {path})")):
        load(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PolicyFileError, match="Got: No such file or directory for"):
        load(tmp_path / "nowhere.json")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(PolicyFileError, match="Got: Is a directory for"):
        load(tmp_path)


def test_a_path_that_is_none_is_refused():
    with pytest.raises(PolicyFileError, match=r"there and readable\. Got: embedded"):
        load("a\0b")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "policy.json"
    path.write_bytes(WHOLE)
    with pytest.raises(
        PolicyFileError, match=r"at most 10 bytes\. Got more in .*pass max_"
    ):
        load(path, max_bytes=10)
    assert dump(load(path, max_bytes=len(WHOLE))) == WHOLE
    with pytest.raises(PolicyFileError, match="pass max_bytes"):
        load(path, max_bytes=len(WHOLE) - 1)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_that_never_ends_is_refused():
    with pytest.raises(PolicyFileError, match="must have at most 1,000,000 bytes"):
        load("/dev/zero", max_bytes=1_000_000)


def test_a_file_may_be_loaded_after_an_edit(tmp_path):
    path = tmp_path / "policy.json"
    content = copy.deepcopy(TREE)
    other = (content["nodes"][LEAF]["decision"] + 1) % 3
    content["nodes"][LEAF]["decision"] = other
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(PolicyFileError, match=r"was changed or damaged.*\(in "):
        load(path)
    load(path, edited=True).save(path)
    assert load(path).node_decision[LEAF] == other
