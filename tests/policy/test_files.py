"""A policy file gives the policy back, and is written whole or not at all."""

import errno
import gc
import json
import os
import pickle
import stat
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless.exceptions import PolicyFileError
from askless.policy import (
    Forest,
    NumberTree,
    Rule,
    Sequence,
    Tree,
    load,
    policy_schema,
)
from askless.policy import _file as policy_file
from askless.policy._file import dump, parse, policy_digest
from askless.problem import Costs, PriceList, Table, Test
from askless.testing import check_policy
from tests.policy.examples import EXAMPLES, make_example
from tests.strategies import generators, grow_at_random, random_rows, solved

SCHEMA = Path(__file__).parents[2] / "docs" / "policy.schema.json"

ODD_NAMES = [
    'with "quotes"',
    "two\nlines",
    "},{",
    '"}],"nodes":[',
    "\\",
    "🔌 plug",
    "ünïcode",
    "\x00",
    "\x01\x1f\x7f",
    "\u2028\u2029",
    "\U0010ffff",
    " ",
    "null",
    "../../etc/passwd",
    "<script>",
    "x" * 5000,
]


@pytest.fixture(params=EXAMPLES)
def policy(request):
    return make_example(request.param)


# Round trips.


def test_a_saved_policy_is_the_same_policy(policy, tmp_path):
    path = tmp_path / "policy.json"
    policy.save(path)
    assert path.read_bytes() == dump(policy)
    again = load(path)
    assert type(again) is type(policy)
    assert dump(again) == dump(policy)
    again = load(str(path))
    assert dump(again) == dump(policy)
    columns = random_rows(np.random.default_rng(1), policy.tests, 50)
    check_policy(again, columns)
    assert again.cost(columns).tolist() == policy.cost(columns).tolist()
    assert again.predict(columns).tolist() == policy.predict(columns).tolist()


def test_the_examples_hold_everything_a_file_can_hold():
    contents = [dump(make_example(name)) for name in EXAMPLES]
    fields = [
        "group", "discounted_cost", "delayed", "cost_by_outcome", "outcomes", "cuts",
        "mistakes", "nodes", "order", "cases", "stops_early", "test", "cut", "default",
        "branches",
    ]  # fmt: skip
    for field in fields:
        assert any(f'"{field}":'.encode() in content for content in contents), field


@pytest.mark.parametrize("name", ODD_NAMES, ids=lambda name: ascii(name[:12]))
def test_odd_names_come_back_as_they_were(name, tmp_path):
    table = Table(
        {name: ["x", name + "!", name], "other": [0, 1, 0]},
        [name, "plain", name + "?"],
        costs=Costs({name: 1, "other": 2}, groups={name: [name, "other"]}),
    )
    for policy in (solved(table), Sequence.from_table(table)):
        policy.save(tmp_path / "odd.json")
        again = load(tmp_path / "odd.json")
        assert again.tests == policy.tests
        assert again.classes == policy.classes
        assert again.prices.group == policy.prices.group
        assert dump(again) == dump(policy)
        check_policy(again, table.rows())


@given(
    names=st.lists(st.text(min_size=1), min_size=2, max_size=3, unique=True),
    labels=st.lists(
        st.text()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False),
        min_size=2,
        max_size=4,
        unique=True,
    ),
    rng=generators(),
)
def test_any_names_and_labels_come_back_as_they_were(names, labels, rng):
    tests = tuple(Test(name, "category", outcomes=tuple(labels)) for name in names)
    prices = PriceList.plain(rng.random(len(tests)))
    tree = grow_at_random(rng, tests, tuple(labels), prices, max_depth=2)
    again = parse(dump(tree))
    assert again.tests == tests
    assert again.classes == tuple(labels)
    assert list(map(type, again.classes)) == list(map(type, labels))
    assert list(map(type, again.tests[0].outcomes)) == list(map(type, labels))
    assert dump(again) == dump(tree)


@pytest.mark.parametrize(
    "number", [5e-324, 1e-300, 0.1, 1 / 3, 2**53 + 1.0, 1e16, 1e200, 1e299]
)
def test_numbers_keep_every_bit(number):
    cut = float(np.float32(min(number, 1e38)))
    tests = (Test("x", "number", cuts=(-cut, cut) if cut else (0.0,)),)
    tree = grow_at_random(
        np.random.default_rng(5), tests, ("a", "b"), PriceList.plain([number])
    )
    again = parse(dump(tree))
    assert again.prices.full.tolist() == [number]
    assert again.tests == tests
    assert again.spent.tolist() == tree.spent.tolist()


def test_the_weights_of_nodes_keep_every_bit():
    grown = [
        policy
        for policy in map(make_example, EXAMPLES)
        if isinstance(policy, (Tree, Forest))
    ]
    assert {type(policy) for policy in grown} == {Tree, NumberTree, Forest}
    for policy in grown:
        again = parse(dump(policy))
        assert again.weight.tolist() == policy.weight.tolist()
        assert again.node_decision.tolist() == policy.node_decision.tolist()


@pytest.mark.parametrize("name", ["rule", "order"])
def test_a_rule_is_asked_the_same_after_loading(name):
    rule = make_example(name)
    again = parse(dump(rule))
    assert isinstance(again, Rule)
    assert (again.rule, again.form) == (rule.rule, rule.form)
    assert [c.tolist() for c in again.chances] == [c.tolist() for c in rule.chances]
    states = [(rule.initial_state(), again.initial_state())]
    while states:
        mine, other = states.pop()
        assert mine == other
        test = rule.next_test(mine)
        assert again.next_test(other) == test
        assert rule.class_weights(mine).tolist() == again.class_weights(other).tolist()
        if test is not None:
            codes = range(rule.tests[test].n_levels)
            states += [(rule.advance(mine, c), again.advance(other, c)) for c in codes]


def test_a_decision_set_by_hand_is_kept():
    content = json.loads(dump(make_example("groups")))
    leaf = next(node for node in content["nodes"] if "test" not in node)
    leaf["decision"] = 2
    again = parse(json.dumps(content).encode(), edited=True)
    assert again.node_decision[content["nodes"].index(leaf)] == 2
    assert parse(dump(again)).node_decision.tolist() == again.node_decision.tolist()


# Digests.


def test_a_digest_is_worked_out_once(policy, monkeypatch):
    worked_out = []

    def count(record):
        worked_out.append(record)
        return digest_of(record)

    digest_of = policy_file._digest
    monkeypatch.setattr(policy_file, "_digest", count)
    digest = policy_digest(policy)
    assert policy_digest(policy) == digest
    assert json.loads(dump(policy))["digest"] == digest
    assert len(worked_out) == 1


def test_a_copy_that_stops_otherwise_has_a_digest_of_its_own():
    policy = make_example("ensemble")
    digest = policy_digest(policy)
    other = policy.with_stop(is_complete=True)
    assert policy_digest(other) == json.loads(dump(other))["digest"] != digest


@pytest.mark.parametrize(
    "name", [name for name in EXAMPLES if name not in ("rule", "order")]
)
def test_a_policy_that_was_pickled_makes_the_same_file(name):
    policy = make_example(name)
    assert dump(pickle.loads(pickle.dumps(policy))) == dump(policy)


def test_a_name_that_was_put_together_makes_the_same_file():
    table = Table([[0, 0], [None, 1], [1, 0]], ["a", "b", "c"])
    rules = [
        Rule.from_table(table, "odtn-r", form=form)
        for form in ("paper", "".join(["pa", "per"]))
    ]
    assert dump(rules[0]) == dump(rules[1])


@pytest.mark.parametrize("was_on", [True, False])
def test_the_garbage_collector_is_left_as_it_was(was_on):
    content = dump(make_example("numbers"))
    was_on_before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        policy_digest(parse(content))
        assert gc.isenabled() == was_on
        with pytest.raises(PolicyFileError):
            parse(content[:-9])
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if was_on_before else gc.disable)()


# What cannot be written.


def test_a_kind_without_a_codec_is_refused():
    class Oracle(Tree):
        kind = "oracle"

    policy = make_example("numbers")
    policy.__class__ = Oracle
    with pytest.raises(PolicyFileError, match=r"the kinds ensemble, .* Got 'oracle'"):
        dump(policy)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (float("inf"), r"classes in a policy file must be text, .* Got inf"),
        (float("nan"), r"at most 64 bits\. Got nan"),
        (b"bytes", r"at most 64 bits\. Got b'bytes'"),
        (None, r"at most 64 bits\. Got None"),
        (2**63, r"at most 64 bits\. Got 9223372036854775808"),
        ((1, 2), r"at most 64 bits\. Got \(1, 2\)"),
        ("\ud800", r"text in UTF-8\. Got half of a surrogate pair"),
    ],
)
def test_a_label_that_json_cannot_hold_is_refused(label, message, tmp_path):
    policy = Sequence.from_table(Table([[0], [1]], ["a", "b"]))
    policy.classes = ("a", label)
    path = tmp_path / "policy.json"
    with pytest.raises(PolicyFileError, match=message):
        policy.save(path)
    assert list(tmp_path.iterdir()) == []


def test_an_outcome_that_json_cannot_hold_is_refused():
    policy = Sequence.from_table(Table({"t": [float("inf"), "far"]}, ["a", "b"]))
    with pytest.raises(PolicyFileError, match=r"outcomes of 't' .* Got inf"):
        dump(policy)


# Whole or not at all.


class Failure:
    """Let a function of ``os`` fail, as on a full disk."""

    def __call__(self, *args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_write_that_fails_leaves_what_was_there(
    tmp_path, monkeypatch, function, is_there
):
    path = tmp_path / "policy.json"
    if is_there:
        make_example("numbers").save(path)
    before = path.read_bytes() if is_there else None
    monkeypatch.setattr(os, function, Failure())
    with pytest.raises(PolicyFileError, match="Got: No space left on device for"):
        make_example("groups").save(path)
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy.json"] * is_there
    if is_there:
        assert path.read_bytes() == before


def test_a_write_cut_short_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "policy.json"
    make_example("numbers").save(path)
    before = path.read_bytes()
    real_open = open

    class Full:
        def __init__(self, file):
            self.file = file

        def write(self, content):
            self.file.write(content[:100])
            raise OSError(errno.ENOSPC, "No space left on device")

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

    def open_full(path, mode):
        return Full(real_open(path, mode))

    monkeypatch.setattr("builtins.open", open_full)
    with pytest.raises(PolicyFileError, match="No space left"):
        make_example("groups").save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy.json"]


def test_being_interrupted_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "policy.json"
    make_example("numbers").save(path)
    before = path.read_bytes()

    def interrupt(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make_example("groups").save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy.json"]


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    policy = make_example("numbers")
    with pytest.raises(PolicyFileError, match=r"The folder .* Got: No such file"):
        policy.save(tmp_path / "nowhere" / "policy.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(PolicyFileError, match=r"The folder .* Got: Not a directory"):
        policy.save(tmp_path / "file" / "policy.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(PolicyFileError, match=r"must be writable\. Got: Is a dir"):
        policy.save(tmp_path / "folder")
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_folder_without_permission_is_named(tmp_path, monkeypatch):
    def refuse(path, mode):
        raise PermissionError(errno.EACCES, "Permission denied")

    # Not by taking the permission away: the superuser would not notice.
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PolicyFileError, match=r"The folder .* Got: Permission denied"):
        make_example("numbers").save(tmp_path / "policy.json")
    with pytest.raises(PolicyFileError, match=r"readable\. Got: Permission denied"):
        load(tmp_path / "policy.json")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_saved_file_has_the_permissions_of_any_other_file(tmp_path):
    other = tmp_path / "other"
    other.write_text("")
    make_example("numbers").save(tmp_path / "policy.json")
    saved = (tmp_path / "policy.json").stat().st_mode
    assert stat.S_IMODE(saved) == stat.S_IMODE(other.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "shelf").mkdir()
    target = tmp_path / "shelf" / "real.json"
    link = tmp_path / "policy.json"
    link.symlink_to(target)
    make_example("numbers").save(link)
    assert link.is_symlink()
    assert target.read_bytes() == dump(make_example("numbers"))


def test_a_name_as_long_as_names_may_be_can_be_saved(tmp_path):
    path = tmp_path / ("x" * 250)
    make_example("numbers").save(path)
    assert load(path).n_nodes == make_example("numbers").n_nodes


# The schema.


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(policy_schema())


def test_saved_files_follow_the_schema(policy):
    validator = jsonschema.Draft202012Validator(policy_schema())
    validator.validate(json.loads(dump(policy)))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 2},
        {"kind": "hedge"},
        {"tests": None},
        {"classes": None},
        {"extra": 1},
        {"nodes": [{"decision": 0}]},
        {"nodes": [{"decision": -1, "weights": [[0, 1.0]]}]},
        {"nodes": [{"decision": 0, "weights": []}]},
        {"summary": {}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_is_no_policy(change):
    content = json.loads(dump(make_example("numbers"))) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, policy_schema())


def test_the_published_schema_is_the_schema():
    written = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert written == policy_schema(), (
        f"{SCHEMA.name} is out of date: write json.dumps(policy_schema(), indent=1)"
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_digest_of_a_file_is_not_worked_out_again(name, tmp_path, monkeypatch):
    policy = make_example(name)
    policy.save(tmp_path / "it.json")
    loaded = load(tmp_path / "it.json")
    with monkeypatch.context() as patched:
        patched.setattr(policy_file, "to_record", lambda _: pytest.fail("again"))
        digest = policy_digest(loaded)
    assert digest == policy_digest(make_example(name))


def test_an_edited_file_gets_a_digest_of_its_own(tmp_path):
    make_example("numbers").save(tmp_path / "it.json")
    text = (tmp_path / "it.json").read_text().replace('"age"', '"years"')
    (tmp_path / "it.json").write_text(text)
    edited = load(tmp_path / "it.json", edited=True)
    assert policy_digest(edited) != policy_digest(make_example("numbers"))
    assert json.loads(dump(edited))["digest"] == policy_digest(edited)
